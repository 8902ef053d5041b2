package io.nodekeeper.cli.agent;

import io.nodekeeper.agent.NodeAgent;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.agent.nodeapi.NodeApi;
import io.nodekeeper.agent.pages.AgentPages;
import io.nodekeeper.cli.metrics.ProcessFigures;
import io.nodekeeper.cli.nodeapi.NodeApiServer;
import io.nodekeeper.cli.pages.DebugServer;
import io.nodekeeper.cli.pages.Exposure;
import io.nodekeeper.client.access.PageRight;
import io.nodekeeper.client.config.ServerAccess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A running agent and its HTTP servers.
 *
 * @param pages of health, metrics and state
 * @param api the node's API, if the agent runs pods
 */
public record AgentProcess(NodeAgent agent, Optional<DebugServer> pages, Optional<NodeApiServer> api) {

    /**
     * Starts an agent for {@code nodeName}.
     *
     * @throws IOException if an HTTP server cannot listen on the configured address
     */
    public static AgentProcess start(ServerAccess access, String nodeName, AgentOptions options) throws IOException {
        return start(access, nodeName, options, Optional.empty());
    }

    /**
     * The same, where the node's API also trusts clients whose certificates {@code authority} signed, unless the options
     * name another file of authorities.
     */
    public static AgentProcess start(
            ServerAccess access, String nodeName, AgentOptions options, Optional<Path> authority) throws IOException {
        AgentConfig config = options.config(nodeName);
        NodeAgent agent = new NodeAgent(access, config);
        ProcessFigures.register(agent.metrics().registry());
        AgentPages served = agent.pages();
        Optional<DebugServer> pages = Optional.empty();
        Optional<InetSocketAddress> address = config.serving().address();
        if (address.isPresent()) {
            Optional<Exposure> exposure = options.pages.exposure(address.get(), access, path -> right(nodeName, path));
            agent.clientCertificate().ifPresent(issued -> exposure.ifPresent(exposed -> issued.listen(exposed::renew)));
            pages = Optional.of(DebugServer.start(
                    "agent", "--healthz-port", address.get(), config.serving().orElseAny(), served, exposure));
        }
        Optional<NodeApi> offered = agent.api(served);
        Optional<NodeApiServer> api = offered.isPresent()
                ? Optional.of(NodeApiServer.start(
                        offered.get(),
                        config,
                        agent.servingCertificate(),
                        options.pages.identity(),
                        options.pages
                                .clientAuthorities()
                                .or(() -> config.nodeApi().clientAuthorities())
                                .or(() -> authority),
                        access))
                : Optional.empty();
        agent.clientCertificate().ifPresent(issued -> api.ifPresent(server -> issued.listen(server::renew)));
        agent.start();
        return new AgentProcess(agent, pages, api);
    }

    /** Statistics require the rights that a kubelet requires, so that its clients need no others. */
    static PageRight right(String nodeName, String path) {
        return switch (path) {
            case "/stats/summary" -> new PageRight.NodePart(nodeName, "stats");
            case "/metrics/resource" -> new PageRight.NodePart(nodeName, "metrics");
            default -> new PageRight.Path(path);
        };
    }

    /** Completes when the Node is registered. */
    public CompletableFuture<Void> registered() {
        return agent.registered();
    }

    public void stop() {
        api.ifPresent(NodeApiServer::close);
        pages.ifPresent(DebugServer::stop);
        agent.stop();
    }

    /** The node's name: {@code --node-name}, or the host name. */
    public static String nodeName(AgentOptions options) {
        return AgentConfig.nodeName(options.nodeName.orElseGet(LinuxHost::hostname));
    }
}
