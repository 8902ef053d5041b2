package io.nodekeeper.cli.replay;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.controller.ControllerOptions;
import io.nodekeeper.cli.controller.JudgementOptions;
import io.nodekeeper.cli.options.GateOptions;
import io.nodekeeper.cli.options.ProgressOptions;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code replay}: judges recorded heartbeats again. */
@Command(
        name = "replay",
        description =
                "Lets a controller judge the recorded heartbeats of a real cluster in virtual time, with the settings that"
                        + " the flags give, and shows its verdicts beside those of the recorded cluster's own"
                        + " controller. It blames no node for what the recorder did not see. \"nodekeeper replay record\""
                        + " makes a recording. Ctrl-C ends it with a partial report and exit code 130.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper replay record --context production --for 24h day.rec",
            "  nodekeeper replay day.rec",
            "      What this controller would have decided with its defaults.",
            "  nodekeeper replay day.rec --node-monitor-grace-period 30s",
            "  nodekeeper replay day.rec --detector adaptive -o json | jq '.verdicts[].node'",
            "  nodekeeper tune --recording day.rec",
            "      Compares several grace periods."
        })
public final class ReplayCommand extends NodekeeperCommand {
    @Parameters(
            paramLabel = "FILE",
            arity = "0..1",
            description = "A recording that \"nodekeeper replay record\" wrote.")
    Optional<Path> file = Optional.empty();

    @Mixin
    JudgementOptions judgement = new JudgementOptions();

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "The seed of the delays of messages, of 0.2 to 2 ms. Default: ${DEFAULT-VALUE}.")
    long seed = 1;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "The format of the report: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Output output = Output.text;

    @Mixin
    ProgressOptions progress = new ProgressOptions();

    private GateOptions gates = new GateOptions("", ControllerFeature.names());
    private final Launcher<ReplayCommand> launcher;
    private final RecordCommand record;

    @Option(
            names = "--feature-gates",
            paramLabel = "NAME=BOOL,...",
            defaultValue = "",
            completionCandidates = ControllerOptions.Gates.class,
            description = "Enables or disables improvements over Kubernetes' controller, all enabled by default:"
                    + " ${COMPLETION-CANDIDATES}.")
    void featureGates(String text) {
        gates = new GateOptions(text, ControllerFeature.names());
    }

    /** {@code record} may follow this command. */
    public ReplayCommand(Launcher<ReplayCommand> launcher, RecordCommand record) {
        this.launcher = launcher;
        this.record = record;
    }

    /** The configuration of the replayed controller. Call it only after {@link #check} found no fault. */
    ControllerConfig config() {
        return judgement.config().with(FeatureGates.of(gates.switches()));
    }

    @Override
    public List<NodekeeperCommand> parts() {
        return List.of(record);
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.require(
                file.isPresent(),
                "FILE is missing; expected a recording, such as one of \"nodekeeper replay record FILE\"");
        faults.readable("FILE", file);
        judgement.check(faults);
        gates.check(faults);
    }
}
