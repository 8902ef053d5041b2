package io.nodekeeper.agent.eviction;

import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.Level;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** The signals of eviction thresholds, with Kubernetes' names, and the condition that each one raises. */
public enum EvictionSignal {
    /** Memory that is not part of the working set. */
    MEMORY_AVAILABLE("memory.available", Pressure.MEMORY),
    /** As {@link #MEMORY_AVAILABLE}, of the memory that pods may use. Not measured without a pod cgroup. */
    ALLOCATABLE_MEMORY_AVAILABLE("allocatableMemory.available", Pressure.MEMORY),
    /** Bytes on the file system of the root directory. */
    NODEFS_AVAILABLE("nodefs.available", Pressure.DISK),
    /** Inodes on the file system of the root directory. */
    NODEFS_INODES_FREE("nodefs.inodesFree", Pressure.DISK),
    /** Bytes on the file system of the images. Not measured without a container runtime. */
    IMAGEFS_AVAILABLE("imagefs.available", Pressure.DISK),
    /** As {@link #IMAGEFS_AVAILABLE}, inodes. */
    IMAGEFS_INODES_FREE("imagefs.inodesFree", Pressure.DISK),
    /** Process ids. */
    PID_AVAILABLE("pid.available", Pressure.PID);

    private final String text;
    private final Pressure pressure;

    EvictionSignal(String text, Pressure pressure) {
        this.text = text;
        this.pressure = pressure;
    }

    /** The condition that a met threshold raises. */
    public Pressure pressure() {
        return pressure;
    }

    /** The signal of that name. */
    static Optional<EvictionSignal> named(String text) {
        return Arrays.stream(values())
                .filter(signal -> signal.text.equals(text))
                .findFirst();
    }

    /**
     * The level of each signal according to the newest successful readings.
     *
     * @return a signal without a current reading is absent
     */
    public static Map<EvictionSignal, Level> levels(HostFacts facts) {
        Map<EvictionSignal, Level> levels = new EnumMap<>(EvictionSignal.class);
        facts.machine()
                .value()
                .ifPresent(info -> facts.workingSet()
                        .current()
                        .ifPresent(used -> levels.put(
                                MEMORY_AVAILABLE,
                                new Level(Math.max(0, info.memoryBytes() - used), info.memoryBytes()))));
        facts.rootFilesystem().current().ifPresent(filesystem -> {
            levels.put(NODEFS_AVAILABLE, filesystem.bytes());
            levels.put(NODEFS_INODES_FREE, filesystem.inodes());
        });
        facts.pids().current().ifPresent(level -> levels.put(PID_AVAILABLE, level));
        return levels;
    }

    @Override
    public String toString() {
        return text;
    }
}
