package io.nodekeeper.cri;

/** A configuration for running containers that pods select by name; the default one has an empty name. */
public record RuntimeHandler(String name, boolean recursiveReadOnlyMounts, boolean userNamespaces) {}
