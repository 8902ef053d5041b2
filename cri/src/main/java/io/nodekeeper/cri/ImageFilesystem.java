package io.nodekeeper.cri;

/** Where images are: the mount point as the runtime names it, and what they use there in bytes and inodes. */
public record ImageFilesystem(String mountPoint, long usedBytes, long usedInodes) {}
