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
 * Takes part in the election of one leader: waits for the lock, renews it, and says when it is lost; after that it does
 * nothing more, as the process is expected to end. Compatible with client-go's {@code leaderelection} on a Lease. Confined
 * to its client's loop, except where methods say otherwise.
 */
public final class LeaderElector {
    /** What becomes of a candidate. Called on the loop. */
    public interface Callbacks {
        /** It is the leader now. */
        void started();

        /**
         * It is the leader no more and must not act any more; never called twice, nor without {@link #started}.
         *
         * @param lost whether this was not its own wish; Kubernetes ends the process then
         */
        void stopped(boolean lost);

        /** Another candidate was seen to be the leader, or this one has become it. */
        default void newLeader(String identity) {}

        /**
         * The lease was written by this candidate.
         *
         * @param sentAt when the write was sent, nanoseconds by the loop's monotonic clock
         * @param acknowledgedAt when the answer was there, by the same clock
         */
        default void wrote(long sentAt, long acknowledgedAt) {}

        /** The leader could not renew from memory and had to read the lease first; for a count of those. */
        default void slowPath() {}
    }

    private static final Logger log = LoggerFactory.getLogger(LeaderElector.class);
    /** How long after its lease's end a leader is called unhealthy (kube-controller-manager). */
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
    /** Whether a write was sent and it is not known what became of it. */
    private boolean unsure;

    private CompletableFuture<Void> trying = CompletableFuture.completedFuture(null);
    private Loop.@Nullable Timer retry;
    private Loop.@Nullable Timer deadline;

    /**
     * A candidate at rest.
     *
     * @param identity unlike that of any other candidate; Kubernetes' form is {@code <hostname>_<uuid>}
     * @param recorder for events on the Lease
     * @param random for the waits between tries
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

    /** Begins to try. Thread-safe. */
    public void start() {
        log.info("attempting to acquire leader lease {}/{} as {}", config.namespace(), config.name(), identity);
        loop.execute(this::attempt);
    }

    /**
     * Takes part no more, and gives the lease back if it is held and the configuration says so. The result completes when
     * that is done or has failed; it never fails. Thread-safe.
     */
    public CompletableFuture<Void> stop() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        loop.execute(() -> {
            if (ended) {
                done.complete(null);
                return;
            }
            end(false);
            // A try under way may still win the lock, which nobody would give back then.
            trying.thenCompose(tried -> config.releaseOnCancel() ? release() : trying)
                    .whenComplete((released, error) -> {
                        if (error != null) {
                            log.info("lease {} not given back: {}", config.name(), Failures.text(error));
                        }
                        done.complete(null);
                    });
        });
        return done;
    }

    /**
     * Whether this candidate may act as the leader at this moment, by the clock: a process that was frozen learns it here
     * before {@link Callbacks#stopped} can be called. Thread-safe.
     */
    public boolean leads() {
        return leading
                && loop.clock().nanoTime() - wroteAt < config.renewDeadline().toNanos();
    }

    /** False for a leader whose lease ended over 20 s ago and who has not noticed. Thread-safe; {@code now} as by the loop's clock. */
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
        // On the loop, as a task of its own: a failing callback is then logged like any other task.
        trying.thenRun(() -> loop.execute(this::tried));
    }

    /** Writes from memory; if that fails, from what is stored. */
    private CompletableFuture<Void> renew() {
        return put(lock.renewal(loop.clock().wallTime())).exceptionallyCompose(error -> {
            log.info("lease {} not renewed from memory: {}; reading it first", config.name(), Failures.text(error));
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

    /** A try is over, in whichever way; what it brought stands in the lock. */
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

    /** A leader that cannot renew notices in time, whatever its calls do. */
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

    /** Gives the lock back if it is held; reads it first if it may be another than is remembered. */
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
                        .thenAccept(stored -> log.info("lease {}/{} given back", config.namespace(), config.name()));
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
