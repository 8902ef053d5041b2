package io.nodekeeper.agent.facts;

/**
 * The usage of a file system.
 *
 * @param bytes the bytes that an unprivileged user can still write, and the size
 * @param inodes free inodes, and all
 * @param freeBytes free bytes, with those that are reserved for root
 */
public record Filesystem(Level bytes, Level inodes, long freeBytes) {

    /** A file system without bytes that are reserved for root. */
    public Filesystem(Level bytes, Level inodes) {
        this(bytes, inodes, bytes.available());
    }
}
