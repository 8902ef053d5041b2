package io.nodekeeper.agent.companion;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.agent.config.ConfigException;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.pages.AgentPages;
import io.nodekeeper.agent.problems.OpenFilesCheck;
import io.nodekeeper.agent.problems.ProblemAssembly;
import io.nodekeeper.agent.runtime.RuntimeAssembly;
import io.nodekeeper.agent.runtime.RuntimeWatch;
import io.nodekeeper.agent.status.DuplicateNode;
import io.nodekeeper.agent.status.NodeEvent;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agent beside a kubelet: creates all parts, starts them and stops them. It watches the container runtime, the node and
 * the kubelet, and writes only its own conditions and events. It owns its threads and connections. One process has one.
 * {@link #start} and {@link #stop} are called once each, from any thread.
 */
public final class CompanionAgent {
    /** The component in the source of its events. */
    public static final String COMPONENT = "nodekeeper-companion";

    private static final Logger log = LoggerFactory.getLogger(CompanionAgent.class);
    /** Where containerd listens by default. */
    private static final Path CONTAINERD = Path.of("/run/containerd/containerd.sock");

    private static final Path PROC = Path.of("/proc");
    /** One period of the kubelet's status updates, as in {@code NodeAgent}. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    /** How often conditions are compared with the Node: a change is written within 1 s. */
    private static final Duration PULSE = Duration.ofSeconds(1);
    /** How long {@link #stop} waits for its last write; a pod has 30 s to end. */
    private static final Duration LAST_WRITE = Duration.ofSeconds(5);

    private final String nodeName;
    private final ThreadLoop loop = new ThreadLoop("companion");
    private final LoopMonitor loops = new LoopMonitor(loop.clock());
    private final LoopMonitor.Beat beat = loops.loop("companion", PULSE);
    private final RandomGenerator random = Randoms.secure();
    private final AgentMetrics metrics;
    private final HttpTransport transport;
    private final List<Transport> kubeletTransports = new ArrayList<>();
    private final NodeCache nodes;
    private final Optional<RuntimeAssembly> runtime;
    private final Optional<ProblemAssembly> problems;
    private final KubeletWatch kubelet;
    private final KubeletOutlook outlook;
    private final DuplicateNode duplicate;
    private final Consumer<NodeEvent> tell;
    private final ConditionWriter writer;
    private final List<Periodic> periods = new ArrayList<>();
    private Optional<ThreadLoop> pagesTimer = Optional.empty();

    /**
     * A companion that is not started yet; reads files below {@code /proc}, makes no calls.
     *
     * @param config of its fields count: name, runtime, rules, feature gates, and the root directory, which is the kubelet's
     * @throws ConfigException if this process has too few file descriptors
     */
    public CompanionAgent(ServerAccess access, AgentConfig config, KubeletAccess kubeletAccess) {
        List<String> faults = new ArrayList<>();
        OpenFilesCheck.limitFault().ifPresent(faults::add);
        try {
            OpenFilesCheck.openJars();
        } catch (IOException e) {
            faults.add("the agent's jars cannot be opened: " + e.getMessage());
        }
        if (!faults.isEmpty()) {
            throw new ConfigException(faults);
        }
        nodeName = config.nodeName();
        transport = new HttpTransport(access);
        KubeClient client = new KubeClient(transport, loop, CALL_TIMEOUT);
        nodes = new NodeCache(client, Selection.named(ResourceType.NODES, nodeName), random);
        ApiEventRecorder events = new ApiEventRecorder(client, COMPONENT, nodeName, random);
        metrics = new AgentMetrics(loops);
        metrics.nodeName(nodeName);
        Optional<Path> socket = config.runtime().socket(Optional.of(CONTAINERD).filter(Files::exists));
        runtime = socket.map(path -> new RuntimeAssembly(path, config, loop, events, metrics, loops, random));
        HostView host = HostView.of(PROC);
        tell = event -> event.record(events, nodeName);
        problems = config.gates().has(AgentFeature.NODE_PROBLEMS)
                ? Optional.of(new ProblemAssembly(
                        host.mounts(),
                        config.rootDir(),
                        config.problemRules(),
                        transport::serverDate,
                        path -> LinuxHost.ask(host.path(path)),
                        loop,
                        random,
                        event -> new NodeEvent(event.type(), event.reason(), event.message())
                                .record(events.of(event.source()), nodeName)))
                : Optional.empty();
        HttpTransport health = new HttpTransport(kubeletAccess.health());
        kubeletTransports.add(health);
        Optional<Transport> scrapes = kubeletAccess.metrics(access, nodeName).map(HttpTransport::new);
        scrapes.ifPresent(kubeletTransports::add);
        kubelet = new KubeletWatch(health, scrapes, loop, random);
        outlook = new KubeletOutlook(tell);
        duplicate = new DuplicateNode(LinuxHost.bootId());
        writer = new ConditionWriter(nodeName, client, random);
    }

    /** Starts all parts. */
    public void start() {
        log.info("Companion of the kubelet on node {}: it writes only its own conditions and events", nodeName);
        nodes.start();
        runtime.ifPresent(assembly -> assembly.watch().start());
        problems.ifPresent(assembly -> assembly.problems().start());
        kubelet.start();
        loop.execute(() -> periods.add(Periodic.start("companion", loop, PULSE, 0, random, this::pulse)));
    }

    /** The companion's metrics, as its page {@code /metrics} shows them. */
    public AgentMetrics metrics() {
        return metrics;
    }

    /** The HTTP pages, for a server to serve until {@link #stop}; called once at most. */
    public AgentPages pages() {
        ThreadLoop timer = new ThreadLoop("companion-pages");
        pagesTimer = Optional.of(timer);
        AgentPages pages = new AgentPages(loops.checks(), readinessChecks(), metrics::scrape, loop, timer);
        runtime.ifPresent(assembly -> pages.with("/debug/runtime", assembly::page));
        return pages;
    }

    /** Sets its conditions to Unknown, if the API server answers in time, stops all parts and closes all connections. */
    public void stop() {
        pagesTimer.ifPresent(ThreadLoop::close);
        withdraw();
        kubelet.stop();
        problems.ifPresent(ProblemAssembly::stop);
        runtime.ifPresent(RuntimeAssembly::stop);
        nodes.stop();
        kubeletTransports.forEach(Transport::close);
        transport.close();
        loop.close();
    }

    private void withdraw() {
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null)
                .thenComposeAsync(
                        begun -> {
                            periods.forEach(Periodic::stop);
                            return writer.withdraw(nodes.node(nodeName), conditions());
                        },
                        (Loop) loop);
        try {
            done.get(LAST_WRITE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            log.warn("Node {}: its conditions stay as they are: the API server does not answer", nodeName);
        } catch (ExecutionException e) {
            log.warn("Node {}: its conditions stay as they are: {}", nodeName, Failures.text(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private CompletableFuture<Void> pulse() {
        beat.beat();
        Optional<Node> node = nodes.node(nodeName);
        Instant now = loop.clock().wallTime();
        outlook.update(facts(node, now), kubelet.observed() || runtime.isPresent(), now);
        node.ifPresent(
                stored -> duplicate.observe(stored, kubelet.runs(), loop.clock().nanoTime()));
        duplicate.news().ifPresent(tell);
        writer.update(node, conditions());
        return CompletableFuture.completedFuture(null);
    }

    private Forecast.Facts facts(Optional<Node> node, Instant now) {
        long nanos = loop.clock().nanoTime();
        Optional<RuntimeWatch> watch = runtime.map(RuntimeAssembly::watch);
        return new Forecast.Facts(
                node.flatMap(Node::ready)
                        .map(ready -> ready.status().equals(Condition.TRUE))
                        .orElse(true),
                kubelet.silence().map(now::minus),
                kubelet.metrics(),
                kubelet.scrapedAt(),
                watch.flatMap(RuntimeWatch::listAge).map(now::minus),
                watch.flatMap(RuntimeWatch::statusAge).map(now::minus),
                watch.map(RuntimeWatch::stuck).orElse(List.of()).stream()
                        .map(stuck -> new Forecast.Stuck(stuck.pod().toString(), now.minusNanos(nanos - stuck.since())))
                        .toList());
    }

    private List<ConditionReport> conditions() {
        List<ConditionReport> all = new ArrayList<>();
        runtime.ifPresent(assembly -> all.addAll(assembly.watch().conditions()));
        all.add(outlook.condition());
        duplicate.condition().ifPresent(all::add);
        problems.ifPresent(assembly -> all.addAll(assembly.problems().conditions()));
        return all;
    }

    private Map<String, Supplier<Optional<String>>> readinessChecks() {
        Map<String, Supplier<Optional<String>>> checks = new LinkedHashMap<>();
        checks.put(
                "written",
                () -> writer.written()
                        ? Optional.empty()
                        : Optional.of(
                                nodes.node(nodeName).isPresent()
                                        ? "the conditions were not written yet"
                                        : "the node " + nodeName + " is not in the API"));
        return checks;
    }
}
