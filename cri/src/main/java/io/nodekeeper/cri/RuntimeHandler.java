package io.nodekeeper.cri;

/** A way of running containers that pods can ask for by name; the default one has an empty name. */
public record RuntimeHandler(String name, boolean recursiveReadOnlyMounts, boolean userNamespaces) {}
