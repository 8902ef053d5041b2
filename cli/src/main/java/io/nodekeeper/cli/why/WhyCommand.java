package io.nodekeeper.cli.why;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.KubeconfigOptions;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.time.GoDuration;
import java.net.URI;
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
        description = "Explains why a node is, or was, NotReady or Unknown: its last heartbeat, how long each hop took,"
                + " its deadline, what the controller could see, what it decided and wrote, and how the"
                + " outage ended. Asks the leading controller, which it finds through the API. If that"
                + " controller cannot be reached, shows what the API has. Times are UTC. Exit code 1 if"
                + " nothing is known of the node.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper why node-7 --kubeconfig nodekeeper-data/admin.kubeconfig",
            "      The newest decisions, newest last.",
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
            description = "The node's name, or its UID if several nodes had that name.")
    String node = "";

    @Option(
            names = "--at",
            paramLabel = "TIME",
            description =
                    "A time such as 2026-11-21T09:07:17Z, or a time before now such as 5m or 1h30m. Default:" + " now.")
    Optional<String> at = Optional.empty();

    @Mixin
    KubeconfigOptions kubeconfig = new KubeconfigOptions();

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "The address of the controller's pages. Default: the address in the API.")
    Optional<URI> server = Optional.empty();

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
        faults.require(!node.isEmpty(), "the node is missing; expected its name: nodekeeper why NODE");
        faults.require(
                at.isEmpty() || isTime(at.get()),
                "--at is \"" + at.orElse("")
                        + "\"; expected a time like 2026-11-21T09:07:17Z, or how long ago, like 5m");
        faults.require(server.isEmpty() || historyDir.isEmpty(), "--server and --history-dir exclude each other");
        server.ifPresent(url -> faults.require(
                url.getHost() != null && ("http".equals(url.getScheme()) || "https".equals(url.getScheme())),
                "--server is " + url + "; expected a URL like http://127.0.0.1:10257"));
        historyDir.ifPresent(dir ->
                faults.require(Files.isDirectory(dir), "--history-dir is " + dir + ", which is not a directory"));
        faults.within("--limit", limit, 1, 1_000);
        if (server.isEmpty() && historyDir.isEmpty()) {
            kubeconfig.check(faults);
        }
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
