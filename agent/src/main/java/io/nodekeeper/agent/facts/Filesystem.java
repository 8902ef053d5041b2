package io.nodekeeper.agent.facts;

/**
 * How full a file system is.
 *
 * @param bytes what an unprivileged user can still write, and the size
 * @param inodes free ones, and all
 */
public record Filesystem(Level bytes, Level inodes) {}
