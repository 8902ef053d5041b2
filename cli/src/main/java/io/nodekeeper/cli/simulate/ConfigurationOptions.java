package io.nodekeeper.cli.simulate;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.controller.JudgementOptions;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.cluster.ClusterSetup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags for how simulated controllers and agents are configured. */
public final class ConfigurationOptions implements Checked {
    /** The flag of agents. */
    public static final String LEASE = "--node-lease-duration-seconds";

    @Mixin
    JudgementOptions judgement = new JudgementOptions();

    @Option(
            names = LEASE,
            paramLabel = "N",
            defaultValue = "40",
            description =
                    "The duration of the simulated nodes' leases in seconds. Agents renew four times in that time."
                            + " Default: ${DEFAULT-VALUE}.")
    int leaseDurationSeconds = ClusterSetup.LEASE_DURATION_SECONDS;

    /** The configuration of every controller. Call it only after {@link #check} found no fault. */
    public ControllerConfig controller() {
        return judgement.config();
    }

    /** The duration of the nodes' leases. */
    public int leaseDurationSeconds() {
        return leaseDurationSeconds;
    }

    @Override
    public void check(Faults faults) {
        judgement.check(faults);
        faults.within(LEASE, leaseDurationSeconds, 1, 3_600);
    }
}
