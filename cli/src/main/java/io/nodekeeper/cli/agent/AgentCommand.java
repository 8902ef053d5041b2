package io.nodekeeper.cli.agent;

import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.GateOptions;
import io.nodekeeper.cli.options.KubeconfigOptions;
import io.nodekeeper.cli.pages.PagesOptions;
import io.nodekeeper.client.config.ServerAccess;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code agent}: runs an agent. */
@Command(
        name = "agent",
        description = "Reports this machine's health. Works with any Kubernetes API server.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper certs --node web-1 --server https://10.0.0.1:6443",
            "      On the server first: writes nodekeeper-data/agent-web-1.kubeconfig, for the node.",
            "  nodekeeper agent --kubeconfig agent-web-1.kubeconfig --node-name web-1",
            "  nodekeeper agent --mode companion --kubeconfig /etc/kubernetes/kubelet.conf",
            "      Beside the kubelet of this machine, with the kubelet's credentials: names what hangs, and what the"
                    + " kubelet is about to report. In a cluster: kubectl apply -k deploy/companion"
        })
public final class AgentCommand extends NodekeeperCommand {
    @Mixin
    public KubeconfigOptions kubeconfig = new KubeconfigOptions();

    @Mixin
    public BootstrapOptions bootstrap = new BootstrapOptions();

    @Mixin
    public AgentOptions agent = new AgentOptions();

    @Mixin
    public CompanionOptions companion = new CompanionOptions();

    @Mixin
    PagesOptions pages = agent.pages;

    private final Launcher<AgentCommand> launcher;

    @Option(
            names = "--feature-gates",
            paramLabel = "NAME=BOOL,...",
            defaultValue = "",
            completionCandidates = AgentOptions.Gates.class,
            description = "Enables or disables differences from the kubelet: ${COMPLETION-CANDIDATES}.")
    void featureGates(String text) {
        agent.gates = new GateOptions(text, AgentFeature.names());
    }

    public AgentCommand(Launcher<AgentCommand> launcher) {
        this.launcher = launcher;
    }

    @Override
    public int run() throws Exception {
        return launcher.launch(this);
    }

    /**
     * The access to the API server, for which the agent may have to ask the cluster first. Blocks.
     *
     * @throws IOException if there is none within the hour that a kubelet waits
     */
    public ServerAccess access() throws IOException {
        if (bootstrap.file.isEmpty()) {
            return kubeconfig.access();
        }
        return new Bootstrap(
                        bootstrap.file.get(),
                        kubeconfig.file().orElseThrow(),
                        AgentProcess.nodeName(agent),
                        agent.certDir())
                .access();
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        if (bootstrap.file.isPresent()) {
            bootstrap.check(faults, kubeconfig.file());
        } else {
            kubeconfig.check(faults);
        }
        agent.check(faults);
        companion.check(faults);
        pages.check(faults);
    }
}
