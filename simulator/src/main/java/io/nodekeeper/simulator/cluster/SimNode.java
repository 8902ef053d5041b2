package io.nodekeeper.simulator.cluster;

import io.nodekeeper.agent.Agent;
import io.nodekeeper.agent.AgentPorts;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.host.HollowHost;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.simulator.network.SimNetwork;
import io.nodekeeper.simulator.network.SimTransport;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** A simulated node: the real agent on a simulated host. Confined to virtual time. */
final class SimNode extends SimProcess {
    /** The timeout of a real agent's calls. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);

    private final SimNetwork network;
    private final RandomGenerator seeds;
    private final AgentConfig config;
    private final HollowHost host;
    private final User user;
    private final boolean pods;
    private Optional<SimTransport> transport = Optional.empty();

    /** {@code seeds} gives each life of the agent its own randomness. */
    SimNode(VirtualTime time, SimNetwork network, String name, int number, RandomGenerator seeds, ClusterSetup setup) {
        super(time, name);
        this.network = network;
        this.seeds = seeds;
        this.pods = setup.pods();
        this.config = new AgentConfigBuilder(name)
                .nodeLeaseDurationSeconds(setup.leaseDurationSeconds())
                .build();
        this.host = new HollowHost(name, number);
        this.user = User.authenticated("system:node:" + name, List.of("system:nodes"));
    }

    @Override
    void boot(VirtualTime.VirtualLoop loop) {
        RandomGenerator random = Randoms.seeded(seeds.nextLong());
        SimTransport connected = new SimTransport(network, cable(), user);
        transport = Optional.of(connected);
        KubeClient client = new KubeClient(connected, loop, CALL_TIMEOUT);
        NodeCache nodes = new NodeCache(client, Selection.named(ResourceType.NODES, name()), random);
        ApiEventRecorder events = new ApiEventRecorder(client, "kubelet", name(), random);
        AgentPorts ports =
                new AgentPorts(client, client, loop, nodes, events, random, "v1.32.0+nodekeeper-simulated", () -> {});
        nodes.start();
        if (pods) {
            new PodKeeper(client, name(), random).start();
        }
        Agent.withoutRuntime(config, ports, host).start();
    }

    @Override
    void halt() {
        transport.ifPresent(SimTransport::close);
        transport = Optional.empty();
    }
}
