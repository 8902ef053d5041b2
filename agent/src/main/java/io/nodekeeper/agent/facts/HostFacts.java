package io.nodekeeper.agent.facts;

/** All that is known of the host at one moment; what the status is made from. Immutable. */
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
