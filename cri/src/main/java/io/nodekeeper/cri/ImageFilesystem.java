package io.nodekeeper.cri;

/** A file system with images: the mount point as the runtime reports it, and the bytes and inodes that images use there. */
public record ImageFilesystem(String mountPoint, long usedBytes, long usedInodes) {}
