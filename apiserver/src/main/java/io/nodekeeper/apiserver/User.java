package io.nodekeeper.apiserver;

import java.util.ArrayList;
import java.util.List;

/**
 * Who makes a request.
 *
 * @param name the user name, as in messages
 * @param groups the groups, those that Kubernetes adds by itself included
 */
public record User(String name, List<String> groups) {
    static final String MASTERS = "system:masters";
    static final String NODES = "system:nodes";
    static final String NODE_PREFIX = "system:node:";
    static final String AUTHENTICATED = "system:authenticated";
    static final User ANONYMOUS = new User("system:anonymous", List.of("system:unauthenticated"));

    /** Copies {@code groups}. */
    public User {
        groups = List.copyOf(groups);
    }

    /** A user who proved who they are: of the given groups and {@code system:authenticated}. */
    public static User authenticated(String name, List<String> groups) {
        List<String> all = new ArrayList<>(groups);
        if (!all.contains(AUTHENTICATED)) {
            all.add(AUTHENTICATED);
        }
        return new User(name, all);
    }

    boolean in(String group) {
        return groups.contains(group);
    }
}
