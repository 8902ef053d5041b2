package io.nodekeeper.controller.canary;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.heartbeats.Versions;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.observer.CanaryLease;
import io.nodekeeper.controller.observer.Now;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.ProofKind;
import io.nodekeeper.controller.observer.SightChange;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the canary of {@link ObserverGuard}: a lease beside the nodes' leases, renewed each period and whenever a
 * verdict waits for a proof. A read-only controller borrows one: it reads some node's lease, and the watch event with
 * the version that was read is the proof, a weaker one. Confined to the loop.
 */
final class Canary {
    private static final String SEQUENCE = "nodekeeper.io/canary-sequence";

    /** What happened to canaries. */
    sealed interface Event {
        /** More is proven than before. */
        record Proven() implements Event {}

        /** Sight was lost or found again, or another hop explains the blindness. */
        record SightChanged(SightChange change) implements Event {}

        /** A canary took this long on one hop. */
        record Took(Hop hop, long nanos) implements Event {}

        /** A period has passed. */
        record Ticked() implements Event {}
    }

    /** The leases of nodes, for a controller that only reads. */
    interface SeenLeases {
        /** A node's lease that was seen; empty if there is none. */
        Optional<String> any();

        /** The version of that lease that the watch delivered last, see {@link Versions#number}; 0 if none. */
        long version(String lease);
    }

    private static final Logger log = LoggerFactory.getLogger(Canary.class);
    /**
     * The most canaries in flight. With only one, a verdict would wait for a canary that hangs; three allow for two
     * such, and more would only load a slow server.
     */
    private static final int UNDER_WAY = 3;
    /**
     * How many sent canaries are remembered, to recognise them in the watch: enough for a watch that lags by four
     * minutes.
     */
    private static final int REMEMBERED = 256;

    /** How Kubernetes begins the refusals of admission webhooks and how it words those of admission policies. */
    private static final Pattern DENIED_BY_ADMISSION = Pattern.compile("admission webhook \"| denied request: ");

    private static final class Sent {
        private final long sequence;
        private final long at;
        /** Whether the write ended within the tolerance. */
        private boolean prompt;

        private Sent(long sequence, long at) {
            this.sequence = sequence;
            this.at = at;
        }
    }

    private record Borrowed(String lease, long version, long at) {}

    private final KubeClient client;
    private final Loop loop;
    private final ObserverGuard guard;
    private final Duration period;
    private final String identity;
    private final Now now;
    private final SeenLeases leases;
    private final Consumer<Event> events;
    private final Deque<Sent> sent = new ArrayDeque<>();
    private final Deque<Borrowed> borrowed = new ArrayDeque<>();

    private long sequence;
    private int underWay;
    private long lastSentAt = Long.MIN_VALUE / 2;
    /** The latest moment for which a proof was requested while too many canaries were in flight. */
    private long demanded = Long.MIN_VALUE;

    private final boolean borrowing;
    private boolean begun;
    private boolean refused;
    private boolean proved;
    private boolean stopped;
    private String condition = "";
    private Loop.@Nullable Timer timer;

    /**
     * Creates a canary that has not started.
     *
     * @param identity distinguishes this process' canaries from those of others
     * @param mayWrite whether to send canaries or only borrow leases
     */
    Canary(
            KubeClient client,
            ObserverGuard guard,
            Duration period,
            String identity,
            boolean mayWrite,
            Now now,
            SeenLeases leases,
            Consumer<Event> events) {
        this.client = client.withTimeout(ControllerConfig.CALL_TIMEOUT);
        this.loop = client.loop();
        this.guard = guard;
        this.period = period;
        this.identity = identity;
        this.borrowing = !mayWrite;
        this.now = now;
        this.leases = leases;
        this.events = events;
    }

    /** Starts to probe whether the server responds. */
    void start() {
        guard.start(now.nanos());
        timer = loop.schedule(period, this::tick);
    }

    /** Starts to send canaries; called when the leases are watched. */
    void begin() {
        begun = true;
        guard.begin(now.nanos());
        if (timer != null) {
            timer.cancel();
        }
        tick();
    }

    void stop() {
        stopped = true;
        if (timer != null) {
            timer.cancel();
        }
    }

    /** The number of remembered canaries, written and borrowed. */
    int size() {
        return sent.size() + borrowed.size();
    }

    /** Sets the condition that the canary carries from now on, as JSON. */
    void condition(String json) {
        condition = json;
    }

    /** Requests a proof for everything stored before {@code moment}, monotonic; sends nothing before that moment. */
    void demand(long moment) {
        if (begun && lastSentAt <= moment && moment < now.nanos()) {
            if (underWay >= UNDER_WAY) {
                demanded = Math.max(demanded, moment);
            } else {
                send();
            }
        }
    }

    /**
     * Whether {@code lease} is a canary. One of ours proves sight, and so do those that were written before it in time;
     * {@link #settle} reports that, when everything that came with the lease has been taken in.
     */
    boolean saw(Lease lease, ProofKind by) {
        if (!lease.name().equals(CanaryLease.NAME)) {
            return false;
        }
        if (lease.holderIdentity().equals(identity)) {
            long sequence = Versions.number(lease.annotations().getOrDefault(SEQUENCE, ""));
            if (sent.stream().anyMatch(one -> one.sequence == sequence)) {
                sawSent(sequence, by);
            }
        }
        return true;
    }

    private void sawSent(long sequence, ProofKind by) {
        for (Sent one : List.copyOf(sent)) {
            if (one.sequence > sequence) {
                return;
            }
            if (one.sequence == sequence || one.prompt) {
                proven(one.at, one.prompt, by);
            }
            if (by == ProofKind.WATCH) {
                // The watch sends no further event for it.
                sent.removeFirst();
            }
        }
    }

    /** Everything that came with the last leases has been processed. */
    void settle() {
        if (!borrowed.isEmpty()) {
            sawVersions();
        }
        if (proved) {
            proved = false;
            events.accept(new Event.Proven());
        }
    }

    /** The watch sent a node's lease, perhaps the borrowed one. */
    private void sawVersions() {
        long proof = Long.MIN_VALUE;
        for (Borrowed one : borrowed) {
            if (!Versions.isNewer(one.version, leases.version(one.lease))) {
                proof = Math.max(proof, one.at);
            }
        }
        if (proof != Long.MIN_VALUE) {
            long newest = proof;
            borrowed.removeIf(older -> older.at <= newest);
            proven(newest, false, ProofKind.WATCH);
        }
    }

    private void proven(long sentAt, boolean prompt, ProofKind by) {
        if (by == ProofKind.WATCH) {
            events.accept(new Event.Took(Hop.CANARY_ROUND_TRIP, now.nanos() - sentAt));
        }
        guard.seen(sentAt, prompt, by, now.nanos()).ifPresent(this::sightChanged);
        proved = true;
    }

    private void sightChanged(SightChange change) {
        events.accept(new Event.SightChanged(change));
    }

    private void tick() {
        if (stopped) {
            return;
        }
        timer = loop.schedule(period, this::tick);
        guard.tick(now.nanos()).ifPresent(this::sightChanged);
        events.accept(new Event.Ticked());
        if (begun) {
            send();
        }
        // Early enough for a response before the failed hop is determined.
        if (2 * guard.canaryAge(now.nanos()) > 3 * period.toNanos()) {
            probe();
        }
    }

    /** Probes whether the server responds at all. The response needs no store, and a refusal counts, too. */
    private void probe() {
        client.probe("/version").thenAccept(status -> guard.alive(now.nanos())).exceptionally(error -> {
            log.debug("the API server does not respond: {}", Failures.text(error));
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
            demand(demanded);
        });
    }

    private CompletableFuture<?> write(long at) {
        Sent mine = new Sent(++sequence, at);
        sent.addLast(mine);
        if (sent.size() > REMEMBERED) {
            sent.removeFirst();
        }
        return patch(mine.sequence)
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? create(mine.sequence)
                        : CompletableFuture.failedFuture(Failures.cause(error)))
                .whenComplete((done, error) -> {
                    if (error == null) {
                        mine.prompt = guard.acknowledged(at, now.nanos());
                        events.accept(new Event.Took(Hop.CANARY_WRITE, now.nanos() - at));
                    } else if (Failures.cause(error) instanceof ApiException answer) {
                        guard.refused(concernsNodes(answer), now.nanos());
                        if (answer.code() < 500) {
                            // Nothing was stored, so the watch will send nothing.
                            sent.remove(mine);
                        }
                        warn(error);
                    }
                });
    }

    /**
     * Whether the API server may refuse the nodes' renewals for the same reason: overload, an error of the server, an
     * admission webhook or an admission policy. Other refusals, such as a missing right or an exceeded quota, concern
     * this request only. No field of the response distinguishes them, so this checks for Kubernetes' messages: {@code
     * admission webhook "NAME" denied the request}, and {@code ValidatingAdmissionPolicy 'NAME' with binding 'NAME'
     * denied request: REASON}.
     */
    private static boolean concernsNodes(ApiException answer) {
        return answer.code() == 429
                || answer.code() >= 500
                || DENIED_BY_ADMISSION.matcher(answer.getMessage()).find();
    }

    /** Logs once; the condition of sight shows it for as long as it lasts. */
    private void warn(Throwable error) {
        if (!refused) {
            refused = true;
            log.warn(
                    "no permission to write lease {}/{}; verdicts use lists of the nodes' leases instead, which is"
                            + " slower: {}",
                    Lease.NODE_NAMESPACE,
                    CanaryLease.NAME,
                    Failures.text(error));
        }
    }

    private CompletableFuture<JsonObject> patch(long number) {
        return client.patch(
                ResourceType.LEASES,
                Lease.NODE_NAMESPACE,
                CanaryLease.NAME,
                "",
                PatchType.MERGE,
                lease(number, JsonObject.EMPTY));
    }

    private CompletableFuture<JsonObject> create(long number) {
        return client.create(
                ResourceType.LEASES,
                Lease.NODE_NAMESPACE,
                lease(number, JsonObject.EMPTY.with("name", CanaryLease.NAME).with("namespace", Lease.NODE_NAMESPACE)));
    }

    private JsonObject lease(long number, JsonObject metadata) {
        return JsonObject.builder()
                .put("apiVersion", ResourceType.LEASES.apiVersion())
                .put("kind", ResourceType.LEASES.kind())
                .put(
                        "metadata",
                        metadata.with("labels", JsonObject.EMPTY.with(CanaryLease.LABEL, "true"))
                                .with(
                                        "annotations",
                                        JsonObject.EMPTY
                                                .with(SEQUENCE, Long.toString(number))
                                                .with(CanaryLease.CONDITION, condition)))
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
        Optional<String> lease = leases.any();
        Supplier<CompletableFuture<JsonObject>> read = lease.<Supplier<CompletableFuture<JsonObject>>>map(
                        name -> () -> client.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, name))
                .orElse(() -> client.list(ResourceType.LEASES, Lease.NODE_NAMESPACE, "limit=1"));
        return read.get()
                .whenComplete((object, error) -> {
                    if (error != null && Failures.cause(error) instanceof ApiException) {
                        guard.answered(now.nanos());
                    }
                })
                .thenAccept(object -> {
                    guard.acknowledged(at, now.nanos());
                    if (lease.isEmpty()) {
                        proven(at, false, ProofKind.WATCH);
                    } else {
                        borrowed.addLast(
                                new Borrowed(lease.get(), Versions.number(new Lease(object).resourceVersion()), at));
                        if (borrowed.size() > REMEMBERED) {
                            borrowed.removeFirst();
                        }
                    }
                    settle();
                });
    }
}
