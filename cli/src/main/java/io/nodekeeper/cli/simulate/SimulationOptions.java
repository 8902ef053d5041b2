package io.nodekeeper.cli.simulate;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.simulator.RandomRunOptions;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The flags for simulations with random faults. The number of nodes and of their faults is each command's own. */
public final class SimulationOptions implements Checked {
    @Option(
            names = "--duration",
            paramLabel = "DURATION",
            defaultValue = "1h",
            converter = DurationConverter.class,
            description = "The virtual time to simulate. Default: ${DEFAULT-VALUE}.")
    public Duration duration = Duration.ofHours(1);

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "The seed of all random choices; the same seed gives the same run. Default:" + " ${DEFAULT-VALUE}.")
    public long seed = 1;

    @Option(
            names = "--control-faults-per-hour",
            paramLabel = "N",
            defaultValue = "0",
            description = "The average number of faults of API server, disk, watch, controller and clocks per hour of"
                    + " virtual time. Default: ${DEFAULT-VALUE}.")
    public double controlFaultsPerHour;

    @Option(
            names = "--pods",
            paramLabel = "N",
            defaultValue = "20",
            description = "The number of pods, placed on the nodes in turn. Default: ${DEFAULT-VALUE}.")
    public int pods = 20;

    /** A simulation of so many nodes with so many faults of nodes per hour. Call it only after {@link #check} found no fault. */
    public RandomRunOptions run(int nodes, double crashesPerHour, int controllers) {
        return new RandomRunOptions(nodes, duration, seed, crashesPerHour, controlFaultsPerHour, pods, controllers);
    }

    @Override
    public void check(Faults faults) {
        faults.positive("--duration", duration);
        faults.within("--control-faults-per-hour", controlFaultsPerHour, 0, 10_000);
        faults.within("--pods", pods, 0, 10_000);
    }
}
