package io.nodekeeper.agent;

import java.util.EnumMap;
import java.util.Map;

/** All that is known of the host at one moment; what the status is made from. Immutable. */
record HostFacts(
        Fact<MachineInfo> machine,
        Fact<Filesystem> rootFilesystem,
        Fact<Long> workingSet,
        Fact<Level> pids,
        Fact<HostAddresses> addresses) {

    /** Nothing is known yet. */
    static HostFacts unknown() {
        return new HostFacts(Fact.unknown(), Fact.unknown(), Fact.unknown(), Fact.unknown(), Fact.unknown());
    }

    /** The eviction signals that the newest readings give. */
    Map<Signal, Level> signals() {
        Map<Signal, Level> levels = new EnumMap<>(Signal.class);
        machine.value()
                .ifPresent(info -> workingSet
                        .current()
                        .ifPresent(used -> levels.put(
                                Signal.MEMORY_AVAILABLE,
                                new Level(Math.max(0, info.memoryBytes() - used), info.memoryBytes()))));
        rootFilesystem.current().ifPresent(filesystem -> {
            levels.put(Signal.NODEFS_AVAILABLE, filesystem.bytes());
            levels.put(Signal.NODEFS_INODES_FREE, filesystem.inodes());
        });
        pids.current().ifPresent(level -> levels.put(Signal.PID_AVAILABLE, level));
        return levels;
    }
}
