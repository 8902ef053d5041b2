package io.nodekeeper.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A controller, as flags say. */
@Command(
        name = "controller",
        description =
                "Decides which nodes are alive and taints those that are not. Works with any Kubernetes API server.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper controller --kubeconfig nodekeeper-data/controller.kubeconfig",
            "  nodekeeper controller --kubeconfig nodekeeper-data/controller.kubeconfig --node-monitor-grace-period 10s",
            "      Marks a node Unknown once it was silent for 10s.",
            "  nodekeeper controller --kubeconfig production.kubeconfig --mode observe",
            "      Only reads; says what it would do, when, and where the cluster's own controller differs."
        })
final class ControllerCommand extends NodekeeperCommand {
    @Mixin
    KubeconfigOptions kubeconfig = new KubeconfigOptions();

    @Mixin
    ControllerOptions controller = new ControllerOptions();

    private final Launcher<ControllerCommand> launcher;

    ControllerCommand(Launcher<ControllerCommand> launcher) {
        this.launcher = launcher;
    }

    @Override
    int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        kubeconfig.check(faults);
        controller.check(faults);
    }
}
