package io.nodekeeper.controller;

import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the canary of {@link ObserverGuard}: a lease among the nodes' leases, renewed each period and whenever a verdict
 * waits for a proof. Where this controller may not write it, a canary is borrowed: some node's lease is read, and that the
 * watch has told of the version read is the proof, a weaker one. Confined to the loop.
 */
final class Canary {
    /** The canary lease. */
    static final String NAME = "nodekeeper-canary";
    /** Tells it from the leases of nodes; any value. */
    static final String LABEL = "nodekeeper.io/canary";
    /** The condition of the controller's sight, as JSON. */
    static final String CONDITION = "nodekeeper.io/sight";

    private static final String SEQUENCE = "nodekeeper.io/canary-sequence";

    /** What a canary brings about. */
    interface Listener {
        /** More is proven than before. */
        void proven();

        /** Sight was lost, or found again, or is named anew. */
        void changed(ObserverGuard.Change change);

        /** Some node's lease that was seen, to borrow; empty if there is none. */
        Optional<String> anyLease();

        /** The version of that lease that the watch told of last, see {@link Versions#number}; 0 if none. */
        long versionSeen(String lease);

        /** A canary's way took this long. */
        void took(Hop hop, long nanos);

        /** A period has passed. */
        void ticked();
    }

    private static final Logger log = LoggerFactory.getLogger(Canary.class);
    /** Canaries under way at once; one more than hangs, so that a verdict need not wait for that one. Chosen. */
    private static final int UNDER_WAY = 3;
    /** Sendings remembered, to recognise what comes out of the watch; more than can be under way. Chosen. */
    private static final int REMEMBERED = 64;

    private record Sent(long sequence, long at) {}

    private record Borrowed(String lease, long version, long at) {}

    private final KubeClient client;
    private final Loop loop;
    private final ObserverGuard guard;
    private final Duration period;
    private final String identity;
    private final Judge.Now now;
    private final Listener listener;
    private final Deque<Sent> sent = new ArrayDeque<>();
    private final Deque<Borrowed> borrowed = new ArrayDeque<>();

    private long sequence;
    private int underWay;
    private long lastSentAt = Long.MIN_VALUE / 2;
    private boolean borrowing;
    private boolean stopped;
    private String condition = "";
    private Loop.@Nullable Timer timer;

    /**
     * A canary at rest.
     *
     * @param identity tells this process's canaries from those of others
     * @param mayWrite whether to send canaries at all, or only borrow
     */
    Canary(
            KubeClient client,
            ObserverGuard guard,
            Duration period,
            String identity,
            boolean mayWrite,
            Judge.Now now,
            Listener listener) {
        this.client = client.withTimeout(ControllerConfig.CALL_TIMEOUT);
        this.loop = client.loop();
        this.guard = guard;
        this.period = period;
        this.identity = identity;
        this.borrowing = !mayWrite;
        this.now = now;
        this.listener = listener;
    }

    void start() {
        guard.begin(now.nanos());
        tick();
    }

    void stop() {
        stopped = true;
        if (timer != null) {
            timer.cancel();
        }
    }

    /** The condition that the canary carries from now on, as JSON. */
    void condition(String json) {
        condition = json;
    }

    /** A proof is wanted of all that was stored before {@code moment}, monotonic. */
    void demand(long moment) {
        if (lastSentAt <= moment) {
            send();
        }
    }

    /** Whether {@code lease} is a canary, and what it proves if it is ours. */
    boolean saw(Lease lease) {
        if (!lease.name().equals(NAME)) {
            return false;
        }
        if (lease.holderIdentity().equals(identity)) {
            String text = lease.annotations().getOrDefault(SEQUENCE, "");
            sent.stream()
                    .filter(one -> Long.toString(one.sequence).equals(text))
                    .findFirst()
                    .ifPresent(one -> {
                        sent.removeIf(older -> older.sequence <= one.sequence);
                        proven(one.at);
                    });
        }
        return true;
    }

    /** The watch told of a node's lease: perhaps the one that was borrowed. */
    void sawVersions() {
        if (borrowed.isEmpty()) {
            return;
        }
        long proof = Long.MIN_VALUE;
        for (Borrowed one : borrowed) {
            if (!Versions.isNewer(one.version, listener.versionSeen(one.lease))) {
                proof = Math.max(proof, one.at);
            }
        }
        if (proof != Long.MIN_VALUE) {
            long newest = proof;
            borrowed.removeIf(older -> older.at <= newest);
            proven(newest);
        }
    }

    private void proven(long sentAt) {
        listener.took(Hop.CANARY_ROUND_TRIP, now.nanos() - sentAt);
        guard.seen(sentAt, now.nanos()).ifPresent(listener::changed);
        listener.proven();
    }

    private void tick() {
        if (stopped) {
            return;
        }
        timer = loop.schedule(period, this::tick);
        guard.tick(now.nanos()).ifPresent(listener::changed);
        listener.ticked();
        send();
        // Early enough for an answer to be there when the hop is named.
        if (2 * guard.canaryAge(now.nanos()) > 3 * period.toNanos()) {
            probe();
        }
    }

    /** Does the server answer anything at all? The answer needs no store, and a refusal is one, too. */
    private void probe() {
        client.probe("/version").thenAccept(status -> guard.alive(now.nanos())).exceptionally(error -> {
            log.debug("the API server does not answer: {}", Failures.text(error));
            return null;
        });
    }

    private void send() {
        if (underWay >= UNDER_WAY || stopped) {
            return;
        }
        underWay++;
        long at = now.nanos();
        lastSentAt = at;
        (borrowing ? borrow(at) : write(at)).whenComplete((done, error) -> {
            underWay--;
            if (error != null) {
                log.debug("canary: {}", Failures.text(error));
            }
        });
    }

    private CompletableFuture<?> write(long at) {
        Sent mine = new Sent(++sequence, at);
        sent.addLast(mine);
        if (sent.size() > REMEMBERED) {
            sent.removeFirst();
        }
        return patch(mine.sequence)
                .handle((done, error) -> {
                    if (error == null) {
                        guard.acknowledged(at);
                        listener.took(Hop.CANARY_WRITE, now.nanos() - at);
                        return CompletableFuture.completedFuture(done);
                    }
                    if (Failures.isCode(error, 404)) {
                        return create(mine.sequence).thenApply(created -> {
                            guard.acknowledged(at);
                            return created;
                        });
                    }
                    return CompletableFuture.<JsonObject>failedFuture(error);
                })
                .thenCompose(next -> next)
                .whenComplete((done, error) -> {
                    if (error != null && (Failures.isCode(error, 403) || Failures.isCode(error, 404)) && !borrowing) {
                        borrowing = true;
                        log.warn(
                                "may not write lease {}/{}, so sight is proved by nodes' leases, which is slower: {}",
                                Lease.NODE_NAMESPACE,
                                NAME,
                                Failures.text(error));
                    }
                });
    }

    private CompletableFuture<JsonObject> patch(long number) {
        return client.patch(
                ResourceType.LEASES, Lease.NODE_NAMESPACE, NAME, "", PatchType.MERGE, lease(number, JsonObject.EMPTY));
    }

    private CompletableFuture<JsonObject> create(long number) {
        return client.create(
                ResourceType.LEASES,
                Lease.NODE_NAMESPACE,
                lease(number, JsonObject.EMPTY.with("name", NAME).with("namespace", Lease.NODE_NAMESPACE)));
    }

    private JsonObject lease(long number, JsonObject metadata) {
        return JsonObject.builder()
                .put("apiVersion", ResourceType.LEASES.apiVersion())
                .put("kind", ResourceType.LEASES.kind())
                .put(
                        "metadata",
                        metadata.with("labels", JsonObject.EMPTY.with(LABEL, "true"))
                                .with(
                                        "annotations",
                                        JsonObject.EMPTY
                                                .with(SEQUENCE, Long.toString(number))
                                                .with(CONDITION, condition)))
                .put(
                        "spec",
                        JsonObject.EMPTY
                                .with("holderIdentity", identity)
                                .with(
                                        "renewTime",
                                        KubeTime.formatMicro(loop.clock().wallTime())))
                .build();
    }

    private CompletableFuture<?> borrow(long at) {
        Optional<String> lease = listener.anyLease();
        Supplier<CompletableFuture<JsonObject>> read = lease.<Supplier<CompletableFuture<JsonObject>>>map(
                        name -> () -> client.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, name))
                .orElse(() -> client.list(ResourceType.LEASES, Lease.NODE_NAMESPACE, "limit=1"));
        return read.get().thenAccept(object -> {
            guard.acknowledged(at);
            if (lease.isEmpty()) {
                proven(at);
                return;
            }
            borrowed.addLast(new Borrowed(lease.get(), Versions.number(new Lease(object).resourceVersion()), at));
            if (borrowed.size() > REMEMBERED) {
                borrowed.removeFirst();
            }
            sawVersions();
        });
    }
}
