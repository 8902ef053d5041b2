package io.nodekeeper.client.leaderelection;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.events.ObjectRef;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes part in a leader election: waits for the lock, renews it, and reports its loss; after that it does nothing
 * more, because the process should exit. Compatible with client-go's {@code leaderelection} on a Lease. Confined to its
 * client's loop, except where methods say otherwise.
 */
public final class LeaderElector {
    /** Receives the changes of a candidate's state. Called on the loop. */
    public interface Callbacks {
        /** The candidate became the leader. */
        void started();

        /**
         * The candidate is no longer the leader and must not act as one. Called at most once, and only after {@link
         * #started}.
         *
         * @param lost whether the lease was lost rather than released; in Kubernetes the process exits then
         */
        void stopped(boolean lost);

        /** A new leader was seen, possibly this candidate. */
        default void newLeader(String identity) {}

        /**
         * The lease was written by this candidate.
         *
         * @param sentAt when the write was sent, nanoseconds by the loop's monotonic clock
         * @param acknowledgedAt when the answer was there, by the same clock
         */
        default void wrote(long sentAt, long acknowledgedAt) {}

        /** The leader could not renew from memory and had to read the lease first; for a metric. */
        default void slowPath() {}
    }

    private static final Logger log = LoggerFactory.getLogger(LeaderElector.class);
    /** How long after the end of its lease a leader becomes unhealthy (as in kube-controller-manager). */
    private static final Duration TOLERATED = Duration.ofSeconds(20);

    private final LeaderElectionConfig config;
    private final String identity;
    private final KubeClient client;
    private final Loop loop;
    private final EventRecorder recorder;
    private final RandomGenerator random;
    private final Callbacks callbacks;
    private final LeaderLock lock;

    private volatile boolean leading;
    private volatile long wroteAt;
    private String reported = "";
    private boolean ended;
    /** Whether the outcome of a write is unknown. */
    private boolean unsure;

    private CompletableFuture<Void> trying = CompletableFuture.completedFuture(null);
    private Loop.@Nullable Timer retry;
    private Loop.@Nullable Timer deadline;

    /**
     * Creates a candidate that has not started.
     * @param identity unique among candidates; Kubernetes' form is {@code <hostname>_<uuid>}
     * @param recorder for events on the Lease
     * @param random for the waits between attempts
     * @throws IllegalArgumentException naming all faults of {@code config}, or if {@code identity} is empty
     */
    public LeaderElector(
            LeaderElectionConfig config,
            String identity,
            KubeClient client,
            EventRecorder recorder,
            RandomGenerator random,
            Callbacks callbacks) {
        if (!config.faults().isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", config.faults()));
        }
        if (identity.isEmpty()) {
            throw new IllegalArgumentException("the identity of a candidate must not be empty");
        }
        this.config = config;
        this.identity = identity;
        this.client = client.withTimeout(config.callTimeout());
        this.loop = client.loop();
        this.recorder = recorder;
        this.random = random;
        this.callbacks = callbacks;
        this.lock = new LeaderLock(config, identity);
    }

    /** Starts to try to acquire the lease. Thread-safe. */
    public void start() {
        log.info("attempting to acquire leader lease {}/{} as {}", config.namespace(), config.name(), identity);
        loop.execute(this::attempt);
    }

    /**
     * Leaves the election, and releases the lease if it is held and the configuration says so. The result completes
     * normally when the release has succeeded or failed. Thread-safe.
     */
    public CompletableFuture<Void> stop() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        loop.execute(() -> {
            if (ended) {
                done.complete(null);
                return;
            }
            end(false);
            // A running attempt may still acquire the lock, which would then not be released.
            trying.thenCompose(tried -> config.releaseOnCancel() ? release() : trying)
                    .whenComplete((released, error) -> {
                        if (error != null) {
                            log.info("releasing lease {} failed: {}", config.name(), Failures.text(error));
                        }
                        done.complete(null);
                    });
        });
        return done;
    }

    /**
     * Whether this candidate may act as the leader at this moment, by the clock. After a freeze of the process this is
     * false before {@link Callbacks#stopped} can be called. Thread-safe.
     */
    public boolean leads() {
        return leading
                && loop.clock().nanoTime() - wroteAt < config.renewDeadline().toNanos();
    }

    /**
     * False if this is a leader whose lease ended over 20 s ago without its noticing. Thread-safe; {@code now} as by
     * the loop's clock.
     */
    public boolean healthy(long now) {
        return !leading
                || now - wroteAt <= config.leaseDuration().plus(TOLERATED).toNanos();
    }

    private void attempt() {
        if (ended) {
            return;
        }
        if (leading && !lock.isHeld(nanos())) {
            lose();
            return;
        }
        trying = (leading ? renew() : acquire()).exceptionally(error -> {
            log.info("lease {}/{}: {}", config.namespace(), config.name(), Failures.text(error));
            return null;
        });
        // As a separate task on the loop, so that a failing callback is logged like any other task.
        trying.thenRun(() -> loop.execute(this::tried));
    }

    /** Renews from memory; if that fails, reads the lease first. */
    private CompletableFuture<Void> renew() {
        return put(lock.renewal(loop.clock().wallTime())).exceptionallyCompose(error -> {
            log.info("renewing lease {} from memory failed: {}; reading it first", config.name(), Failures.text(error));
            callbacks.slowPath();
            return acquire();
        });
    }

    private CompletableFuture<Void> acquire() {
        return client.get(ResourceType.LEASES, config.namespace(), config.name())
                .handle((lease, error) -> {
                    if (error != null) {
                        return Failures.isCode(error, 404) ? create() : CompletableFuture.<Void>failedFuture(error);
                    }
                    Optional<JsonObject> next =
                            lock.read(lease, nanos(), loop.clock().wallTime());
                    return ended || next.isEmpty() ? CompletableFuture.<Void>completedFuture(null) : put(next.get());
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Void> create() {
        if (ended) {
            return CompletableFuture.completedFuture(null);
        }
        JsonObject first = lock.first(loop.clock().wallTime());
        return write(() -> client.create(ResourceType.LEASES, config.namespace(), first));
    }

    private CompletableFuture<Void> put(JsonObject lease) {
        return write(() -> client.update(ResourceType.LEASES, config.namespace(), config.name(), lease));
    }

    private CompletableFuture<Void> write(Supplier<CompletableFuture<JsonObject>> call) {
        long sent = nanos();
        unsure = true;
        return call.get().thenAccept(stored -> {
            unsure = false;
            long now = nanos();
            lock.wrote(stored, sent, now);
            callbacks.wrote(sent, now);
        });
    }

    /** An attempt has ended; its result is in the lock. */
    private void tried() {
        if (ended) {
            return;
        }
        boolean held = lock.isHeld(nanos());
        if (leading && !held) {
            lose();
            return;
        }
        boolean won = held && !leading;
        wroteAt = lock.wroteAt();
        leading = held;
        Duration wait = config.retryPeriod();
        retry = loop.schedule(held ? wait : Jitter.stretch(wait, LeaderElectionConfig.JITTER, random), this::attempt);
        if (held) {
            expect();
        }
        report();
        if (won) {
            log.info("successfully acquired lease {}/{}", config.namespace(), config.name());
            event("became leader");
            callbacks.started();
        }
    }

    /** Makes a leader that cannot renew notice that in time, whatever its calls do. */
    private void expect() {
        if (deadline != null) {
            deadline.cancel();
        }
        long left = config.renewDeadline().toNanos() - (nanos() - wroteAt);
        deadline = loop.schedule(Duration.ofNanos(left), () -> {
            if (!ended && !lock.isHeld(nanos())) {
                lose();
            }
        });
    }

    private void lose() {
        log.error("failed to renew lease {}/{}: timed out or taken over", config.namespace(), config.name());
        end(true);
    }

    private void end(boolean lost) {
        ended = true;
        if (retry != null) {
            retry.cancel();
        }
        if (deadline != null) {
            deadline.cancel();
        }
        if (leading) {
            leading = false;
            event("stopped leading");
            callbacks.stopped(lost);
        }
    }

    /** Releases the lock if it is held; reads it first if it may differ from the remembered one. */
    private CompletableFuture<Void> release() {
        return unsure
                ? readAndRelease()
                : release(lock.seen())
                        .exceptionallyCompose(error ->
                                Failures.isCode(error, 409) ? readAndRelease() : CompletableFuture.failedFuture(error));
    }

    private CompletableFuture<Void> readAndRelease() {
        return client.get(ResourceType.LEASES, config.namespace(), config.name())
                .thenCompose(this::release);
    }

    private CompletableFuture<Void> release(JsonObject held) {
        Optional<JsonObject> released = lock.release(held, loop.clock().wallTime());
        return released.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : client.update(ResourceType.LEASES, config.namespace(), config.name(), released.get())
                        .thenAccept(stored -> log.info("released lease {}/{}", config.namespace(), config.name()));
    }

    private void report() {
        String holder = lock.holder();
        if (!holder.isEmpty() && !holder.equals(reported)) {
            reported = holder;
            log.info("new leader elected: {}", holder);
            callbacks.newLeader(holder);
        }
    }

    private void event(String what) {
        recorder.record(
                new ObjectRef(
                        ResourceType.LEASES.apiVersion(),
                        ResourceType.LEASES.kind(),
                        config.namespace(),
                        config.name(),
                        lock.uid()),
                EventRecorder.NORMAL,
                "LeaderElection",
                identity + " " + what);
    }

    private long nanos() {
        return loop.clock().nanoTime();
    }
}
