package io.nodekeeper.cli.up;

import io.nodekeeper.cli.agent.AgentOptions;
import io.nodekeeper.cli.apiserver.ApiServerOptions;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.controller.ControllerOptions;
import io.nodekeeper.cli.options.GateOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code up}: runs API server, controller and agent in one process. */
@Command(
        name = "up",
        description = "Runs API server, controller and this machine's agent in one process: a cluster for trials.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper up",
            "      Then, in another terminal: kubectl --kubeconfig nodekeeper-data/admin.kubeconfig get nodes",
            "  nodekeeper up --data-dir /tmp/nk --secure-port 0 --node-name here",
            "      Uses any free port; the line \"ready ...\" shows the next command."
        })
public final class UpCommand extends NodekeeperCommand {
    /** The gates of both, for the help. */
    static final class Gates extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        Gates() {
            addAll(new ApiServerOptions.Gates());
            addAll(new ControllerOptions.Gates());
            addAll(new AgentOptions.Gates());
        }
    }

    @Mixin
    public ApiServerOptions server = new ApiServerOptions();

    @Mixin
    public ControllerOptions controller = new ControllerOptions();

    @Mixin
    public AgentOptions agent = new AgentOptions();

    private final Launcher<UpCommand> launcher;

    @Option(
            names = "--feature-gates",
            paramLabel = "NAME=BOOL,...",
            defaultValue = "",
            completionCandidates = Gates.class,
            description = "Enables or disables differences of server, controller and agent from Kubernetes':"
                    + " ${COMPLETION-CANDIDATES}.")
    void featureGates(String text) {
        List<String> known = Stream.of(
                        io.nodekeeper.apiserver.ApiServerFeature.names(),
                        io.nodekeeper.controller.config.ControllerFeature.names(),
                        io.nodekeeper.agent.config.AgentFeature.names())
                .flatMap(List::stream)
                .toList();
        server.gates = new GateOptions(text, known);
        controller.gates = server.gates;
        agent.gates = server.gates;
    }

    public UpCommand(Launcher<UpCommand> launcher) {
        this.launcher = launcher;
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        server.check(faults);
        controller.check(faults);
        agent.check(faults);
    }
}
