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

/** Why a node is what it is, as flags say. */
@Command(
        name = "why",
        description =
                "Tells why a node is, or was, NotReady or Unknown: what was heard of it last, how long each hop took,"
                        + " its deadline, what the controller could see, what it decided and wrote, and how it ended."
                        + " Asks the controller that leads, which it finds through the API; if that cannot be reached, tells what"
                        + " the API itself shows. Times are UTC. Exit code 1 if nothing is known of the node.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper why node-7 --kubeconfig nodekeeper-data/admin.kubeconfig",
            "      The newest decisions, newest last.",
            "  nodekeeper why node-7 --kubeconfig admin.kubeconfig --at 2026-11-21T09:07:17Z",
            "      What was decided around that time.",
            "  nodekeeper why node-7 --server http://127.0.0.1:10257 --at 90m",
            "      Around 90 minutes ago, from the controller at that address.",
            "  nodekeeper why node-7 --history-dir nodekeeper-data/history -o json",
            "      From the files of a controller, even one that is dead."
        })
public final class WhyCommand extends NodekeeperCommand {
    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "NODE",
            description = "The node's name, or its UID if a name was used again.")
    String node = "";

    @Option(
            names = "--at",
            paramLabel = "TIME",
            description = "A time as 2026-11-21T09:07:17Z, or so long ago as 5m or 1h30m. Default: now.")
    Optional<String> at = Optional.empty();

    @Mixin
    KubeconfigOptions kubeconfig = new KubeconfigOptions();

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "Where the controller's pages are. Default: as the API tells.")
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
            description = "How many decisions at most. Default: ${DEFAULT-VALUE}.")
    int limit = 20;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "How the answer is written: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Output output = Output.text;

    private final Launcher<WhyCommand> launcher;

    public WhyCommand(Launcher<WhyCommand> launcher) {
        this.launcher = launcher;
    }

    /** The time that is asked about, if one is; only for flags that {@link #check} found good. */
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
        historyDir.ifPresent(
                dir -> faults.require(Files.isDirectory(dir), "--history-dir is " + dir + ", which is no directory"));
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
