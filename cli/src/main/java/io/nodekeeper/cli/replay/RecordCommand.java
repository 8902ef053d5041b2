package io.nodekeeper.cli.replay;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.ClientOptions;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.options.ProgressOptions;
import io.nodekeeper.time.GoDuration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code replay record}: records the heartbeats of a cluster. */
@Command(
        name = "record",
        description =
                "Records the heartbeats of a cluster's nodes: when it saw each renewal of a lease and each change of a"
                        + " Node. Only reads; needs the rights to list and watch nodes, and leases in kube-node-lease."
                        + " The file has names, labels and conditions of nodes. Ctrl-C ends the recording.",
        footerHeading = "%nExamples:%n",
        footer = {"  nodekeeper replay record --context production --for 24h day.rec", "  nodekeeper replay day.rec"})
public final class RecordCommand extends NodekeeperCommand {
    /** Some gigabytes with a thousand nodes. */
    private static final Duration LONGEST = Duration.ofDays(31);

    @Parameters(paramLabel = "FILE", description = "The file to write, which must not exist.")
    Path file = Path.of("");

    @Option(
            names = "--for",
            paramLabel = "DURATION",
            defaultValue = "1h",
            converter = DurationConverter.class,
            description = "How long to record, up to 744h. An hour of 1,000 nodes takes some 10 MB. Default:"
                    + " ${DEFAULT-VALUE}.")
    Duration length = Duration.ofHours(1);

    @Mixin
    ClientOptions client = new ClientOptions();

    @Mixin
    ProgressOptions progress = new ProgressOptions();

    private final Launcher<RecordCommand> launcher;

    public RecordCommand(Launcher<RecordCommand> launcher) {
        this.launcher = launcher;
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.writable("FILE", file);
        faults.require(!Files.exists(file), "FILE is " + file + ", which exists; expected a new file");
        faults.require(
                length.isPositive() && length.compareTo(LONGEST) <= 0,
                "--for is " + GoDuration.format(length) + "; expected more than 0s, up to 744h");
        client.check(faults);
    }
}
