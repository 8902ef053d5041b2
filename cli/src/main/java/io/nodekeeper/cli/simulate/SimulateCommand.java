package io.nodekeeper.cli.simulate;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.GivenFlags;
import io.nodekeeper.cli.options.ProgressOptions;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.simulator.RandomRunOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code simulate}: runs a simulated cluster. */
@Command(
        name = "simulate",
        description =
                "Simulates a cluster in virtual time with the code of agent, controller and API server. Nodes crash,"
                        + " freeze, lose their network and are deleted at random. Checks every verdict, taint and"
                        + " eviction. The same seed gives the same run. Exit code 1 if a rule was broken, or if a"
                        + " node sent no heartbeat for longer than its grace period and got no verdict. Ctrl-C ends the"
                        + " run with a partial report and exit code 130.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper simulate --nodes 1000 --duration 1h --seed 7",
            "  nodekeeper simulate --nodes 50 --duration 10m --crashes-per-hour 100 --trace trace.txt -o json",
            "  nodekeeper simulate --nodes 200 --duration 24h --control-faults-per-hour 60 --controllers 2",
            "  nodekeeper simulate --explore 100 --nodes 20 --duration 30m --control-faults-per-hour 60",
            "  nodekeeper simulate --lean --nodes 130000",
            "  nodekeeper simulate --scenario outage.txt"
        })
public final class SimulateCommand extends NodekeeperCommand {
    /** The flags that apply to a scenario. */
    private static final Set<String> WITH_SCENARIO = Set.of("--scenario", "--quiet", "--v");
    /** The flags that apply to a lean simulation. */
    private static final Set<String> WITH_LEAN = Set.of("--lean", "--nodes", "--seed", "--output", "--quiet", "--v");

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "1000",
            description = "The number of nodes. Default: ${DEFAULT-VALUE}.")
    int nodes = 1_000;

    @Option(
            names = "--crashes-per-hour",
            paramLabel = "N",
            defaultValue = "600",
            description = "The average number of node outages per hour of virtual time. Default: ${DEFAULT-VALUE}.")
    double crashesPerHour = 600;

    @Option(
            names = "--controllers",
            paramLabel = "N",
            defaultValue = "1",
            description = "The number of controllers; several elect a leader. Default: ${DEFAULT-VALUE}.")
    int controllers = 1;

    @Option(
            names = "--lean",
            description =
                    "Simulates nodes without agents that only renew their leases, for large numbers. One node in a"
                            + " hundred fails, all at the same instant, and the run ends when their verdicts are"
                            + " due. Only --nodes, --seed and --output apply.")
    boolean lean;

    @Option(
            names = "--explore",
            paramLabel = "N",
            description =
                    "Runs N simulations, with the seeds from --seed on, until one breaks a rule or judges nothing."
                            + " The report has the command that repeats that one. Not with --lean or --trace. Default: one simulation.")
    Optional<Integer> explore = Optional.empty();

    @Option(
            names = "--scenario",
            paramLabel = "FILE",
            description =
                    "Runs a script of faults instead of random ones, and prints it with the trace that it produces."
                            + " Only --quiet and --v apply; see docs/simulate.md. Exit code 1 if a rule was"
                            + " broken, or if a trace differs from the one in the script.")
    Optional<Path> scenario = Optional.empty();

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "The file to write the trace to, one event per" + " line.")
    Optional<Path> trace = Optional.empty();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "The format of the report: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Output output = Output.text;

    @Mixin
    SimulationOptions simulation = new SimulationOptions();

    @Mixin
    ConfigurationOptions configuration = new ConfigurationOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Mixin
    ProgressOptions progress = new ProgressOptions();

    private final Launcher<SimulateCommand> launcher;

    public SimulateCommand(Launcher<SimulateCommand> launcher) {
        this.launcher = launcher;
    }

    /** The options of the run. */
    RandomRunOptions options() {
        return simulation
                .run(nodes, crashesPerHour, controllers)
                .with(configuration.controller(), configuration.leaseDurationSeconds());
    }

    /** The given flags for how controllers and agents are configured. */
    List<String> configured() {
        return GivenFlags.values(spec, CommandSpec.forAnnotatedObject(new ConfigurationOptions()));
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        simulation.check(faults);
        configuration.check(faults);
        faults.within("--nodes", nodes, 1, 1_000_000);
        faults.within("--crashes-per-hour", crashesPerHour, 0, 1_000_000);
        faults.within("--controllers", controllers, 1, 10);
        explore.ifPresent(runs -> {
            faults.within("--explore", runs, 1, 1_000_000);
            faults.require(trace.isEmpty(), "--explore excludes --trace; expected one of them");
        });
        if (scenario.isPresent()) {
            faults.readable("--scenario", scenario);
            allowOnly(WITH_SCENARIO, "--scenario", faults);
        } else if (lean) {
            allowOnly(WITH_LEAN, "--lean", faults);
        }
        trace.ifPresent(file -> faults.writable("--trace", file));
    }

    private void allowOnly(Set<String> allowed, String mode, Faults faults) {
        GivenFlags.of(spec).stream()
                .filter(flag -> !allowed.contains(flag))
                .forEach(flag -> faults.require(false, flag + " excludes " + mode + "; expected one of them"));
    }
}
