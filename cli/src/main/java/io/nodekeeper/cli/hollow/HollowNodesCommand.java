package io.nodekeeper.cli.hollow;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.KubeconfigOptions;
import io.nodekeeper.cli.options.ProgressOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command {@code hollow-nodes}: runs hollow nodes. */
@Command(
        name = "hollow-nodes",
        description =
                "Runs many nodes that register, post status and renew leases over real connections, but run nothing:"
                        + " for load tests and trials. Runs until it is stopped, then prints what it did; after Ctrl-C"
                        + " the exit code is 130.",
        footerHeading = "%nExamples:%n",
        footer = {"  nodekeeper hollow-nodes --kubeconfig nodekeeper-data/admin.kubeconfig --count 1000"})
public final class HollowNodesCommand extends NodekeeperCommand {
    @Mixin
    public KubeconfigOptions kubeconfig = new KubeconfigOptions();

    @Mixin
    public HollowOptions hollow = new HollowOptions();

    @Mixin
    ProgressOptions progress = new ProgressOptions();

    private final Launcher<HollowNodesCommand> launcher;

    public HollowNodesCommand(Launcher<HollowNodesCommand> launcher) {
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
        hollow.check(faults);
    }
}
