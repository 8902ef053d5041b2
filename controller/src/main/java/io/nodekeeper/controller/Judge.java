package io.nodekeeper.controller;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out verdicts: no node is blamed before it is proved that all was seen up to its deadline, and its lease and its
 * status were read live; and nothing is written unless the object is still the one that was judged. What fails is tried
 * again, from the first look on. Confined to the loop.
 */
final class Judge {
    /** What a judge needs to know, and whom it tells. */
    interface Court {
        /**
         * Whether all is seen that was stored before the nodes' clock showed {@code nodeTime}. If not, a proof is asked
         * for, and {@link Judge#look} is called when there is one.
         */
        boolean isProven(long nodeTime);

        /** A known node was read; whatever follows from its state follows. */
        void read(NodeHealth health, Node node);

        /** A known node was written; whatever follows from its state follows, unless a newer one was seen. */
        void wrote(NodeHealth health, Node node);

        /** Everything about the node's deadline may have changed: it has to be armed. */
        void rearm(NodeHealth health);

        /** A verdict was reached or written after this long, beyond the deadline or the decision. */
        void took(Hop hop, long nanos);

        /**
         * This controller declared a node Unknown.
         *
         * @param wasReady whether it was Ready
         * @param late nanoseconds after its deadline
         */
        void silenced(NodeHealth health, boolean wasReady, long late, JsonObject facts);

        /** A late node was judged: {@code Unknown}, {@code Spared} or {@code AlreadyUnknown}. */
        void judged(String verdict);

        /** A node was late, but the API knew of a newer sign of life than the watch had told of. */
        void spared(NodeHealth health, JsonObject facts);
    }

    private static final Logger log = LoggerFactory.getLogger(Judge.class);
    /** Kubernetes tries again after 20 ms, and with its next pass after 5 s. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(5));

    private final KubeClient client;
    private final Loop loop;
    private final Heartbeats heartbeats;
    private final ObserverGuard guard;
    private final PriorityWorkQueue lanes;
    private final Court court;
    private final Now now;
    private final LiveLooks looks;
    private final Proofs waiting = new Proofs();

    Judge(
            KubeClient client,
            Heartbeats heartbeats,
            ObserverGuard guard,
            PriorityWorkQueue lanes,
            Court court,
            Now now) {
        this.client = client;
        this.loop = client.loop();
        this.heartbeats = heartbeats;
        this.guard = guard;
        this.lanes = lanes;
        this.court = court;
        this.now = now;
        this.looks = new LiveLooks(client);
    }

    /** The node's deadline has passed, as far as this process knows. */
    void overdue(NodeHealth health) {
        if (!health.isJudged()) {
            new Case(health).await();
        }
    }

    /** More may be proven than before, or a period has passed. */
    void look() {
        waiting.sweep();
    }

    /** The nodes that wait for a proof. */
    Proofs waiting() {
        return waiting;
    }

    /** What comes after a try. */
    private sealed interface Next {
        /** The judgement has come to an end. */
        record Closed() implements Next {}

        /** There is another try after {@code pause}. */
        record Again(Duration pause) implements Next {}
    }

    /**
     * One node under judgement, over all tries. A try has one end, {@link #settle}, which is reached whatever a step
     * answers or throws.
     */
    private final class Case {
        private final NodeHealth health;
        private final VerdictFacts facts;
        private int failures;
        /** Whether a write was sent whose outcome is not known. */
        private boolean sent;

        private boolean wasReady;
        private long lookedAt;

        private Case(NodeHealth health) {
            this.health = health;
            this.facts = new VerdictFacts(now.nanos());
        }

        /** Waits for the proof, or goes on at once if there is one. */
        private void await() {
            health.stage = NodeHealth.Stage.WAITING;
            waiting.add(health, this::isUnderWay);
            waiting.sweep(health);
        }

        /** Whether there is nothing more to wait for. */
        private boolean isUnderWay() {
            if (!heartbeats.isCurrent(health)) {
                close();
                return true;
            }
            // A write without an answer is followed up in any case.
            if (!sent) {
                if (!heartbeats.isOverdue(health, now.nanos())) {
                    close();
                    return true;
                }
                if (!court.isProven(heartbeats.deadline(health))) {
                    return false;
                }
            }
            facts.proven(guard.means(), now.nanos());
            health.stage = NodeHealth.Stage.WORKING;
            lanes.urgent(this::attempt);
            return true;
        }

        private CompletionStage<?> attempt() {
            CompletionStage<Next> step;
            try {
                step = read();
            } catch (RuntimeException e) {
                step = CompletableFuture.failedStage(e);
            }
            return step.handle((next, error) -> error == null ? next : tryAgain(error))
                    .thenAccept(this::settle);
        }

        private void settle(Next next) {
            try {
                switch (next) {
                    case Next.Closed() -> close();
                    case Next.Again(Duration pause) -> loop.schedule(pause, this::await);
                }
            } catch (RuntimeException e) {
                log.error("node {}: the end of its judgement failed; it is looked at again", health.name, e);
                health.stage = NodeHealth.Stage.WAITING;
                waiting.add(health, this::isUnderWay);
            }
        }

        private void close() {
            if (heartbeats.isCurrent(health)) {
                court.rearm(health);
            } else {
                health.stage = NodeHealth.Stage.RESTING;
            }
        }

        private CompletionStage<Next> read() {
            lookedAt = now.nanos();
            // The reference believes its cache; only the node is read here, as no cache holds it.
            CompletableFuture<JsonObject> lease =
                    guard.isOn() ? looks.lease(health.name) : CompletableFuture.completedFuture(JsonObject.EMPTY);
            CompletableFuture<JsonObject> node = looks.node(health.name);
            return CompletableFuture.allOf(lease, node).thenCompose(both -> judge(lease.join(), node.join()));
        }

        private CompletionStage<Next> judge(JsonObject leaseNow, JsonObject nodeNow) {
            if (!heartbeats.isCurrent(health) || lanes.isClosed()) {
                return CompletableFuture.completedStage(new Next.Closed());
            }
            if (guard.isOn() && now.nanos() - lookedAt > ControllerConfig.CALL_TIMEOUT.toNanos()) {
                // This process stood still between the answers and now: what they say may be old.
                return CompletableFuture.completedStage(new Next.Again(Duration.ZERO));
            }
            Node node = new Node(nodeNow);
            if (!node.uid().equals(health.uid)) {
                // Deleted, perhaps recreated: the watch is about to tell. If it does not, there is another look later.
                return CompletableFuture.completedStage(new Next.Again(RETRY.cap()));
            }
            facts.before(health, guard.whenNodeTime(heartbeats.deadline(health)), heartbeats.grace(health));
            if (!leaseNow.isEmpty()) {
                heartbeats.saw(new Lease(leaseNow), Heartbeats.Source.LIVE, now.nanos());
            }
            tell("read", () -> court.read(health, node));
            facts.read(leaseNow, node, now.nanos());
            if (sent && health.ready.equals(Condition.UNKNOWN)) {
                settled();
            }
            Verdict verdict = Verdict.of(
                    node,
                    guard.whenNodeTime(heartbeats.deadline(health)),
                    now.nanos(),
                    loop.clock().wallTime());
            return switch (verdict) {
                case Verdict.Alive() -> {
                    log.debug("Node {} is late, but the API knows of a newer {}", health.name, health.signal);
                    tell("judged", () -> court.judged("Spared"));
                    tell("spared", () -> court.spared(health, facts.json(health, guard, loop.clock(), now.nanos())));
                    yield CompletableFuture.completedStage(new Next.Closed());
                }
                case Verdict.AlreadyUnknown() -> {
                    tell("judged", () -> court.judged("AlreadyUnknown"));
                    yield CompletableFuture.completedStage(new Next.Closed());
                }
                case Verdict.MarkUnknown mark ->
                    // The look may have moved the deadline, and what is to be written has to be proven, too.
                    court.isProven(heartbeats.deadline(health))
                            ? write(mark)
                            : CompletableFuture.completedStage(new Next.Again(RETRY.cap()));
            };
        }

        private CompletionStage<Next> write(Verdict.MarkUnknown mark) {
            sent = true;
            wasReady = mark.wasReady();
            facts.sent(guard.whenNodeTime(heartbeats.deadline(health)), heartbeats.grace(health), now.nanos());
            tell("took", () -> court.took(Hop.DEADLINE_TO_DECISION, now.nanos() - facts.deadline()));
            return client.updateStatus(
                            ResourceType.NODES, "", health.name, mark.node().json())
                    .handle((written, error) -> {
                        if (error != null) {
                            facts.answered(Failures.text(error), now.nanos());
                            sent = !isRefusal(error);
                            return tryAgain(error);
                        }
                        facts.answered("200", now.nanos());
                        tell("took", () -> court.took(Hop.DECISION_TO_WRITE, now.nanos() - facts.sentAt()));
                        if (heartbeats.isCurrent(health)) {
                            settled();
                            tell("wrote", () -> court.wrote(health, new Node(written)));
                        }
                        return new Next.Closed();
                    });
        }

        /** The verdict stands in the API. */
        private void settled() {
            sent = false;
            health.silenced = true;
            // As of when it was written: a renewal may have come since.
            long late = now.nanos() - facts.deadline();
            log.info(
                    "Node {} is now Unknown: last signal {}, deadline missed by {};"
                            + " wrote Ready and the pressure conditions as Unknown{}",
                    health.name,
                    facts.lastSignal(now.nanos()),
                    Heartbeats.age(late),
                    wasReady ? ", was Ready" : ", was not Ready");
            tell("judged", () -> court.judged("Unknown"));
            tell(
                    "silenced",
                    () -> court.silenced(health, wasReady, late, facts.json(health, guard, loop.clock(), now.nanos())));
        }

        /** Somebody else's failure to take news must not keep a verdict back. */
        private void tell(String what, Runnable news) {
            try {
                news.run();
            } catch (RuntimeException e) {
                log.error("node {}: \"{}\" could not be told", health.name, what, e);
            }
        }

        private Next tryAgain(Throwable error) {
            Duration wait = RETRY.delay(failures++);
            log.debug(
                    "Node {} is late, but cannot be judged: {}; again in {}", health.name, Failures.text(error), wait);
            if (failures == 8) {
                log.warn(
                        "Node {} is late, but could not be judged {} times: {}",
                        health.name,
                        failures,
                        Failures.text(error));
            }
            return new Next.Again(wait);
        }
    }

    /** Whether the server answered with a clear no, unlike one that failed or was not heard of. */
    private static boolean isRefusal(Throwable error) {
        return Failures.cause(error) instanceof ApiException refused && refused.code() < 500;
    }

    /** The monotonic time since the controller was made. */
    interface Now {
        /** Nanoseconds. */
        long nanos();
    }
}
