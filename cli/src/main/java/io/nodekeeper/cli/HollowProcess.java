package io.nodekeeper.cli;

import io.nodekeeper.agent.Agent;
import io.nodekeeper.agent.AgentPorts;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.host.HollowHost;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.ApiEventRecorder;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.ServerAccess;
import io.nodekeeper.client.Version;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** The wiring of many agents with made-up facts, which share a loop, the connections and one watch of nodes. */
final class HollowProcess {
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    /** Nodes that start at once; each that is registered lets the next one start, so the server sets the pace. Chosen. */
    private static final int STARTING = 50;

    private final ThreadLoop loop = new ThreadLoop("hollow");
    private final HttpTransport transport;
    private final NodeCache nodes;
    private final List<Agent> agents = new ArrayList<>();
    private int started;
    private int registered;

    private HollowProcess(ServerAccess access, HollowOptions options) {
        RandomGenerator random = Randoms.secure();
        transport = new HttpTransport(access);
        KubeClient client = new KubeClient(transport, loop, CALL_TIMEOUT);
        nodes = new NodeCache(client, Selection.all(ResourceType.NODES), random);
        for (int number = 0; number < options.count; number++) {
            String name = options.prefix + number;
            AgentConfigBuilder config = new AgentConfigBuilder(name);
            options.heartbeat.leaseDurationSeconds.ifPresent(config::nodeLeaseDurationSeconds);
            options.heartbeat.statusUpdateFrequency.ifPresent(config::nodeStatusUpdateFrequency);
            AgentPorts ports = new AgentPorts(
                    client,
                    client,
                    loop,
                    nodes,
                    new ApiEventRecorder(client, "kubelet", name, random),
                    random,
                    "v1.32.0+nodekeeper-" + Version.current(),
                    () -> {});
            agents.add(new Agent(config.build(), ports, new HollowHost(name, number)));
        }
    }

    /** Starts the nodes and tells on {@code out} how far it is. */
    static HollowProcess start(ServerAccess access, HollowOptions options, PrintWriter out) {
        HollowProcess process = new HollowProcess(access, options);
        process.nodes.start();
        process.loop.execute(() -> {
            for (int number = 0; number < STARTING; number++) {
                process.startNext(out);
            }
        });
        return process;
    }

    private void startNext(PrintWriter out) {
        if (started == agents.size()) {
            return;
        }
        Agent agent = agents.get(started++);
        agent.registered().thenRun(() -> {
            registered++;
            if (registered == agents.size()) {
                out.println("ready " + registered + " hollow nodes registered");
            } else if (registered % 1_000 == 0) {
                out.println(registered + " of " + agents.size() + " hollow nodes registered");
            }
            startNext(out);
        });
        agent.start();
    }

    void stop() {
        agents.forEach(Agent::stop);
        nodes.stop();
        transport.close();
        loop.close();
    }
}
