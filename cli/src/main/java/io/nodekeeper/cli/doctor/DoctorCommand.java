package io.nodekeeper.cli.doctor;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.output.Output;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code doctor}: finds what hangs below the node's container runtime. */
@Command(
        name = "doctor",
        description = "Examines this node: what hangs below its container runtime, and whether disks, memory, clock,"
                + " certificates, API server and kubelet or agent are well. It sends the runtime every read-only"
                + " request with a short deadline, inspects its processes twice, and names the cause: a"
                + " stopped shim, a hung CNI plugin or runc, a process or disk that does not respond, or the"
                + " runtime itself. Needs root, but neither agent nor API server.%nChanges nothing without --fix.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:The node would be Ready: nothing hangs, every request is answered, runtime and network are ready,"
                    + " and no check of the node failed.",
            "1:Something hangs or fails, or the processes could not be seen.",
            "2:The command line is wrong.",
            "3:The command had too little memory, which says nothing of the node.",
            "4:The same as 1, and --fix applied nothing: it was not confirmed, or nothing may be applied."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper doctor",
            "      Examines the runtime at its usual socket; takes about 5 s.",
            "  nodekeeper doctor --fix",
            "      Also prints what it would do, to which process, and what is lost by it. On a terminal it asks, applies"
                    + " the remedies from the mildest on, and examines the runtime again. Without a terminal it only"
                    + " prints.",
            "  nodekeeper doctor --fix --yes",
            "      Does not ask. Use this in scripts.",
            "  nodekeeper doctor --fix --force",
            "      Also permits what ends processes of a running pod, for example to remove a sandbox. It is done only"
                    + " after every milder remedy, and for one pod at most.",
            "  nodekeeper doctor --bundle /tmp/n7.tar.gz",
            "      Also writes the evidence for a ticket, without secrets.",
            "  nodekeeper doctor --container-runtime-endpoint unix:///run/crio/crio.sock -o json",
            "      Another runtime, with a report for programs."
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
            description = "The format of the report: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    Output output = Output.text;

    @Option(
            names = "--fix",
            description =
                    "Prints the plan of remedies, asks on a terminal, applies them, and examines the runtime again."
                            + " Without a terminal it changes nothing, unless --yes is given.")
    boolean fix;

    @Option(names = "--yes", description = "With --fix: applies the plan without a question.")
    boolean yes;

    @Option(
            names = "--force",
            description =
                    "With --fix: also permits remedies that end processes of a running pod or of another program.")
    boolean force;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            defaultValue = "3s",
            description = "The deadline of each request to the runtime. Default: ${DEFAULT-VALUE}.")
    Duration timeout = Duration.ofSeconds(3);

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "The kubeconfig of this node's kubelet or agent, to ask the API server. Default: that of the"
                    + " kubelet, such as /etc/kubernetes/kubelet.conf, if there is one, or else"
                    + " /etc/nodekeeper/agent.kubeconfig.")
    Optional<Path> kubeconfig = Optional.empty();

    @Option(
            names = "--healthz-port",
            paramLabel = "PORT",
            defaultValue = "10248",
            description = "The port of the health check of kubelet or agent on 127.0.0.1. Default: ${DEFAULT-VALUE}.")
    int healthPort = 10_248;

    @Option(
            names = "--bundle",
            paramLabel = "FILE",
            description =
                    "Writes the evidence for a ticket to this new file (tar.gz): the report, pages of agent or kubelet,"
                            + " facts of the processes that hang, mounts, kernel log. Secrets are redacted.")
    Optional<Path> bundle = Optional.empty();

    private final Launcher<DoctorCommand> launcher;

    public DoctorCommand(Launcher<DoctorCommand> launcher) {
        this.launcher = launcher;
    }

    /** The path of the socket. Call it only after {@link #check} found no fault. */
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
        faults.require(fix || !yes, "--yes is given without --fix; expected both, or neither");
        faults.require(fix || !force, "--force is given without --fix; expected both, or --fix alone");
        bundle.ifPresent(file -> {
            faults.writable("--bundle", file);
            faults.require(
                    Files.isDirectory(file) || !Files.exists(file, LinkOption.NOFOLLOW_LINKS),
                    "--bundle is " + file + ", which exists; expected a new file");
        });
        faults.require(
                bundle.isEmpty() || !fix,
                "--bundle and --fix exclude each other: the evidence is that before a repair");
        faults.readable("--kubeconfig", kubeconfig);
        faults.within("--healthz-port", healthPort, 1, 65_535);
        faults.within("--timeout in seconds", timeout.toMillis() / 1_000.0, 1, 60);
    }
}
