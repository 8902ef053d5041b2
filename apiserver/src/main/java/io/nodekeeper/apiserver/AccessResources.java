package io.nodekeeper.apiserver;

import java.util.List;

/** Who may do what: roles, their bindings and the reviews that ask about them. Facts of Kubernetes. */
final class AccessResources {
    static final List<Resource> ALL = List.of();

    private AccessResources() {}
}
