package io.nodekeeper.cli.observe;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.source.SourceOptions;
import io.nodekeeper.time.GoDuration;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code observe-report}: where a controller in observe mode and the cluster's own one differed. */
@Command(
        name = "observe-report",
        description =
                "Reports where a controller with --mode observe or guard and the cluster's own controller differed:"
                        + " verdicts about healthy nodes and evictions of pods that would not have happened, outages that"
                        + " would have been declared earlier or later, differences in conditions and taints, and the periods"
                        + " in which Nodekeeper was blind. Asks the controller, or reads its history. Times are UTC.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper observe-report --since 168h -o html --output-file week.html",
            "      The last week, of the controller in the cluster of the current context.",
            "  nodekeeper observe-report --server http://127.0.0.1:10257",
            "      The last day, of the controller at that address.",
            "  nodekeeper observe-report --history-dir observed -o json | jq .summary",
            "      The totals, from the files of a controller, even if it does not run."
        })
public final class ObserveReportCommand extends NodekeeperCommand {
    /** As the controller's page: a history of the default size has far less. */
    private static final Duration LONGEST = Duration.ofDays(366);

    @Mixin
    SourceOptions source = new SourceOptions();

    @Option(
            names = "--history-dir",
            paramLabel = "DIR",
            description = "Reads a controller's --history-dir instead of asking it.")
    Optional<Path> historyDir = Optional.empty();

    @Option(
            names = "--since",
            paramLabel = "DURATION",
            defaultValue = "24h",
            converter = DurationConverter.class,
            description = "The period until now, at most 8784h. Default: ${DEFAULT-VALUE}.")
    Duration since = Duration.ofHours(24);

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "markdown",
            description = "The format of the report: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    ReportFormat output = ReportFormat.markdown;

    @Option(
            names = "--output-file",
            paramLabel = "FILE",
            description = "Writes the report to this file, and replaces it if it exists. Default: standard output.")
    Optional<Path> outputFile = Optional.empty();

    @Option(
            names = "--page-url",
            paramLabel = "URL",
            description =
                    "The address at which readers of the report reach the controller's pages, for links into timelines."
                            + " Default: --server, else http://127.0.0.1:10257, where \"kubectl port-forward\" serves it; no"
                            + " links with --history-dir.")
    Optional<URI> pageUrl = Optional.empty();

    private final Launcher<ObserveReportCommand> launcher;

    public ObserveReportCommand(Launcher<ObserveReportCommand> launcher) {
        this.launcher = launcher;
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.require(
                since.isPositive() && since.compareTo(LONGEST) <= 0,
                "--since is " + GoDuration.format(since) + "; expected more than 0s, at most 8784h");
        faults.require(!source.hasServer() || historyDir.isEmpty(), "--server and --history-dir exclude each other");
        historyDir.ifPresent(dir ->
                faults.require(Files.isDirectory(dir), "--history-dir is " + dir + ", which is not a directory"));
        outputFile.ifPresent(file -> faults.writable("--output-file", file));
        pageUrl.ifPresent(url -> faults.require(
                Faults.isUrl(url, "http", "https"),
                "--page-url is " + Faults.shown(url) + "; expected a URL like https://nodekeeper.example.org"));
        source.check(faults, historyDir.isEmpty());
    }
}
