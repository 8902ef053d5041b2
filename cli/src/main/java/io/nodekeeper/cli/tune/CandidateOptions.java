package io.nodekeeper.cli.tune;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.controller.JudgementOptions;
import io.nodekeeper.simulator.RandomRunOptions;
import io.nodekeeper.simulator.tune.Candidate;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags in which candidates may differ. */
final class CandidateOptions implements Checked {
    /** Of agents; a recording has renewals as they were. */
    static final String LEASE = "--node-lease-duration-seconds";

    @Mixin
    JudgementOptions judgement = new JudgementOptions();

    @Option(
            names = LEASE,
            paramLabel = "N",
            defaultValue = "40",
            description = "The duration of the simulated nodes' leases in seconds. Agents renew four times in that time."
                    + " Default: ${DEFAULT-VALUE}.")
    int leaseDurationSeconds = RandomRunOptions.LEASE_DURATION_SECONDS;

    /** The candidate. Call it only after {@link #check} found no fault. */
    Candidate candidate(String flags) {
        return new Candidate(flags, judgement.config(), leaseDurationSeconds);
    }

    @Override
    public void check(Faults faults) {
        judgement.check(faults);
        faults.within(LEASE, leaseDurationSeconds, 1, 3_600);
    }
}
