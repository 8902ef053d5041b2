package io.nodekeeper.cli.doctor;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.output.Output;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What hangs on this node, as flags say. */
@Command(
        name = "doctor",
        description =
                "Tells what hangs below the container runtime of this node: asks the runtime each thing it can be asked"
                        + " without harm, each with a short deadline, looks at its processes twice, and names the cause:"
                        + " a stopped shim, a hung CNI plugin or runc, a process or disk that does not answer, or the"
                        + " runtime itself. Needs neither agent nor API server, but root's rights. Changes nothing"
                        + " unless --fix is given. Exit code 1 if something hangs.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper doctor",
            "      Examines the runtime at its usual socket; takes about 5 s.",
            "  nodekeeper doctor --fix",
            "      And applies the remedies that it names, no more: it kills a hung plugin, lets a stopped shim go on,"
                    + " removes a sandbox. Then looks again.",
            "  nodekeeper doctor --container-runtime-endpoint unix:///run/crio/crio.sock -o json",
            "      Another runtime, for programs."
        })
public final class DoctorCommand extends NodekeeperCommand {
    @Option(
            names = "--container-runtime-endpoint",
            paramLabel = "unix://SOCKET",
            defaultValue = "unix:///run/containerd/containerd.sock",
            description = "The container runtime's socket. Default: ${DEFAULT-VALUE}.")
    String endpoint = "unix:///run/containerd/containerd.sock";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "How the report is written: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Output output = Output.text;

    @Option(names = "--fix", description = "Applies the remedies that are named, and looks again.")
    boolean fix;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            defaultValue = "3s",
            description = "How long the runtime may take for each answer. Default: ${DEFAULT-VALUE}.")
    Duration timeout = Duration.ofSeconds(3);

    private final Launcher<DoctorCommand> launcher;

    public DoctorCommand(Launcher<DoctorCommand> launcher) {
        this.launcher = launcher;
    }

    /** Where the socket is; only for flags that {@link #check} found good. */
    Path socket() {
        return Path.of(endpoint.substring("unix://".length()));
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.require(
                endpoint.startsWith("unix:///") && endpoint.length() > "unix:///".length(),
                "--container-runtime-endpoint is \"" + endpoint + "\"; expected unix:///PATH");
        faults.socket("--container-runtime-endpoint", endpoint);
        faults.within("--timeout in seconds", timeout.toMillis() / 1_000.0, 1, 60);
    }
}
