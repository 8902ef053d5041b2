package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.csi.CsiHandler;
import io.nodekeeper.agent.csi.CsiNodes;
import io.nodekeeper.agent.facts.NodeStorage;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.plugins.PluginManager;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.persistent.PersistentVolumes;
import io.nodekeeper.agent.pods.persistent.VolumePorts;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.cri.plugin.GrpcPlugins;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import io.nodekeeper.time.Workers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/** Creates all parts that find plugins and mount persistent volumes, and owns their threads. */
final class StorageAssembly implements NodeStorage {
    /** The kubelet's directory for sockets of plugins, below its root directory. */
    private static final Path PLUGINS = Path.of("plugins_registry");
    /** How often volumes without pods are looked for. */
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final Workers disk;
    private final GrpcPlugins calls;
    private final CsiNodes nodes;
    private final PersistentVolumes volumes;
    private final PluginManager plugins;
    private final Loop loop;
    private final RandomGenerator random;
    private Runnable changed = () -> {};
    private Optional<Periodic> period = Optional.empty();

    /** Parts that are not started yet. */
    StorageAssembly(
            AgentConfig config,
            KubeClient client,
            NodeCache cache,
            ObjectCache objects,
            EventRecorder events,
            Loop loop,
            RandomGenerator random) {
        this.loop = loop;
        this.random = random;
        // For the directory of plugins and the agent's own files beside volumes; none of them is on a volume.
        disk = new Workers("volumes", 2, loop);
        calls = new GrpcPlugins(loop);
        String name = config.nodeName();
        nodes = new CsiNodes(name, client, () -> cache.node(name));
        CsiHandler csi = new CsiHandler(calls, nodes);
        PodEvents warnings = new PodEvents(events);
        volumes = new PersistentVolumes(new VolumePorts(
                name,
                config.rootDir(),
                client,
                objects,
                loop,
                disk,
                calls,
                csi::driver,
                config.enableControllerAttachDetach(),
                () -> changed.run(),
                warnings::warning));
        plugins = new PluginManager(
                config.rootDir().resolve(PLUGINS), calls, Map.of(CsiHandler.TYPE, csi), disk, loop, random);
    }

    PersistentVolumes volumes() {
        return volumes;
    }

    /**
     * Begins to find plugins, and what earlier agents have mounted. To be called on the loop.
     *
     * @param changed called when the node's status has something new about volumes
     */
    void start(Runnable changed) {
        this.changed = changed;
        nodes.start(changed);
        plugins.start();
        period = Optional.of(Periodic.start("volumes", loop, PERIOD, 0, random, () -> {
            volumes.tick();
            return CompletableFuture.completedFuture(null);
        }));
    }

    /** Stops the parts; what is mounted stays mounted. */
    void stop() {
        plugins.stop();
        loop.execute(() -> {
            period.ifPresent(Periodic::stop);
            nodes.stop();
            calls.close();
        });
        disk.close();
    }

    @Override
    public Optional<List<String>> volumesInUse() {
        return volumes.inUse();
    }

    @Override
    public void reported(List<String> names) {
        volumes.reported(names);
    }

    @Override
    public void registered(String uid) {
        nodes.registered(uid);
    }

    @Override
    public List<String> errors() {
        return nodes.fault().stream().toList();
    }
}
