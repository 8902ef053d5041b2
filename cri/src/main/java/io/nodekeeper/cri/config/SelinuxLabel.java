package io.nodekeeper.cri.config;

/** The SELinux label of a container or of a sandbox; a part that is empty is the runtime's choice. Immutable. */
public record SelinuxLabel(String user, String role, String type, String level) {}
