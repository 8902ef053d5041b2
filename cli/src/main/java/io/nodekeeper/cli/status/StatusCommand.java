package io.nodekeeper.cli.status;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.source.SourceOptions;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code status}: the fleet on one screen. */
@Command(
        name = "status",
        description = "Shows the fleet on one screen: whether the controller can see, how long heartbeats take, the"
                + " zones, the nodes that are not well with their reasons, the suspect and the damped ones, those"
                + " that were silent for longest, and what is about to happen and when. Asks the leading controller,"
                + " which it finds through the API. Colours appear only on a terminal, and not if NO_COLOR is set."
                + " Times are UTC.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper status --context production --watch",
            "      The fleet, every 2 seconds, until Ctrl-C.",
            "  nodekeeper status -o json | jq '.unwell[].name'",
            "      The names of the nodes that are not well."
        })
public final class StatusCommand extends NodekeeperCommand {
    /** A shorter interval only costs: the controller makes the page when it is asked for. */
    private static final Duration SHORTEST = Duration.ofMillis(500);

    private static final Duration LONGEST = Duration.ofHours(1);

    @Mixin
    SourceOptions source = new SourceOptions();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "The format of the answer: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    StatusOutput output = StatusOutput.text;

    @Option(
            names = {"-w", "--watch"},
            description = "Shows the status again and again until the command is stopped.")
    boolean watch;

    @Option(
            names = "--interval",
            paramLabel = "DURATION",
            defaultValue = "2s",
            converter = DurationConverter.class,
            description = "The time between two answers of --watch, 500ms to 1h. Default: ${DEFAULT-VALUE}.")
    Duration interval = Duration.ofSeconds(2);

    private final Launcher<StatusCommand> launcher;

    public StatusCommand(Launcher<StatusCommand> launcher) {
        this.launcher = launcher;
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        source.check(faults);
        faults.require(
                interval.compareTo(SHORTEST) >= 0 && interval.compareTo(LONGEST) <= 0,
                "--interval is " + GoDuration.format(interval) + "; expected 500ms to 1h");
    }
}
