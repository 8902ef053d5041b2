package io.nodekeeper.cli.simulate;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.simulator.RandomRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A simulated cluster, as flags say. */
@Command(
        name = "simulate",
        description =
                "A cluster in virtual time, with the code of agent, controller and API server, whose nodes crash, freeze, lose their"
                        + " network and are deleted at random. Checks every verdict, taint and eviction; the same seed does the"
                        + " same thing every time. Exit code 1 if a rule was broken, or if nodes were silent for longer than"
                        + " their grace and no verdict came.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper simulate --nodes 1000 --duration 1h --seed 7",
            "  nodekeeper simulate --nodes 50 --duration 10m --crashes-per-hour 100 --trace trace.txt -o json",
            "  nodekeeper simulate --nodes 200 --duration 24h --control-faults-per-hour 60 --controllers 2",
            "  nodekeeper simulate --lean --nodes 130000"
        })
public final class SimulateCommand extends NodekeeperCommand {
    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "1000",
            description = "How many nodes. Default: ${DEFAULT-VALUE}.")
    int nodes = 1_000;

    @Option(
            names = "--duration",
            paramLabel = "DURATION",
            defaultValue = "1h",
            converter = DurationConverter.class,
            description = "How much virtual time. Default: ${DEFAULT-VALUE}.")
    Duration duration = Duration.ofHours(1);

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "What follows from it is the same every time. Default: ${DEFAULT-VALUE}.")
    long seed = 1;

    @Option(
            names = "--crashes-per-hour",
            paramLabel = "N",
            defaultValue = "600",
            description = "Outages of nodes in an hour of virtual time, on average. Default: ${DEFAULT-VALUE}.")
    double crashesPerHour = 600;

    @Option(
            names = "--control-faults-per-hour",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Faults of API server, disk, watch, controller and clocks in an hour of virtual time, on average. Default: ${DEFAULT-VALUE}.")
    double controlFaultsPerHour;

    @Option(
            names = "--pods",
            paramLabel = "N",
            defaultValue = "20",
            description =
                    "How many pods, one on each of the first nodes, and again from the first. Default: ${DEFAULT-VALUE}.")
    int pods = 20;

    @Option(
            names = "--controllers",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many controllers; several elect the one that works. Default: ${DEFAULT-VALUE}.")
    int controllers = 1;

    @Option(
            names = "--lean",
            description =
                    "Nodes without agents, which only renew their leases; of those one in a hundred dies at one instant, and the run ends"
                            + " when their verdicts are due. For great numbers; only --nodes, --seed and --output count.")
    boolean lean;

    @Option(names = "--trace", paramLabel = "FILE", description = "Writes what happened, line by line, to this file.")
    Optional<Path> trace = Optional.empty();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "How the report is written: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Output output = Output.text;

    private final Launcher<SimulateCommand> launcher;

    public SimulateCommand(Launcher<SimulateCommand> launcher) {
        this.launcher = launcher;
    }

    /** What is to be run. */
    RandomRun.Options options() {
        return new RandomRun.Options(nodes, duration, seed, crashesPerHour, controlFaultsPerHour, pods, controllers);
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.within("--nodes", nodes, 1, 1_000_000);
        faults.positive("--duration", duration);
        faults.within("--crashes-per-hour", crashesPerHour, 0, 1_000_000);
        faults.within("--control-faults-per-hour", controlFaultsPerHour, 0, 10_000);
        faults.within("--pods", pods, 0, 10_000);
        faults.within("--controllers", controllers, 1, 10);
        trace.ifPresent(file -> faults.writable("--trace", file));
    }
}
