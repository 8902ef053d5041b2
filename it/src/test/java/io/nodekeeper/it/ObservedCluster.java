package io.nodekeeper.it;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
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
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A cluster with two controllers: one that decides as kube-controller-manager does and whose watch of leases can be stalled,
 * and one that only observes. Two nodes renew leases, one more can be killed, and six post their status every second, so that
 * a stalled watch of leases hides a minority of the nodes. Used by one thread.
 */
final class ObservedCluster implements AutoCloseable {
    /** The observing controller's grace period. */
    static final Duration GRACE = Duration.ofSeconds(8);
    /** The other's, longer by the ratio of the defaults of Kubernetes' releases (40 s and 50 s). */
    private static final Duration THEIR_GRACE = Duration.ofSeconds(10);
    /** The observer's user, whose group has all rights: nothing but the observer itself prevents its writes. */
    static final String OBSERVER = "observer";

    private static final int POSTING = 6;
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
            Running living = opened(Running.hollowSmall(directory, admin, "living-", 2, RHYTHM));
            dying = opened(Running.hollowSmall(directory, admin, "dying-", 1, RHYTHM));
            fleet = opened(new Fleet(admin));
            post();
            living.awaitReady();
            dying.awaitReady();
            Eventually.within(
                    Duration.ofSeconds(60),
                    () -> fleet.ready() == POSTING + 3
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
                "--node-monitor-grace-period=" + grace.toSeconds() + "s",
                // At the default, one node in ten seconds, the test would wait for the second node.
                "--node-eviction-rate=10"));
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

    /** Creates the nodes that post their status, and lets each post it every second. */
    private void post() throws Exception {
        for (int i = 0; i < POSTING; i++) {
            Fleet.await(fleet.client()
                    .create(
                            ResourceType.NODES,
                            "",
                            Json.parseObject(
                                    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"posting-" + i
                                            + "\"}}")));
        }
        posts.scheduleAtFixedRate(
                () -> {
                    for (int i = 0; i < POSTING; i++) {
                        fleet.client()
                                .patch(
                                        ResourceType.NODES,
                                        "",
                                        "posting-" + i,
                                        "status",
                                        PatchType.STRATEGIC,
                                        Json.parseObject("""
                                                {"status":{"conditions":[{"type":"Ready","status":"True",
                                                "reason":"Posted","lastHeartbeatTime":"%s"}]}}
                                                """.formatted(KubeTime.format(Instant.now()))));
                    }
                },
                0,
                1,
                TimeUnit.SECONDS);
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

    /** Creates the pod {@code pod-of-NODE} on a node, which tolerates its silence for no time. */
    void createPod(String node) throws Exception {
        Fleet.await(fleet.client().create(ResourceType.PODS, "default", Json.parseObject("""
                                {"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-of-%1$s","namespace":"default"},
                                 "spec":{"nodeName":"%1$s","containers":[{"name":"c","image":"i"}],
                                 "tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists",
                                 "effect":"NoExecute","tolerationSeconds":0}]}}
                                """.formatted(node))));
    }

    /** Whether the pod of {@code node} is being deleted. */
    boolean isEvicted(String node) throws Exception {
        return Fleet.await(fleet.client().get(ResourceType.PODS, "default", "pod-of-" + node))
                .object("metadata")
                .has("deletionTimestamp");
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
