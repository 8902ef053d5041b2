package io.nodekeeper.it;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.PatchType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A cluster with two controllers: one that decides as kube-controller-manager does and whose watch of leases can be stalled,
 * and one that only observes. Two nodes renew leases and, unlike a real agent, do not answer when they are blamed, so that the
 * blame has consequences; one more can be killed, and six post their status every second, so that a stalled watch of leases
 * hides a minority of the nodes. Used by one thread.
 */
final class ObservedCluster implements AutoCloseable {
    /** The observing controller's grace period. */
    static final Duration GRACE = Duration.ofSeconds(8);
    /** The other's: later than ours even if a busy machine makes us blind for seconds, which we give back to the nodes. */
    private static final Duration THEIR_GRACE = Duration.ofSeconds(16);
    /** The observer's user, whose group has all rights: nothing but the observer itself prevents its writes. */
    static final String OBSERVER = "observer";

    private static final int POSTING = 6;
    private static final int LIVING = 2;
    /** Renewals each second, and no status before the test ends: it would say at once that a blamed node is Ready. */
    private static final String[] RHYTHM = {"--node-lease-duration-seconds=4", "--node-status-update-frequency=5m"};

    private static final Pattern PAGES = Pattern.compile("The controller serves its pages at (\\S+)");

    private final Path directory;
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final AuditTrail audit;
    private final Relay relay;
    private final Running observer;
    private final Running dying;
    private final Fleet fleet;
    private final ScheduledExecutorService posts = Executors.newSingleThreadScheduledExecutor();

    /** Starts everything, and returns when all nodes are Ready and both controllers follow them. */
    ObservedCluster(Path directory) throws Exception {
        this.directory = directory;
        audit = new AuditTrail(directory.resolve("audit.log"));
        parts.push(posts::shutdownNow);
        try {
            Path data = directory.resolve("data");
            Path tokens = Files.writeString(
                    directory.resolve("tokens"), "token-of-the-observer," + OBSERVER + ",1,\"system:masters\"\n");
            Running server = opened(Running.startSmall(
                    directory,
                    "apiserver",
                    List.of(
                            "apiserver",
                            "--data-dir=" + data,
                            "--secure-port=0",
                            "--store=memory",
                            "--token-auth-file=" + tokens,
                            "--audit-log-path=" + audit.file())));
            String address = server.awaitAddress();
            Path admin = data.resolve("admin.kubeconfig");
            relay = opened(new Relay(data));
            opened(controller(
                    "theirs",
                    relay.kubeconfig(),
                    THEIR_GRACE,
                    "--feature-gates=ObserverGuard=false,WatchDrivenDeadlines=false",
                    "--controller-bind-address=off"));
            observer = opened(controller(
                    "observer",
                    kubeconfig(address, data),
                    GRACE,
                    "--mode=observe",
                    "--history-dir=" + history(),
                    "--controller-bind-address=0"));
            dying = opened(Running.hollowSmall(directory, admin, "dying-", 1, RHYTHM));
            fleet = opened(new Fleet(admin));
            post();
            dying.awaitReady();
            Eventually.within(
                    Duration.ofSeconds(60),
                    () -> fleet.ready() == POSTING + LIVING + 1
                            && relay.leaseWatches() > 0
                            && PAGES.matcher(observer.log()).find());
        } catch (Exception | Error e) {
            close();
            throw e;
        }
        // Each node renews every second; both controllers must have seen it.
        Thread.sleep(2_000);
    }

    private Running controller(String name, Path kubeconfig, Duration grace, String... flags) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "controller",
                "--kubeconfig=" + kubeconfig,
                "--leader-elect=false",
                "--node-monitor-grace-period=" + grace.toSeconds() + "s"));
        command.addAll(List.of(flags));
        return Running.startSmall(directory, name, command);
    }

    private Path kubeconfig(String address, Path data) throws IOException {
        return Files.writeString(
                directory.resolve("observer.kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "%s", certificate-authority: "%s"}}]
                users: [{name: u, user: {token: "token-of-the-observer"}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """.formatted(address, data.resolve("pki/ca.crt")));
    }

    /** Creates the nodes that this test reports for, and lets each report every second. */
    private void post() throws Exception {
        for (int i = 0; i < POSTING; i++) {
            create(ResourceType.NODES, "", "{\"metadata\":{\"name\":\"posting-" + i + "\"}}");
        }
        for (int i = 0; i < LIVING; i++) {
            create(ResourceType.NODES, "", "{\"metadata\":{\"name\":\"living-" + i + "\"}}");
            Fleet.await(ready("living-" + i));
            create(ResourceType.LEASES, Lease.NODE_NAMESPACE, """
                    {"metadata":{"name":"living-%1$d"},"spec":{"holderIdentity":"living-%1$d",
                    "leaseDurationSeconds":4,"renewTime":"%2$s"}}
                    """.formatted(i, KubeTime.formatMicro(Instant.now())));
        }
        posts.scheduleAtFixedRate(
                () -> {
                    IntStream.range(0, POSTING).forEach(i -> ready("posting-" + i));
                    IntStream.range(0, LIVING).forEach(i -> renew("living-" + i));
                },
                0,
                1,
                TimeUnit.SECONDS);
    }

    private void create(ResourceType type, String namespace, String object) throws Exception {
        Fleet.await(fleet.client()
                .create(
                        type,
                        namespace,
                        Json.parseObject(object).toBuilder()
                                .put("apiVersion", type.apiVersion())
                                .put("kind", type.kind())
                                .build()));
    }

    /** Posts the status of a node. */
    private CompletableFuture<JsonObject> ready(String node) {
        return fleet.client()
                .patch(ResourceType.NODES, "", node, "status", PatchType.STRATEGIC, Json.parseObject("""
                {"status":{"conditions":[{"type":"Ready","status":"True",
                "reason":"Posted","lastHeartbeatTime":"%s"}]}}
                """.formatted(
                                KubeTime.format(Instant.now()))));
    }

    /** Renews the lease of a node. */
    private void renew(String node) {
        fleet.client()
                .patch(
                        ResourceType.LEASES,
                        Lease.NODE_NAMESPACE,
                        node,
                        "",
                        PatchType.MERGE,
                        Json.parseObject("{\"spec\":{\"renewTime\":\"" + KubeTime.formatMicro(Instant.now()) + "\"}}"));
    }

    Fleet fleet() {
        return fleet;
    }

    AuditTrail audit() {
        return audit;
    }

    Running observer() {
        return observer;
    }

    /** The observer's history. */
    Path history() {
        return directory.resolve("history");
    }

    /** The address of the observer's pages. */
    String pages() throws IOException {
        Matcher line = PAGES.matcher(observer.log());
        if (!line.find()) {
            throw new AssertionError("expected \"" + PAGES + "\" in: " + observer.log());
        }
        return line.group(1);
    }

    /** From now on the other controller sees no renewal; the connection stays open. */
    void stallTheirWatch() throws IOException {
        relay.set(Relay.Fault.LEASE_WATCH_STALLED);
    }

    /** Kills the node dying-0. */
    void kill() throws Exception {
        dying.kill();
    }

    /** Runs {@code nodekeeper} and returns its output. */
    String nodekeeper(String... arguments) throws Exception {
        try (Running command = Running.start(directory, arguments[0], arguments)) {
            int code = command.awaitEnd();
            if (code != 0) {
                throw new AssertionError(List.of(arguments) + " ended with " + code + ": " + command.log());
            }
            return command.output();
        }
    }

    @Override
    public void close() throws Exception {
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
    }

    private <T extends AutoCloseable> T opened(T part) {
        parts.push(part);
        return part;
    }
}
