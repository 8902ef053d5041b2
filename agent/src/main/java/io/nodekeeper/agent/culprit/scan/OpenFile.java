package io.nodekeeper.agent.culprit.scan;

/**
 * An open file of a process. Immutable.
 *
 * @param path the target of its link: a path, or {@code pipe:[INODE]} and the like
 * @param inode as text; empty if the kernel does not report it
 * @param access 0 for reading, 1 for writing, 2 for both, as in open(2)
 * @param fuseConnection the number of the FUSE connection that it serves; empty for other files
 */
record OpenFile(String path, String inode, int access, String fuseConnection) {}
