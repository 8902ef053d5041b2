package io.nodekeeper.agent.facts;

/**
 * The usage of a file system.
 *
 * @param bytes the bytes that an unprivileged user can still write, and the size
 * @param inodes free inodes, and all
 */
public record Filesystem(Level bytes, Level inodes) {}
