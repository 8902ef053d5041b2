package io.nodekeeper.cri;

/** The resource usage of a container: processor time since its start in ns, working set in bytes; 0 if not reported. */
public record ContainerUsage(String id, long cpuNanos, long workingSetBytes) {}
