package io.nodekeeper.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** An API server, as flags say. */
@Command(
        name = "apiserver",
        description = "An API server that speaks the Kubernetes API.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper apiserver --data-dir /var/lib/nodekeeper",
            "      Makes its certificates at the first start and keeps them."
        })
final class ApiServerCommand extends NodekeeperCommand {
    @Mixin
    ApiServerOptions server = new ApiServerOptions();

    private final Launcher<ApiServerCommand> launcher;

    ApiServerCommand(Launcher<ApiServerCommand> launcher) {
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
    }
}
