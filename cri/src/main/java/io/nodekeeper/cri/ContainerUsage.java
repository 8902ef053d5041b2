package io.nodekeeper.cri;

/** What a container uses: processor time since its start in ns, working set in bytes; 0 where the runtime does not tell. */
public record ContainerUsage(String id, long cpuNanos, long workingSetBytes) {}
