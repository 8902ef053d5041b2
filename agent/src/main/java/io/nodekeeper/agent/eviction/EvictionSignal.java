package io.nodekeeper.agent.eviction;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.Filesystem;
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
    /** As {@link #MEMORY_AVAILABLE}, of the memory that pods may use. Needs the cgroup of pods and its limit. */
    ALLOCATABLE_MEMORY_AVAILABLE("allocatableMemory.available", Pressure.MEMORY),
    /** Bytes on the file system of the root directory. */
    NODEFS_AVAILABLE("nodefs.available", Pressure.DISK),
    /** Inodes on the file system of the root directory. */
    NODEFS_INODES_FREE("nodefs.inodesFree", Pressure.DISK),
    /** Bytes on the file system of the images. Needs a container runtime. */
    IMAGEFS_AVAILABLE("imagefs.available", Pressure.DISK),
    /** As {@link #IMAGEFS_AVAILABLE}, inodes. */
    IMAGEFS_INODES_FREE("imagefs.inodesFree", Pressure.DISK),
    /**
     * Bytes on the file system of the containers' writable layers: that of the images, or without a container runtime
     * that of the root directory.
     */
    CONTAINERFS_AVAILABLE("containerfs.available", Pressure.DISK),
    /** As {@link #CONTAINERFS_AVAILABLE}, inodes. */
    CONTAINERFS_INODES_FREE("containerfs.inodesFree", Pressure.DISK),
    /** Process ids. */
    PID_AVAILABLE("pid.available", Pressure.PID);

    private final String text;
    private final Pressure pressure;

    EvictionSignal(String text, Pressure pressure) {
        this.text = text;
        this.pressure = pressure;
    }

    /** Its name in thresholds. */
    public String text() {
        return text;
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

    /** Whether the signal can only be measured with a container runtime. */
    public boolean needsRuntime() {
        return this == IMAGEFS_AVAILABLE || this == IMAGEFS_INODES_FREE;
    }

    /** Whether the signal can only be measured with a cgroup of pods. */
    public boolean needsPodCgroup() {
        return this == ALLOCATABLE_MEMORY_AVAILABLE;
    }

    /**
     * The level of each signal according to the newest successful readings.
     *
     * @param runtime whether the node has a container runtime
     * @return a signal without a current reading is absent
     */
    public static Map<EvictionSignal, Level> levels(HostFacts facts, boolean runtime) {
        Map<EvictionSignal, Level> levels = new EnumMap<>(EvictionSignal.class);
        for (EvictionSignal signal : values()) {
            signal.level(facts, runtime).ifPresent(level -> levels.put(signal, level));
        }
        return levels;
    }

    /** The level according to the newest reading; empty if that failed. */
    private Optional<Level> level(HostFacts facts, boolean runtime) {
        return switch (this) {
            case MEMORY_AVAILABLE ->
                facts.machine()
                        .value()
                        .flatMap(info -> facts.workingSet()
                                .current()
                                .map(used -> new Level(Math.max(0, info.memoryBytes() - used), info.memoryBytes())));
            case ALLOCATABLE_MEMORY_AVAILABLE -> facts.podMemory().current();
            case PID_AVAILABLE -> facts.pids().current();
            default -> filesystem(facts, runtime).current().map(this::part);
        };
    }

    /** Why the newest reading failed; empty if it succeeded. */
    public String error(HostFacts facts, boolean runtime) {
        return switch (this) {
            case MEMORY_AVAILABLE ->
                facts.machine().value().isPresent()
                        ? facts.workingSet().error()
                        : facts.machine().error();
            case ALLOCATABLE_MEMORY_AVAILABLE -> facts.podMemory().error();
            case PID_AVAILABLE -> facts.pids().error();
            default -> filesystem(facts, runtime).error();
        };
    }

    private Fact<Filesystem> filesystem(HostFacts facts, boolean runtime) {
        return switch (this) {
            case NODEFS_AVAILABLE, NODEFS_INODES_FREE -> facts.rootFilesystem();
            case CONTAINERFS_AVAILABLE, CONTAINERFS_INODES_FREE ->
                runtime ? facts.imageFilesystem() : facts.rootFilesystem();
            default -> facts.imageFilesystem();
        };
    }

    private Level part(Filesystem filesystem) {
        return text.endsWith(".inodesFree") ? filesystem.inodes() : filesystem.bytes();
    }

    @Override
    public String toString() {
        return text;
    }
}
