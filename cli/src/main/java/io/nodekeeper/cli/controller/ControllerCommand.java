package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.GateOptions;
import io.nodekeeper.cli.options.KubeconfigOptions;
import io.nodekeeper.cli.pages.PagesOptions;
import io.nodekeeper.controller.config.ControllerFeature;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code controller}: runs a controller. */
@Command(
        name = "controller",
        description =
                "Decides which nodes are alive and taints those that are not. Works with any Kubernetes API server.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper controller --kubeconfig nodekeeper-data/controller.kubeconfig",
            "  nodekeeper controller --kubeconfig nodekeeper-data/controller.kubeconfig --node-monitor-grace-period 10s",
            "      Marks a node Unknown after 10s without a heartbeat.",
            "  nodekeeper controller --kubeconfig production.kubeconfig --mode observe",
            "      Only reads; reports what it would do, when, and where the cluster's own controller differs.",
            "  nodekeeper controller --mode guard --guard-enforce",
            "      In a pod: refuses writes of the cluster's own controller that wrongly blame a node."
        })
public final class ControllerCommand extends NodekeeperCommand {
    @Mixin
    public KubeconfigOptions kubeconfig = new KubeconfigOptions();

    @Mixin
    public ControllerOptions controller = new ControllerOptions();

    @Mixin
    PagesOptions pages = controller.pages;

    private final Launcher<ControllerCommand> launcher;

    @Option(
            names = "--feature-gates",
            paramLabel = "NAME=BOOL,...",
            defaultValue = "",
            completionCandidates = ControllerOptions.Gates.class,
            description = "Enables or disables improvements over Kubernetes' controller, all enabled by default:"
                    + " ${COMPLETION-CANDIDATES}.")
    void featureGates(String text) {
        controller.gates = new GateOptions(text, ControllerFeature.names());
    }

    public ControllerCommand(Launcher<ControllerCommand> launcher) {
        this.launcher = launcher;
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        kubeconfig.check(faults);
        controller.check(faults);
        pages.check(faults);
    }
}
