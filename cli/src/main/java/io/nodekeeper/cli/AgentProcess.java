package io.nodekeeper.cli;

import io.nodekeeper.agent.Agent;
import io.nodekeeper.agent.AgentPorts;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.config.ConfigFile;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.metrics.StartupTracker;
import io.nodekeeper.agent.runtime.NoRuntime;
import io.nodekeeper.agent.runtime.RuntimeView;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.client.ApiEventRecorder;
import io.nodekeeper.client.EventRecorder;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.ServerAccess;
import io.nodekeeper.client.Version;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The wiring of an agent. */
final class AgentProcess {
    private static final Logger log = LoggerFactory.getLogger(AgentProcess.class);
    /** Where containerd listens unless told otherwise. */
    private static final Path CONTAINERD = Path.of("/run/containerd/containerd.sock");
    /** The deadline of calls that are not heartbeats (client-go's usual 30 s would outlast a grace period). Chosen. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    /** Enough for each kind of fact to hang and one more. Chosen. */
    private static final int WORKERS = 6;

    private final ThreadLoop loop = new ThreadLoop("agent");
    private final Workers workers = new Workers("facts", WORKERS, loop);
    private final LoopMonitor loops = new LoopMonitor(loop.clock());
    private final AgentMetrics metrics;
    private final HttpTransport transport;
    private final NodeCache nodes;
    private final Optional<NodeRuntime> runtime;
    private final Agent agent;
    private Optional<AgentServer> pages = Optional.empty();

    private AgentProcess(ServerAccess access, AgentConfig config) {
        RandomGenerator random = Randoms.secure();
        transport = new HttpTransport(access);
        KubeClient client = new KubeClient(transport, loop, CALL_TIMEOUT);
        Duration heartbeat = Duration.ofSeconds(config.nodeLeaseDurationSeconds());
        KubeClient heartbeats = client.withTimeout(
                heartbeat.compareTo(config.nodeStatusUpdateFrequency()) < 0
                        ? heartbeat
                        : config.nodeStatusUpdateFrequency());
        nodes = new NodeCache(client, Selection.named(ResourceType.NODES, config.nodeName()), random);
        EventRecorder events = new ApiEventRecorder(client, "kubelet", config.nodeName(), random);
        AgentPorts ports = new AgentPorts(
                client,
                heartbeats,
                loop,
                nodes,
                events,
                random,
                "v1.32.0+nodekeeper-" + Version.current(),
                () -> log.warn("Heartbeats fail repeatedly; each failed call has given its connection up"));
        Duration age = age(loop.clock().wallTime());
        metrics = new AgentMetrics(loops, loop.clock().wallTime().minus(age));
        metrics.nodeName(config.nodeName());
        metrics.cgroupVersion(LinuxHost.cgroupVersion());
        StartupMarks marks = new StartupMarks(
                metrics,
                new StartupTracker(LinuxHost.uptime().minus(age), loop.clock().nanoTime() - age.toNanos()),
                loop.clock());
        runtime = config.runtime()
                .socket(usualSocket())
                .map(socket -> new NodeRuntime(socket, config, loop, events, metrics, loops, random));
        agent = new Agent(
                config,
                ports,
                new LinuxHost(Path.of("/"), config.rootDir(), workers),
                runtime.<RuntimeView>map(NodeRuntime::watch).orElse(new NoRuntime()),
                loops,
                marks);
    }

    /**
     * Starts an agent that speaks for {@code nodeName}.
     *
     * @throws IOException if the address of its pages cannot be had
     */
    static AgentProcess start(ServerAccess access, String nodeName, AgentOptions options) throws IOException {
        AgentConfig config = config(nodeName, options);
        AgentProcess process = new AgentProcess(access, config);
        process.pages = AgentServer.start(
                config.serving(), process.loop, process.loops, process.metrics, process.agent, process.runtime);
        process.nodes.start();
        process.runtime.ifPresent(runtime -> runtime.watch().start());
        process.agent.start();
        return process;
    }

    /** Completes once the Node is in the API. */
    CompletableFuture<Void> registered() {
        return agent.registered();
    }

    void stop() {
        pages.ifPresent(AgentServer::stop);
        agent.stop();
        runtime.ifPresent(NodeRuntime::stop);
        nodes.stop();
        transport.close();
        workers.close();
        loop.close();
    }

    /** The name that the node has. */
    static String nodeName(AgentOptions options) {
        return AgentConfig.nodeName(options.nodeName.orElseGet(LinuxHost::hostname));
    }

    private static AgentConfig config(String nodeName, AgentOptions options) {
        AgentConfigBuilder builder = new AgentConfigBuilder(nodeName);
        options.config.ifPresent(file -> ConfigFile.load(file, builder));
        options.heartbeat.leaseDurationSeconds.ifPresent(builder::nodeLeaseDurationSeconds);
        options.heartbeat.statusUpdateFrequency.ifPresent(builder::nodeStatusUpdateFrequency);
        options.nodeIp.ifPresent(ip -> builder.nodeIps(addresses(ip)));
        if (!options.labels.isEmpty()) {
            builder.nodeLabels(options.labels);
        }
        if (!options.taints.isEmpty()) {
            builder.registerWithTaints(
                    options.taints.stream().map(AgentProcess::taint).toList());
        }
        options.configure(builder);
        return builder.registerNode(options.registerNode)
                .rootDir(existing(options.rootDir))
                .build();
    }

    /** How long ago this process began. */
    private static Duration age(Instant now) {
        return ProcessHandle.current()
                .info()
                .startInstant()
                .map(start -> Duration.between(start, now))
                .filter(Duration::isPositive)
                .orElse(Duration.ZERO);
    }

    /** containerd's, if it is there. */
    private static Optional<Path> usualSocket() {
        return Optional.of(CONTAINERD).filter(Files::exists);
    }

    /** The directory, or the nearest one above it that is there: the file system is what counts. */
    private static Path existing(Path directory) {
        Path path = directory.toAbsolutePath();
        while (path != null && !Files.isDirectory(path)) {
            path = path.getParent();
        }
        return path == null ? Path.of("/") : path;
    }

    private static List<InetAddress> addresses(String text) {
        return List.of(text.split(",")).stream()
                .map(String::strip)
                .map(address -> {
                    if (!Issuer.isAddress(address)) {
                        throw new IllegalArgumentException(
                                "--node-ip is \"" + text + "\"; expected an IP address, or two separated by a comma");
                    }
                    try {
                        return InetAddress.getByName(address);
                    } catch (UnknownHostException e) {
                        throw new IllegalArgumentException(
                                "--node-ip has \"" + address + "\", which is no IP address", e);
                    }
                })
                .toList();
    }

    /** A taint as flags write it: {@code key=value:Effect} or {@code key:Effect}. */
    private static Taint taint(String text) {
        int colon = text.lastIndexOf(':');
        int equals = text.indexOf('=');
        boolean valued = equals >= 0 && equals < colon;
        return new Taint(JsonObject.builder()
                .put("key", text.substring(0, valued ? equals : colon))
                .putUnlessEmpty("value", valued ? text.substring(equals + 1, colon) : "")
                .put("effect", text.substring(colon + 1))
                .build());
    }
}
