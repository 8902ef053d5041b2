package io.nodekeeper.agent;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.host.HollowHost;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.CountingTransport;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.random.RandomGenerator;

/**
 * Many agents with invented facts in one process, for load tests. They share a loop, the connections and one watch of all
 * nodes. {@link #start} and {@link #stop} may be called from any thread.
 */
public final class HollowNodes {
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    /**
     * Nodes that register at the same time. Each registered node starts the next one, so the server sets the pace; 50 calls
     * keep the shared connections busy, and fewer than a server's default limit of requests in flight (400).
     */
    private static final int STARTING = 50;

    private final ThreadLoop loop = new ThreadLoop("hollow");
    private final CountingTransport transport;
    private final NodeCache nodes;
    private final List<Agent> agents = new ArrayList<>();
    private final IntConsumer progress;
    private int started;
    private int registered;

    /**
     * Nodes that are not started yet.
     *
     * @param configs one for each node; their names differ
     * @param progress gets the number of registered nodes each time it grows, on the loop
     */
    public HollowNodes(ServerAccess access, List<AgentConfig> configs, IntConsumer progress) {
        this.progress = progress;
        RandomGenerator random = Randoms.secure();
        transport = new CountingTransport(new HttpTransport(access));
        KubeClient client = new KubeClient(transport, loop, CALL_TIMEOUT);
        nodes = new NodeCache(client, Selection.all(ResourceType.NODES), random);
        for (AgentConfig config : configs) {
            String name = config.nodeName();
            AgentPorts ports = new AgentPorts(
                    client,
                    client,
                    loop,
                    nodes,
                    new ApiEventRecorder(client, "kubelet", name, random),
                    random,
                    NodeAgent.VERSION,
                    () -> {});
            agents.add(Agent.withoutRuntime(config, ports, new HollowHost(name, agents.size())));
        }
    }

    /** Starts to register the nodes. */
    public void start() {
        nodes.start();
        loop.execute(() -> {
            for (int number = 0; number < STARTING; number++) {
                startNext();
            }
        });
    }

    /** Stops all agents and closes the connections. The Nodes stay in the API. */
    public void stop() {
        agents.forEach(Agent::stop);
        nodes.stop();
        transport.close();
        loop.close();
    }

    /** The results of all requests so far. */
    public CountingTransport.Counts requests() {
        return transport.counts();
    }

    private void startNext() {
        if (started == agents.size()) {
            return;
        }
        Agent agent = agents.get(started++);
        agent.registered().thenRun(() -> {
            registered++;
            progress.accept(registered);
            startNext();
        });
        agent.start();
    }
}
