package io.nodekeeper.cli.why;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.cli.source.SourceOptions;
import io.nodekeeper.time.GoDuration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code why}: explains the state of a node. */
@Command(
        name = "why",
        description = "Explains why a node is, or was, NotReady or Unknown: first in one sentence, then its last"
                + " heartbeat, how long each hop took, its deadline, what the controller could see, what it"
                + " decided and wrote, which pods moved, who cordoned it, and how the outage ended. Asks the"
                + " leading controller, which it finds through the API, at its address or through the API"
                + " server's proxy. If that controller cannot be reached, shows what the API has. Times are UTC."
                + " Exit code 1 if nothing is known of the node.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper why node-7 --kubeconfig nodekeeper-data/admin.kubeconfig",
            "      The newest decisions, newest last.",
            "  nodekeeper why --context production",
            "      The worst nodes of that cluster.",
            "  nodekeeper why node-7 --kubeconfig admin.kubeconfig --at 2026-11-21T09:07:17Z",
            "      The decisions around that time.",
            "  nodekeeper why node-7 --server http://127.0.0.1:10257 --at 90m",
            "      The decisions around 90 minutes ago, from the controller at that address.",
            "  nodekeeper why node-7 --history-dir nodekeeper-data/history -o json",
            "      From the files of a controller, even if it does not run."
        })
public final class WhyCommand extends NodekeeperCommand {
    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "NODE",
            description = "The node's name, also as node/NAME, or its UID if several nodes had that name. Without it:"
                    + " the worst nodes, each in one sentence.")
    String node = "";

    @Option(
            names = "--at",
            paramLabel = "TIME",
            description =
                    "A time such as 2026-11-21T09:07:17Z, or a time before now such as 5m or 1h30m. Default:" + " now.")
    Optional<String> at = Optional.empty();

    @Mixin
    SourceOptions source = new SourceOptions();

    @Option(
            names = "--history-dir",
            paramLabel = "DIR",
            description = "Reads a controller's --history-dir instead of asking it.")
    Optional<Path> historyDir = Optional.empty();

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "20",
            description = "The most decisions to show. Default: ${DEFAULT-VALUE}.")
    int limit = 20;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "The format of the answer: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Output output = Output.text;

    private final Launcher<WhyCommand> launcher;

    public WhyCommand(Launcher<WhyCommand> launcher) {
        this.launcher = launcher;
    }

    /** The node's name or UID; empty for the worst nodes. kubectl's forms {@code node/NAME} and the like are names. */
    String name() {
        return node.replaceFirst("^(nodes?|no)/", "");
    }

    /** The requested time, if any. Call it only after {@link #check} found no fault. */
    Optional<Instant> time(Instant now) {
        return at.map(text -> KubeTime.parse(text).orElseGet(() -> now.minus(GoDuration.parse(text))));
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.require(
                !node.isEmpty() || historyDir.isEmpty(),
                "the node is missing; expected its name: nodekeeper why NODE --history-dir DIR");
        faults.require(
                at.isEmpty() || isTime(at.get()),
                "--at is \"" + at.orElse("")
                        + "\"; expected a time like 2026-11-21T09:07:17Z, or how long ago, like 5m");
        faults.require(!source.hasServer() || historyDir.isEmpty(), "--server and --history-dir exclude each other");
        historyDir.ifPresent(dir ->
                faults.require(Files.isDirectory(dir), "--history-dir is " + dir + ", which is not a directory"));
        faults.within("--limit", limit, 1, 1_000);
        source.check(faults, historyDir.isEmpty());
    }

    private static boolean isTime(String text) {
        if (KubeTime.parse(text).isPresent()) {
            return true;
        }
        try {
            return !GoDuration.parse(text).isNegative();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
