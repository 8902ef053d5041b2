package io.nodekeeper.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** API server, controller and agent in one process, as flags say. */
@Command(
        name = "up",
        description = "API server, controller and this machine's agent in one process: a cluster to try things on.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper up",
            "      Then, in another terminal: kubectl --kubeconfig nodekeeper-data/admin.kubeconfig get nodes",
            "  nodekeeper up --data-dir /tmp/nk --secure-port 0 --node-name here",
            "      On any free port; the line \"ready ...\" says what to type next."
        })
final class UpCommand extends NodekeeperCommand {
    @Mixin
    ApiServerOptions server = new ApiServerOptions();

    @Mixin
    ControllerOptions controller = new ControllerOptions();

    @Mixin
    AgentOptions agent = new AgentOptions();

    private final Launcher<UpCommand> launcher;

    UpCommand(Launcher<UpCommand> launcher) {
        this.launcher = launcher;
    }

    @Override
    int run() throws Exception {
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
