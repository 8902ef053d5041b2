package io.nodekeeper.cri;

/**
 * The resource usage of a container; a number is 0 if the runtime does not report it.
 *
 * @param cpuNanos processor time since its start
 * @param layerBytes what the files use that it wrote outside of volumes
 * @param layerInodes the inodes of those files
 */
public record ContainerUsage(String id, long cpuNanos, long workingSetBytes, long layerBytes, long layerInodes) {}
