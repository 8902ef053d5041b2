package io.nodekeeper.cli.tune;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.options.GivenFlags;
import io.nodekeeper.cli.options.ProgressOptions;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.cli.simulate.ConfigurationOptions;
import io.nodekeeper.cli.simulate.SimulationOptions;
import io.nodekeeper.simulator.RandomRunOptions;
import io.nodekeeper.simulator.tune.Candidate;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code tune}: compares configurations. */
@Command(
        name = "tune",
        description = "Compares configurations of controllers and agents on the same faults: how long dead nodes go"
                + " unnoticed, and how many nodes are declared Unknown that would have come back at once. The"
                + " faults are those of a recording (see \"nodekeeper replay\"), or random ones of a simulated"
                + " cluster. Marks each configuration that no other one beats. Exit code 1 if one broke a"
                + " rule of \"nodekeeper simulate\". Ctrl-C ends it with a partial report and exit code 130.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper tune --recording week.rec --vary node-monitor-grace-period=20s,30s,40s,50s",
            "      Which grace period would have been best for the recorded cluster.",
            "  nodekeeper tune --vary node-monitor-grace-period=20s,40s --vary node-lease-duration-seconds=20,40",
            "      Whether faster renewals are worth it, in a simulated cluster.",
            "  nodekeeper tune --vary detector=fixed,adaptive --control-faults-per-hour 60"
        })
public final class TuneCommand extends NodekeeperCommand {
    /** Flags that only a simulation has. */
    private static final Set<String> SIMULATION = Set.of(
            "--nodes",
            "--duration",
            "--runs",
            "--crashes-per-hour",
            "--control-faults-per-hour",
            "--pods",
            ConfigurationOptions.LEASE);

    private static final String DEFAULT_FLAG = "--node-monitor-grace-period";
    private static final String DEFAULT = DEFAULT_FLAG + "=20s,30s,40s,50s,1m0s";

    @Option(
            names = "--vary",
            paramLabel = "FLAG=VALUE,...",
            description =
                    "A flag and its values to try; may be repeated for several flags, of which all combinations are"
                            + " tried. Default: node-monitor-grace-period=20s,30s,40s,50s,1m0s.")
    List<String> vary = List.of();

    @Option(
            names = "--recording",
            paramLabel = "FILE",
            description = "A recording that \"nodekeeper replay record\" wrote. Default: a simulation.")
    Optional<Path> recording = Optional.empty();

    @Option(
            names = "--soon",
            paramLabel = "DURATION",
            defaultValue = "1m",
            converter = DurationConverter.class,
            description = "A node that sends a heartbeat this soon after it was declared Unknown would better have been"
                    + " left alone. Default: ${DEFAULT-VALUE}.")
    Duration soon = Duration.ofMinutes(1);

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "100",
            description = "The number of simulated nodes. Default: ${DEFAULT-VALUE}.")
    int nodes = 100;

    @Option(
            names = "--runs",
            paramLabel = "N",
            defaultValue = "1",
            description = "The number of simulations of each configuration, with the seeds from --seed on. Default:"
                    + " ${DEFAULT-VALUE}.")
    int runs = 1;

    @Option(
            names = "--crashes-per-hour",
            paramLabel = "N",
            defaultValue = "120",
            description =
                    "The average number of outages of nodes per hour, of 2 to 300 s each. Default: ${DEFAULT-VALUE}.")
    double crashesPerHour = 120;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "The format of the report: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Output output = Output.text;

    @Mixin
    SimulationOptions simulation = new SimulationOptions();

    /** What is the same in all configurations. */
    @Mixin
    ConfigurationOptions fixed = new ConfigurationOptions();

    @Mixin
    ProgressOptions progress = new ProgressOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    private final Launcher<TuneCommand> launcher;

    public TuneCommand(Launcher<TuneCommand> launcher) {
        this.launcher = launcher;
    }

    /** The simulation of each candidate, without what distinguishes it. */
    RandomRunOptions options() {
        return simulation.run(nodes, crashesPerHour, 1);
    }

    /** What to try. */
    List<Candidate> candidates(Faults faults) {
        if (vary.isEmpty() && GivenFlags.of(spec).contains(DEFAULT_FLAG)) {
            faults.require(false, "--vary is missing; by default it varies " + DEFAULT_FLAG + ", which is given");
            return List.of();
        }
        return Candidates.of(vary.isEmpty() ? List.of(DEFAULT) : vary, spec, faults);
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        simulation.check(faults);
        fixed.check(faults);
        faults.within("--nodes", nodes, 1, 100_000);
        faults.positive("--soon", soon);
        faults.within("--runs", runs, 1, 10_000);
        faults.within("--crashes-per-hour", crashesPerHour, 0, 1_000_000);
        faults.readable("--recording", recording);
        candidates(faults);
        if (recording.isPresent()) {
            for (String flag : GivenFlags.of(spec)) {
                faults.require(
                        !SIMULATION.contains(flag), flag + " excludes --recording, which has its nodes and faults");
            }
            faults.require(
                    vary.stream()
                            .noneMatch(flag ->
                                    ("--" + flag.replaceFirst("^--", "")).startsWith(ConfigurationOptions.LEASE)),
                    ConfigurationOptions.LEASE
                            + " cannot be varied with --recording, which has the renewals as they were");
        }
    }
}
