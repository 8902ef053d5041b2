package io.nodekeeper.apiserver.authorization.node;

import java.util.List;

/** Recognizes the agents of nodes by their group and user name (facts of Kubernetes). */
public final class NodeIdentity {
    /** The group of all nodes. */
    public static final String GROUP = "system:nodes";
    /** The prefix of their user names; the node's name follows. */
    public static final String PREFIX = "system:node:";

    private NodeIdentity() {}

    /** Whether this user has the group and the prefix of nodes, but no node name after the prefix. */
    public static boolean isNameless(String user, List<String> groups) {
        return user.equals(PREFIX) && groups.contains(GROUP);
    }

    /** The name of the node whose agent this user is; empty for other users. */
    public static String node(String user, List<String> groups) {
        return user.startsWith(PREFIX) && groups.contains(GROUP) ? user.substring(PREFIX.length()) : "";
    }
}
