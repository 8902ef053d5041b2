package io.nodekeeper.cli.agent;

import io.nodekeeper.agent.companion.CompanionAgent;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.cli.metrics.ProcessFigures;
import io.nodekeeper.cli.pages.DebugServer;
import io.nodekeeper.client.config.ServerAccess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;

/** A running companion of a kubelet and its HTTP server. */
public record CompanionProcess(CompanionAgent agent, Optional<DebugServer> pages) {
    /**
     * The default of {@code --healthz-port} beside a kubelet, which has 10248 itself: ten thousand above it, next to the ports
     * of node-problem-detector (20256, 20257).
     */
    static final int HEALTHZ_PORT = 20_248;
    /** The kubelet's default root directory. */
    private static final Path KUBELET_ROOT = Path.of("/var/lib/kubelet");

    /**
     * Starts a companion on the node {@code nodeName}.
     *
     * @throws IOException if its HTTP server cannot listen on the configured address
     */
    public static CompanionProcess start(ServerAccess access, String nodeName, AgentCommand command)
            throws IOException {
        AgentConfig config = config(nodeName, command);
        CompanionAgent agent = new CompanionAgent(access, config, command.companion.kubelet());
        ProcessFigures.register(agent.metrics().registry());
        Optional<DebugServer> pages = Optional.empty();
        Optional<InetSocketAddress> address = config.serving().address();
        if (address.isPresent()) {
            pages = Optional.of(DebugServer.start(
                    "companion",
                    "--healthz-port",
                    address.get(),
                    config.serving().orElseAny(),
                    agent.pages(),
                    command.agent.pages.exposure(address.get(), access)));
        }
        agent.start();
        return new CompanionProcess(agent, pages);
    }

    /** The configuration; the root directory is a path of the host, which need not exist in this process's mounts. */
    static AgentConfig config(String nodeName, AgentCommand command) {
        AgentConfigBuilder builder = new AgentConfigBuilder(nodeName);
        command.agent.configure(builder);
        if (command.agent.healthzPort.isEmpty()) {
            builder.healthzPort(HEALTHZ_PORT);
        }
        return builder.rootDir(command.companion.given("--root-dir") ? command.agent.rootDir : KUBELET_ROOT)
                .build();
    }

    public void stop() {
        pages.ifPresent(DebugServer::stop);
        agent.stop();
    }
}
