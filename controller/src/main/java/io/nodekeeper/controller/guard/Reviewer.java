package io.nodekeeper.controller.guard;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.metrics.GuardMetrics;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers admission reviews: reads the lease of a blamed node and asks {@link Guard}. Lets the write pass on every
 * trouble. {@link #answer} may be called from any thread; the decisions are confined to the guard's loop.
 */
public final class Reviewer {
    private static final Logger log = LoggerFactory.getLogger(Reviewer.class);
    /** The deadline of a live read: usually a millisecond; the API server waits one second for the whole answer. */
    static final Duration READ_LIMIT = Duration.ofMillis(300);
    /** The deadline of a review. The rest of the second is for the network, TLS and the pauses of both processes. */
    static final Duration LIMIT = Duration.ofMillis(700);
    /**
     * The most reviews that wait for reads. A connection has one review at a time, and the endpoint has no more
     * connections. A review that waits holds some hundred bytes.
     */
    static final int MOST_REVIEWS = 256;

    /**
     * What a reviewer works with.
     *
     * @param loop the guard's
     * @param client completes its results on {@code loop}
     * @param users whose writes to check
     * @param sight what our own controller sees
     * @param state whether the guard is switched off
     */
    public record Ports(
            Loop loop,
            KubeClient client,
            Set<String> users,
            SightFeed sight,
            SwitchState state,
            GuardReport report,
            GuardMetrics metrics) {}

    private final Guard guard;
    private final RefusalBudget budget;
    private final Ports ports;
    private final LiveReads reads;
    private final AtomicInteger waiting = new AtomicInteger();

    /** A reviewer with that guard and budget. */
    public Reviewer(Guard guard, RefusalBudget budget, Ports ports) {
        this.guard = guard;
        this.budget = budget;
        this.ports = ports;
        this.reads = new LiveReads(ports.client().withTimeout(READ_LIMIT), LIMIT);
    }

    /**
     * The answer to the review in {@code body}, JSON in UTF-8.
     *
     * @return fails only with an IllegalArgumentException, if {@code body} is no AdmissionReview
     */
    public CompletableFuture<byte[]> answer(byte[] body) {
        long start = ports.loop().clock().nanoTime();
        Review review;
        try {
            review = Review.parse(body);
        } catch (JsonException | IllegalArgumentException e) {
            finished("malformed", start);
            return CompletableFuture.failedFuture(new IllegalArgumentException(Failures.text(e), e));
        }
        return Blame.of(review, ports.users())
                .map(this::judged)
                .orElseGet(() -> CompletableFuture.completedFuture(
                        new GuardVerdict.Allow(GuardVerdict.Reason.UNTOUCHED, "it blames no node")))
                .thenApply(verdict -> {
                    finished(verdict.label(), start);
                    return ReviewAnswer.of(review.uid(), verdict);
                });
    }

    private void finished(String verdict, long start) {
        ports.metrics().reviewed(verdict, (ports.loop().clock().nanoTime() - start) / 1e9);
    }

    /** The verdict about {@code blame}; never fails. */
    private CompletableFuture<GuardVerdict> judged(Blame blame) {
        Optional<String> off = ports.state().off(ports.loop().clock().nanoTime());
        if (off.isPresent()) {
            return CompletableFuture.completedFuture(
                    new GuardVerdict.Allow(GuardVerdict.Reason.SWITCHED_OFF, off.get()));
        }
        if (waiting.incrementAndGet() > MOST_REVIEWS) {
            waiting.decrementAndGet();
            return CompletableFuture.completedFuture(trouble(blame, "too many reviews at the same time"));
        }
        CompletableFuture<GuardVerdict> verdict =
                read(blame).thenApplyAsync(lease -> decided(blame, lease), ports.loop());
        return Deadlines.within(ports.loop(), LIMIT, "the review", verdict)
                .exceptionally(error -> trouble(blame, Failures.text(error)))
                .whenComplete((done, error) -> waiting.decrementAndGet());
    }

    private CompletableFuture<LiveLease> read(Blame blame) {
        CompletableFuture<JsonObject> lease =
                found(reads.read(ResourceType.LEASES, Lease.NODE_NAMESPACE, blame.node()));
        CompletableFuture<LiveLease> result = blame.kind() == Blame.Kind.EVICTION
                ? lease.thenCombine(
                        found(reads.read(ResourceType.NODES, "", blame.node())),
                        (read, node) -> LiveLease.of(blame.node(), read, node))
                : lease.thenApply(read -> LiveLease.of(blame.node(), read));
        return result.exceptionally(error -> new LiveLease.Unread(Failures.text(error)));
    }

    private static CompletableFuture<JsonObject> found(CompletableFuture<JsonObject> read) {
        return read.exceptionally(error -> {
            if (Failures.isCode(error, 404)) {
                return JsonObject.EMPTY;
            }
            throw new IllegalStateException("the live read failed: " + Failures.text(error), error);
        });
    }

    private GuardVerdict decided(Blame blame, LiveLease lease) {
        long now = ports.loop().clock().nanoTime();
        GuardVerdict verdict = guard.decide(
                blame, lease, ports.sight().at(now), ports.loop().clock().wallTime(), budget, now);
        ports.metrics().protectedNodes(budget.used(now));
        ports.report().decided(blame, verdict);
        return verdict;
    }

    private static GuardVerdict trouble(Blame blame, String why) {
        log.debug("the write that blames node {} passes: {}", blame.node(), why);
        return new GuardVerdict.Allow(GuardVerdict.Reason.TROUBLE, why);
    }

    /** Measures what changes without any review: an episode ends when there are none. From any thread, periodically. */
    public void tend() {
        ports.loop()
                .execute(() -> ports.metrics()
                        .protectedNodes(budget.used(ports.loop().clock().nanoTime())));
    }

    /** The number of reviews that wait for reads at present. */
    int waiting() {
        return waiting.get();
    }
}
