package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.config.PodSecurityConfig;
import io.nodekeeper.agent.config.StaticPodConfig;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PlegConfig;
import io.nodekeeper.agent.pleg.PlegMetrics;
import io.nodekeeper.agent.plugins.FakePlugins;
import io.nodekeeper.agent.pods.cgroups.PodCgroups;
import io.nodekeeper.agent.pods.cgroups.PodParent;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.containers.Seccomp;
import io.nodekeeper.agent.pods.model.PodCounts;
import io.nodekeeper.agent.pods.model.PodMetrics;
import io.nodekeeper.agent.pods.mounts.FakeMounts;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.persistent.PersistentVolumes;
import io.nodekeeper.agent.pods.persistent.VolumePorts;
import io.nodekeeper.agent.pods.probes.NodeProber;
import io.nodekeeper.agent.pods.probes.ProbeMetrics;
import io.nodekeeper.agent.pods.probes.ProbePorts;
import io.nodekeeper.agent.pods.registry.NodeCredentials;
import io.nodekeeper.agent.pods.security.SecurityAdmission;
import io.nodekeeper.agent.pods.security.SimulatedSupport;
import io.nodekeeper.agent.pods.sources.PodSources;
import io.nodekeeper.agent.pods.turns.StartTurns;
import io.nodekeeper.agent.pods.turns.StopTurns;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schemas;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Pods of an API server and of manifests on a simulated runtime, with everything in between, in virtual time. */
abstract class SimulatedNode {
    private static final Duration CALL = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    final VirtualTime.VirtualLoop loop = time.loop("agent");
    final FakeRuntime runtime = new FakeRuntime(loop);
    /** Work on the files of pods. */
    final AtOnce files = new AtOnce();

    final FakeTransport transport = new FakeTransport();
    final Map<String, JsonObject> pods = new LinkedHashMap<>();
    final List<JsonObject> services = new ArrayList<>();
    int serviceReads;
    final Map<String, JsonObject> secrets = new LinkedHashMap<>();
    final Map<String, JsonObject> runtimeClasses = new LinkedHashMap<>();
    final List<String> events = new ArrayList<>();
    private Optional<Agent> agent = Optional.empty();
    private int copies;
    /** The newest version of an object. */
    private int versions = 1;

    /** Bytes for the pods of the API. */
    long podMemory = 32 << 20;

    /** Whether the node has no error of the runtime. */
    boolean runtimeWorks = true;

    StopTurns stops = StopTurns.ofNode();
    StaticPodConfig manifests = StaticPodConfig.DEFAULT;
    PodSecurityConfig security = PodSecurityConfig.DEFAULT;
    SimulatedSupport support = new SimulatedSupport();
    Optional<Node> node = Optional.empty();
    Optional<PodCgroups> cgroups = Optional.empty();
    NodeResources resources = NodeResources.NONE;
    /** The last numbers for the metrics. */
    Optional<PodCounts> counts = Optional.empty();

    final List<String> rejections = new ArrayList<>();
    private final PodMetrics metrics = new PodMetrics() {
        @Override
        public void counted(PodCounts now) {
            counts = Optional.of(now);
        }

        @Override
        public void rejected(String reason) {
            rejections.add(reason);
        }
    };

    /** If it is another one than that in the directory. */
    Optional<Path> resolvConf = Optional.empty();

    /** An agent with its watch of the runtime. */
    private record Agent(Pleg pleg, PodManager manager) {}

    @BeforeEach
    void server() {
        transport.answer(this::serve);
    }

    void delete(String name) {
        change(
                name,
                stored(name)
                        .update("metadata", metadata -> metadata.with("deletionTimestamp", "2026-01-01T00:00:40Z")));
    }

    /** The same with a grace period. */
    void delete(String name, int seconds) {
        change(
                name,
                stored(name)
                        .update(
                                "metadata",
                                metadata -> metadata.with("deletionTimestamp", "2026-01-01T00:00:40Z")
                                        .with("deletionGracePeriodSeconds", Json.parse(Integer.toString(seconds)))));
    }

    String ready(String name) {
        return stored(name)
                .object("status")
                .array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals("Ready"))
                .findFirst()
                .orElseThrow()
                .text("status");
    }

    /** Starts an agent with a pod, which is deleted with ten minutes to end, and whose container does not stop until it is healed. */
    void startAndDeleteSlowly(String name) {
        add(name);
        start(110);
        advance(5);
        runtime.hang("StopContainer");
        delete(name, 600);
        advance(5);
    }

    /** A pod with more fields of its container and of its spec. */
    void add(String name, String container, String spec) {
        change(name, Json.parseObject("""
                {"metadata": {"name": "%1$s", "namespace": "shop", "uid": "uid-%1$s", "resourceVersion": "1"},
                 "spec": {"nodeName": "n1", "containers": [{"name": "app", "image": "app:1"%2$s}]%3$s},
                 "status": {"phase": "Pending"}}
                """.formatted(name, container.isEmpty() ? "" : ", " + container, spec)));
    }

    void start(int maxPods) {
        agent.ifPresent(old -> {
            old.manager().stop();
            old.pleg().stop();
        });
        KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(10));
        Pleg pleg = new Pleg(runtime, loop, PlegConfig.PARALLEL, PlegMetrics.NONE);
        ObjectCache objects = new ObjectCache(client, 16 << 20);
        PodPorts ports = new PodPorts(
                runtime,
                new StartTurns(loop, 4),
                stops,
                CALL,
                client,
                (about, type, reason, message) -> events.add(about.name() + " " + type + " " + reason + " " + message),
                loop,
                objects,
                new PodFiles(directory.resolve("root"), directory.resolve("logs"), new FakeMounts()),
                files,
                new HostDisk(new AtOnce(), 110),
                resolvConf.orElse(directory.resolve("resolv.conf")),
                () -> NodeSettings.of(
                        "n1",
                        node,
                        directory.resolve("logs"),
                        List.of(),
                        "",
                        PodParent.NONE,
                        Seccomp.of(directory, false)),
                ProbePorts.of(new NodeProber(runtime, loop), loop, Randoms.seeded(2), ProbeMetrics.NONE),
                cgroups.map(files ->
                        new NodeCgroups(files, new AtOnce(), loop, (fine, message) -> events.add("node " + message))),
                resources,
                volumes(client, objects),
                new NodeCredentials(directory.resolve("root"), directory.resolve("home")),
                metrics);
        AtOnce disk = new AtOnce();
        PodManager manager = new PodManager(
                ports,
                pleg,
                new Works(),
                changed -> new PodSources(
                        client, "n1", () -> node, manifests, podMemory, disk::call, Randoms.seeded(1), changed),
                () -> node,
                maxPods,
                new SecurityAdmission(security, support),
                pod -> false);
        agent = Optional.of(new Agent(pleg, manager));
        pleg.start();
        loop.execute(manager::start);
    }

    private PersistentVolumes volumes(KubeClient client, ObjectCache objects) {
        return new PersistentVolumes(new VolumePorts(
                "n1",
                directory.resolve("root"),
                client,
                objects,
                loop,
                new AtOnce(),
                new FakePlugins(loop),
                driver -> Optional.empty(),
                true,
                () -> {},
                (pod, reason, message) -> events.add(pod.name() + " Warning " + reason + " " + message)));
    }

    PodManager manager() {
        return agent.orElseThrow().manager();
    }

    Pleg pleg() {
        return agent.orElseThrow().pleg();
    }

    void advance(int seconds) {
        for (int second = 0; second < seconds; second++) {
            time.advance(Duration.ofSeconds(1));
            manager().tick();
        }
        time.advance(Duration.ofMillis(1));
    }

    /** The seconds that each stop of a container gave it. */
    List<Long> graces() {
        return runtime.calls().stream()
                .filter(RuntimeCall.StopContainer.class::isInstance)
                .map(call -> ((RuntimeCall.StopContainer) call).grace().toSeconds())
                .toList();
    }

    /** The calls that changed something, or asked for an image. */
    List<String> calls() {
        return runtime.calls().stream()
                .map(call -> call.method())
                .filter(method -> !method.startsWith("List")
                        && !method.equals("PodSandboxStatus")
                        && !method.equals("ContainerStatus"))
                .toList();
    }

    String phase(String name) {
        return stored(name).object("status").text("phase");
    }

    /** The only container of a pod, as the pod's status has it. */
    JsonObject containerStatus(String name) {
        return stored(name)
                .object("status")
                .array("containerStatuses")
                .objects()
                .findFirst()
                .orElseThrow();
    }

    /** Its state. */
    JsonObject containerState(String name) {
        return containerStatus(name).object("state");
    }

    /** What the only container of a pod said about its end. */
    String terminationMessage(String name) {
        return containerState(name).object("terminated").text("message");
    }

    JsonObject stored(String name) {
        return Objects.requireNonNull(pods.get(name), name);
    }

    static JsonObject pod(String name) {
        return Json.parseObject("""
                {"metadata": {"name": "%1$s", "namespace": "shop", "uid": "uid-%1$s", "resourceVersion": "1"},
                 "spec": {"nodeName": "n1", "containers": [{"name": "app", "image": "app:1"}]},
                 "status": {"phase": "Pending"}}
                """.formatted(name));
    }

    void add(String name) {
        change(name, pod(name));
    }

    void change(String name, JsonObject pod) {
        JsonObject kept =
                pods.containsKey(name) ? pod.with("status", pods.get(name).object("status")) : pod;
        pods.put(name, kept);
        tell("MODIFIED", kept);
    }

    /** Somebody else changes the status of a pod. */
    void overwrite(String name, UnaryOperator<JsonObject> status) {
        JsonObject changed = stored(name)
                .with("status", status.apply(stored(name).object("status")))
                .update("metadata", metadata -> metadata.with("resourceVersion", Integer.toString(++versions)));
        pods.put(name, changed);
        tell("MODIFIED", changed);
    }

    void tell(String type, JsonObject pod) {
        transport.watches().stream()
                .filter(watch -> !watch.cancelled())
                .forEach(watch -> loop.execute(() -> watch.event(type, pod)));
    }

    Optional<Reply> serve(Call call) {
        String[] words = call.toString().split(" ");
        if (words[1].startsWith("/api/v1/pods?")) {
            return Optional.of(FakeTransport.reply(
                    200,
                    JsonObject.builder()
                            .put(
                                    "metadata",
                                    JsonObject.builder()
                                            .put("resourceVersion", "1")
                                            .build())
                            .put("items", new JsonArray(List.<JsonValue>copyOf(pods.values())))
                            .build()));
        }
        if (words[1].startsWith("/api/v1/namespaces/shop/services?")) {
            serviceReads++;
            return Optional.of(FakeTransport.reply(
                    200,
                    JsonObject.builder()
                            .put("items", new JsonArray(List.<JsonValue>copyOf(services)))
                            .build()));
        }
        if (words[0].equals("POST")) {
            JsonObject created = Json.parseObject(call.body())
                    .update("metadata", metadata -> metadata.with("uid", "copy-" + ++copies));
            String made = created.object("metadata").text("name");
            if (pods.containsKey(made)) {
                return Optional.of(FakeTransport.reply(409, JsonObject.EMPTY));
            }
            pods.put(made, created);
            tell("ADDED", created);
            return Optional.of(FakeTransport.reply(201, created));
        }
        if (words[1].startsWith("/apis/node.k8s.io/v1/runtimeclasses/")) {
            Optional<JsonObject> found = Optional.ofNullable(runtimeClasses.get(words[1].replaceFirst(".*/", "")));
            return Optional.of(FakeTransport.reply(found.isPresent() ? 200 : 404, found.orElse(JsonObject.EMPTY)));
        }
        if (words[1].contains("/secrets/")) {
            JsonObject secret = secrets.get(words[1].replaceFirst(".*/", ""));
            return Optional.of(
                    FakeTransport.reply(secret == null ? 404 : 200, secret == null ? JsonObject.EMPTY : secret));
        }
        String name = words[1].replaceFirst("/status$", "").replaceFirst(".*/", "");
        JsonObject pod = pods.get(name);
        if (pod == null) {
            return Optional.of(FakeTransport.reply(404, JsonObject.EMPTY));
        }
        if (words[0].equals("DELETE")) {
            pods.remove(name);
            tell("DELETED", pod);
            return Optional.of(FakeTransport.reply(200, pod));
        }
        JsonObject patch = JsonObject.builder()
                .put("status", Json.parseObject(call.body()).object("status"))
                .build();
        JsonObject changed = StrategicMergePatch.apply(pod, patch, Schemas.POD)
                .update("metadata", metadata -> metadata.with("resourceVersion", Integer.toString(++versions)));
        pods.put(name, changed);
        tell("MODIFIED", changed);
        return Optional.of(FakeTransport.reply(200, changed));
    }

    /** What the node knows about the runtime and its network. */
    private final class Works implements PodWorker.Readiness {
        @Override
        public boolean runtime() {
            return runtimeWorks;
        }

        @Override
        public Optional<String> networkError() {
            return Optional.empty();
        }

        @Override
        public String runtimeName() {
            return "containerd";
        }
    }
}
