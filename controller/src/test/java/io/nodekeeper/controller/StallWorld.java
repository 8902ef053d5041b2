package io.nodekeeper.controller;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.CanaryLease;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A simple API server in virtual time that can stall: it serves delayed calls later and in order, even if the client
 * has given up. It has nodes that renew their leases in a fixed rhythm until they die, and one controller. Times are
 * milliseconds since the start.
 */
final class StallWorld implements Transport {
    static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String NODES = "/api/v1/nodes";

    /** Of the lock of a leadership (Kubernetes' default). */
    private static final Duration RETRY_PERIOD = Duration.ofSeconds(2);

    /** What stalls. */
    enum Stall {
        API_SERVER,
        STORE,
        STORE_WRITES,
        WATCH,
        CONTROLLER
    }

    private static final class Machine {
        private final String name;
        private long nodeVersion;
        private long leaseVersion;
        private String renewTime = "";
        private Optional<JsonObject> written = Optional.empty();
        private String ready = "True";
        private long renewedAt;
        private OptionalLong unknownAt = OptionalLong.empty();
        private boolean pending;

        private Machine(String name) {
            this.name = name;
        }
    }

    private record Event(long version, String line) {}

    private final class Watch {
        private final String target;
        private final StreamHandler handler;
        private boolean ended;

        private Watch(String target, StreamHandler handler) {
            this.target = target;
            this.handler = handler;
        }

        private void tell(String line) {
            if (watchLag > 0) {
                world.schedule(Duration.ofMillis(watchLag), () -> deliver(line));
            } else {
                deliver(line);
            }
        }

        private void deliver(String line) {
            if (!ended) {
                handler.onLine(line.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    final VirtualTime time = new VirtualTime(START);
    final VirtualTime.VirtualLoop loop = time.loop("controller");
    final ControllerMetrics metrics = new ControllerMetrics();
    final List<Decision> decisions = new ArrayList<>();
    final List<String> events = new ArrayList<>();
    final Controller controller;
    /** The delay of all watch events, milliseconds. */
    long watchLag;
    /** The answers to these calls are refusals, given before anything is stored. */
    Function<Call, Optional<ApiException>> refuse = call -> Optional.empty();
    /** Calls that were received. */
    final Map<String, Integer> calls = new TreeMap<>();

    private final VirtualTime.VirtualLoop world = time.loop("world");
    private final VirtualTime.VirtualLoop election = time.loop("election");
    private final long grace;
    private final Map<String, Machine> machines = new LinkedHashMap<>();
    private final List<Watch> watches = new ArrayList<>();
    private final Map<String, List<Event>> history = new TreeMap<>();
    private final ArrayDeque<Runnable> heldByServer = new ArrayDeque<>();
    private final ArrayDeque<Runnable> heldByStore = new ArrayDeque<>();
    private final ArrayDeque<Runnable> heldByWatch = new ArrayDeque<>();
    private @Nullable Stall stall;
    private String canary = "";
    private long version = 100;

    /** A controller with this grace, seconds, that has not started. */
    StallWorld(int grace) {
        this.grace = 1_000L * grace;
        controller = new Controller(
                new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(grace), Duration.ofSeconds(60)),
                new ControllerPorts(
                        new KubeClient(this, loop, Duration.ofSeconds(10)),
                        loop,
                        component -> (about, type, reason, message) -> events.add(reason + ": " + message),
                        Randoms.seeded(1),
                        metrics,
                        decisions::add));
    }

    /** A node that renews its lease at {@code first}, then each {@code rhythm}, the last time before {@code death}. */
    void node(String name, long first, long rhythm, long death) {
        Machine machine = new Machine(name);
        machine.nodeVersion = ++version;
        machine.leaseVersion = ++version;
        machine.renewTime = renewTime();
        machines.put(name, machine);
        beat(machine, first, rhythm, death);
    }

    private void beat(Machine machine, long at, long rhythm, long death) {
        if (at >= death) {
            return;
        }
        world.schedule(Duration.ofMillis(at - now()), () -> {
            // An agent has one renewal under way at a time.
            if (!machine.pending) {
                machine.pending = true;
                serve(true, () -> renewed(machine));
            }
            beat(machine, at + rhythm, rhythm, death);
        });
    }

    private void renewed(Machine machine) {
        machine.pending = false;
        machine.renewedAt = now();
        machine.renewTime = renewTime();
        machine.leaseVersion = ++version;
        publish(LEASES, machine.leaseVersion, "MODIFIED", lease(machine));
    }

    /** From {@code at} on for {@code length} something stalls. */
    void stall(Stall kind, long at, long length) {
        if (length == 0) {
            return;
        }
        world.schedule(Duration.ofMillis(at - now()), () -> {
            stall = kind;
            if (kind == Stall.CONTROLLER) {
                loop.freeze();
                election.freeze();
            }
        });
        world.schedule(Duration.ofMillis(at + length - now()), () -> {
            stall = null;
            if (kind == Stall.CONTROLLER) {
                loop.thaw();
                election.thaw();
            }
            release(heldByServer);
            release(heldByStore);
            release(heldByWatch);
        });
    }

    private static void release(ArrayDeque<Runnable> held) {
        while (!held.isEmpty()) {
            held.poll().run();
        }
    }

    void start() {
        controller.start();
    }

    /** The controller's process renews the lock of its leadership from now on, as by Kubernetes' defaults. */
    void lead() {
        long sentAt = election.nanoTime();
        serve(
                true,
                () -> election.execute(() -> {
                    controller.leaseWritten(sentAt, election.nanoTime(), RETRY_PERIOD);
                    election.schedule(RETRY_PERIOD, this::lead);
                }));
    }

    /** Lets time pass until then. */
    void until(long millis) {
        time.advance(Duration.ofMillis(millis - now()));
    }

    long now() {
        return time.elapsed().toMillis();
    }

    /** When the grace of that node ended: after the last renewal that was stored. */
    long deadline(String name) {
        return machine(name).renewedAt + grace;
    }

    /** When that node was declared Unknown. */
    OptionalLong unknownAt(String name) {
        return machine(name).unknownAt;
    }

    /** What the controller shows of a node. */
    JsonObject facts(String name) {
        CompletableFuture<Optional<JsonObject>> facts = controller.view().node(name);
        time.advance(Duration.ZERO);
        return facts.join().orElseThrow();
    }

    /** What the controller says of its sight. */
    JsonObject sight() {
        CompletableFuture<JsonObject> sight = controller.view().sight();
        time.advance(Duration.ZERO);
        return sight.join();
    }

    /** The value of a metric with these labels. */
    String metric(String name) {
        return new String(metrics.scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .map(line -> line.substring(name.length() + 1))
                .findFirst()
                .orElse("none");
    }

    /** Refuses the canary's writes that {@code which} names, with this status. */
    void refuseCanary(int code, Predicate<Integer> which) {
        int[] number = {0};
        refuse = call -> !call.method().equals("GET") && call.target().startsWith(LEASES) && which.test(number[0]++)
                ? Optional.of(new ApiException(code, "Refused", "not this one"))
                : Optional.empty();
    }

    // The server.

    @Override
    public CompletableFuture<Reply> send(Call call) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        calls.merge(call.method() + " " + call.target().split("\\?")[0], 1, Integer::sum);
        boolean write = !call.method().equals("GET");
        boolean stored = !call.target().equals("/version");
        Runnable answer = () -> reply.complete(answer(call));
        Optional<ApiException> refusal = stored && stall != Stall.API_SERVER ? refuse.apply(call) : Optional.empty();
        if (refusal.isPresent()) {
            reply.complete(FakeTransport.refusal(refusal.get()));
        } else if (stored) {
            serve(write, answer);
        } else if (stall == Stall.API_SERVER) {
            heldByServer.add(answer);
        } else {
            answer.run();
        }
        return reply;
    }

    private void serve(boolean write, Runnable request) {
        if (stall == Stall.API_SERVER) {
            heldByServer.add(request);
        } else if (stall == Stall.STORE || (stall == Stall.STORE_WRITES && write)) {
            heldByStore.add(request);
        } else {
            request.run();
        }
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        Watch watch = new Watch(call.target().split("\\?")[0], handler);
        long from = Long.parseLong(call.target().replaceAll(".*resourceVersion=(\\d+).*", "$1"));
        Runnable open = () -> {
            handler.onOpen();
            List.copyOf(history.getOrDefault(watch.target, List.of())).stream()
                    .filter(event -> event.version > from)
                    .forEach(event -> delivered(() -> watch.tell(event.line)));
            watches.add(watch);
        };
        if (stall == Stall.API_SERVER) {
            heldByServer.add(open);
        } else {
            open.run();
        }
        return () -> {
            watch.ended = true;
            watches.remove(watch);
        };
    }

    @Override
    public void close() {}

    private void publish(String path, long at, String type, String object) {
        Event event = new Event(at, "{\"type\":\"" + type + "\",\"object\":" + object + "}");
        history.computeIfAbsent(path, any -> new ArrayList<>()).add(event);
        for (Watch watch : List.copyOf(watches)) {
            if (watch.target.equals(path)) {
                delivered(() -> watch.tell(event.line));
            }
        }
    }

    private void delivered(Runnable delivery) {
        if (stall == Stall.WATCH) {
            heldByWatch.add(delivery);
        } else {
            delivery.run();
        }
    }

    private Reply answer(Call call) {
        String path = call.target().split("\\?")[0];
        if (path.equals("/version")) {
            return text("{}");
        }
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (path.equals(LEASES)) {
            return call.method().equals("GET") ? text(leases(call.target())) : canary(call);
        }
        if (path.startsWith(LEASES)) {
            if (call.method().equals("PATCH")) {
                return canary.isEmpty()
                        ? FakeTransport.refusal(new ApiException(404, "NotFound", "no canary"))
                        : canary(call);
            }
            return name.equals(CanaryLease.NAME) ? text(canary) : text(lease(machine(name)));
        }
        if (path.equals(NODES)) {
            return text(list(machines.values().stream()
                    .filter(machine -> isAskedFor(call.target(), machine.name))
                    .map(this::node)
                    .collect(Collectors.joining(","))));
        }
        if (path.startsWith(NODES)) {
            Machine machine = machine(path.split("/")[4]);
            return call.method().equals("GET") ? text(node(machine)) : write(machine, Json.parseObject(call.body()));
        }
        return text(list(""));
    }

    private Reply write(Machine machine, JsonObject body) {
        JsonObject merged = Json.parseObject(node(machine).getBytes(StandardCharsets.UTF_8));
        String guard = body.object("metadata").text("resourceVersion");
        if (!guard.isEmpty() && !guard.equals(Long.toString(machine.nodeVersion))) {
            return FakeTransport.refusal(new ApiException(409, "Conflict", "the object has been modified"));
        }
        machine.nodeVersion = ++version;
        for (String part : List.of("spec", "status")) {
            if (body.has(part)) {
                merged = merged.with(part, body.object(part));
            }
        }
        JsonObject stored = merged.update(
                "metadata", metadata -> metadata.with("resourceVersion", Long.toString(machine.nodeVersion)));
        machine.written = Optional.of(stored);
        machine.ready = new io.nodekeeper.api.Node(stored)
                .ready()
                .map(Condition::status)
                .orElse("");
        if (machine.ready.equals(Condition.UNKNOWN) && machine.unknownAt.isEmpty()) {
            machine.unknownAt = OptionalLong.of(now());
        }
        String text = Json.write(stored);
        publish(NODES, machine.nodeVersion, "MODIFIED", text);
        return text(text);
    }

    private Reply canary(Call call) {
        String body = new String(call.body(), StandardCharsets.UTF_8);
        long mine = ++version;
        boolean first = canary.isEmpty();
        canary = body.replace(
                "\"metadata\":{",
                "\"metadata\":{\"resourceVersion\":\"" + mine + "\","
                        + (first ? "" : "\"name\":\"" + CanaryLease.NAME + "\",\"namespace\":\"kube-node-lease\","));
        publish(LEASES, mine, first ? "ADDED" : "MODIFIED", canary);
        return text(canary);
    }

    private String leases(String target) {
        String all = machines.values().stream()
                .filter(machine -> isAskedFor(target, machine.name))
                .map(this::lease)
                .collect(Collectors.joining(","));
        boolean withCanary = !canary.isEmpty() && isAskedFor(target, CanaryLease.NAME);
        return list(withCanary ? all.isEmpty() ? canary : all + "," + canary : all);
    }

    private static boolean isAskedFor(String target, String name) {
        return !target.contains("fieldSelector=") || target.endsWith("metadata.name%3D" + name);
    }

    private String list(String items) {
        return "{\"metadata\":{\"resourceVersion\":\"" + version + "\"},\"items\":[" + items + "]}";
    }

    private String lease(Machine machine) {
        return "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"" + machine.name
                + "\",\"namespace\":\"kube-node-lease\",\"resourceVersion\":\"" + machine.leaseVersion
                + "\"},\"spec\":{\"holderIdentity\":\"" + machine.name + "\",\"renewTime\":\"" + machine.renewTime
                + "\"}}";
    }

    private String node(Machine machine) {
        return machine.written
                .map(Json::write)
                .orElseGet(() -> "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" + machine.name
                        + "\",\"uid\":\"uid-" + machine.name + "\",\"resourceVersion\":\"" + machine.nodeVersion
                        + "\",\"creationTimestamp\":\"2019-01-01T00:00:00Z\"},\"spec\":{},\"status\":{\"conditions\":[{"
                        + "\"type\":\"Ready\",\"status\":\"True\",\"lastHeartbeatTime\":\"2020-01-01T00:00:00Z\"}]}}");
    }

    private String renewTime() {
        return KubeTime.formatMicro(time.wallTime());
    }

    private Machine machine(String name) {
        return Optional.ofNullable(machines.get(name)).orElseThrow(() -> new AssertionError("no node " + name));
    }

    private static Reply text(String json) {
        return new Reply(200, json.getBytes(StandardCharsets.UTF_8));
    }
}
