package io.nodekeeper.agent.facts;

/**
 * All facts about the host at one moment, from which the status is computed. Immutable.
 *
 * @param machine the machine's properties
 * @param rootFilesystem the file system of the root directory
 * @param imageFilesystem the file system with the container runtime's images; unknown without a runtime
 * @param workingSet the working set of the machine in bytes
 * @param podMemory the memory that pods may use; unknown unless a threshold needs it
 * @param pids process ids
 * @param addresses the host's addresses
 */
public record HostFacts(
        Fact<MachineInfo> machine,
        Fact<Filesystem> rootFilesystem,
        Fact<Filesystem> imageFilesystem,
        Fact<Long> workingSet,
        Fact<Level> podMemory,
        Fact<Level> pids,
        Fact<HostAddresses> addresses) {

    /** Nothing is known yet. */
    public static HostFacts unknown() {
        return new HostFacts(
                Fact.unknown(),
                Fact.unknown(),
                Fact.unknown(),
                Fact.unknown(),
                Fact.unknown(),
                Fact.unknown(),
                Fact.unknown());
    }

    /** These facts with another {@code machine}. */
    public HostFacts withMachine(Fact<MachineInfo> value) {
        return new HostFacts(value, rootFilesystem, imageFilesystem, workingSet, podMemory, pids, addresses);
    }

    /** These facts with another {@code rootFilesystem}. */
    public HostFacts withRootFilesystem(Fact<Filesystem> value) {
        return new HostFacts(machine, value, imageFilesystem, workingSet, podMemory, pids, addresses);
    }

    /** These facts with another {@code imageFilesystem}. */
    public HostFacts withImageFilesystem(Fact<Filesystem> value) {
        return new HostFacts(machine, rootFilesystem, value, workingSet, podMemory, pids, addresses);
    }

    /** These facts with another {@code workingSet}. */
    public HostFacts withWorkingSet(Fact<Long> value) {
        return new HostFacts(machine, rootFilesystem, imageFilesystem, value, podMemory, pids, addresses);
    }

    /** These facts with another {@code podMemory}. */
    public HostFacts withPodMemory(Fact<Level> value) {
        return new HostFacts(machine, rootFilesystem, imageFilesystem, workingSet, value, pids, addresses);
    }

    /** These facts with other {@code pids}. */
    public HostFacts withPids(Fact<Level> value) {
        return new HostFacts(machine, rootFilesystem, imageFilesystem, workingSet, podMemory, value, addresses);
    }

    /** These facts with other {@code addresses}. */
    public HostFacts withAddresses(Fact<HostAddresses> value) {
        return new HostFacts(machine, rootFilesystem, imageFilesystem, workingSet, podMemory, pids, value);
    }
}
