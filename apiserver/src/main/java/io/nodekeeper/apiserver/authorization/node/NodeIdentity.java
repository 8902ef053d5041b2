package io.nodekeeper.apiserver.authorization.node;

import java.util.List;

/** How a node's agent is told from other users: by its group and by its name (facts of Kubernetes). */
public final class NodeIdentity {
    /** The group of all nodes. */
    public static final String GROUP = "system:nodes";
    /** How their user names begin; the node's name follows. */
    public static final String PREFIX = "system:node:";

    private NodeIdentity() {}

    /** Whether this user has a node's group and prefix, and no name of a node behind it. */
    public static boolean isNameless(String user, List<String> groups) {
        return user.equals(PREFIX) && groups.contains(GROUP);
    }

    /** The node whose agent this user is; empty if it is none. */
    public static String node(String user, List<String> groups) {
        return user.startsWith(PREFIX) && groups.contains(GROUP) ? user.substring(PREFIX.length()) : "";
    }
}
