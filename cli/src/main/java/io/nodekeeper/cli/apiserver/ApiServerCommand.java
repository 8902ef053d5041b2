package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.ApiServerFeature;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.GateOptions;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code apiserver}: runs an API server. */
@Command(
        name = "apiserver",
        description = "An API server that speaks the Kubernetes API.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper apiserver --data-dir /var/lib/nodekeeper-apiserver",
            "      Creates its certificates at the first start and keeps them.",
            "  nodekeeper apiserver --store etcd --etcd-servers https://10.0.0.1:2379,https://10.0.0.2:2379",
            "      Stores its objects in that cluster, which other servers may share."
        })
public final class ApiServerCommand extends NodekeeperCommand {
    @Mixin
    public ApiServerOptions server = new ApiServerOptions();

    @Option(
            names = "--feature-gates",
            paramLabel = "NAME=BOOL,...",
            defaultValue = "",
            completionCandidates = ApiServerOptions.Gates.class,
            description = "Enables or disables features, with Kubernetes' names: ${COMPLETION-CANDIDATES}.")
    void featureGates(String text) {
        server.gates = new GateOptions(text, ApiServerFeature.names());
    }

    private final Launcher<ApiServerCommand> launcher;
    private final List<NodekeeperCommand> parts;

    /** {@code parts} are the commands that may follow this one. */
    public ApiServerCommand(Launcher<ApiServerCommand> launcher, NodekeeperCommand... parts) {
        this.launcher = launcher;
        this.parts = List.of(parts);
    }

    @Override
    public List<NodekeeperCommand> parts() {
        return parts;
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        server.check(faults);
    }
}
