package io.nodekeeper.agent.facts;

/** All facts about the host at one moment, from which the status is computed. Immutable. */
public record HostFacts(
        Fact<MachineInfo> machine,
        Fact<Filesystem> rootFilesystem,
        Fact<Long> workingSet,
        Fact<Level> pids,
        Fact<HostAddresses> addresses) {

    /** Nothing is known yet. */
    public static HostFacts unknown() {
        return new HostFacts(Fact.unknown(), Fact.unknown(), Fact.unknown(), Fact.unknown(), Fact.unknown());
    }
}
