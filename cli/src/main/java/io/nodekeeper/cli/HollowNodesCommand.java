package io.nodekeeper.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Hollow nodes, as flags say. */
@Command(
        name = "hollow-nodes",
        description =
                "Many nodes that register, post status and renew leases over real connections, with nothing behind them: for load and trials.",
        footerHeading = "%nExamples:%n",
        footer = {"  nodekeeper hollow-nodes --kubeconfig nodekeeper-data/admin.kubeconfig --count 1000"})
final class HollowNodesCommand extends NodekeeperCommand {
    @Mixin
    KubeconfigOptions kubeconfig = new KubeconfigOptions();

    @Mixin
    HollowOptions hollow = new HollowOptions();

    private final Launcher<HollowNodesCommand> launcher;

    HollowNodesCommand(Launcher<HollowNodesCommand> launcher) {
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
        hollow.check(faults);
    }
}
