package io.nodekeeper.controller;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Lanes;
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
         * Completes with true once all is seen that was stored before the nodes' clock showed {@code nodeTime}, with
         * false if nothing can be seen at present.
         */
        CompletionStage<Boolean> proof(long nodeTime);

        /** The node is judged when something can be seen again. */
        void park(NodeHealth health);

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
    private final Lanes lanes;
    private final Court court;
    private final Now now;

    Judge(KubeClient client, Heartbeats heartbeats, ObserverGuard guard, Lanes lanes, Court court, Now now) {
        this.client = client;
        this.loop = client.loop();
        this.heartbeats = heartbeats;
        this.guard = guard;
        this.lanes = lanes;
        this.court = court;
        this.now = now;
    }

    /** The node's deadline has passed, as far as this process knows. */
    void overdue(NodeHealth health) {
        if (!health.judging) {
            health.judging = true;
            Case open = new Case(health);
            lanes.urgent(open::look);
        }
    }

    /** One node under judgement, over all tries. */
    private final class Case {
        private final NodeHealth health;
        private final VerdictFacts facts;
        private int failures;
        /** Whether a write was sent whose outcome is not known. */
        private boolean sent;

        private boolean wasReady;

        private Case(NodeHealth health) {
            this.health = health;
            this.facts = new VerdictFacts(now.nanos());
        }

        private CompletionStage<?> look() {
            // A write without an answer is followed up in any case.
            if (!heartbeats.isOverdue(health, now.nanos()) && !sent) {
                return close();
            }
            return court.proof(heartbeats.deadline(health)).thenCompose(proven -> {
                if (!proven && !sent) {
                    health.judging = false;
                    court.park(health);
                    return CompletableFuture.completedStage(null);
                }
                facts.proven(now.nanos());
                return read();
            });
        }

        private CompletionStage<?> read() {
            // The reference believes its cache; only the node is read here, as no cache holds it.
            CompletableFuture<JsonObject> lease = guard.isOn()
                    ? absentIfNotFound(client.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, health.name))
                    : CompletableFuture.completedFuture(JsonObject.EMPTY);
            CompletableFuture<JsonObject> node = absentIfNotFound(client.get(ResourceType.NODES, "", health.name));
            return CompletableFuture.allOf(lease, node)
                    .handle((looked, error) -> error == null ? judge(lease.join(), node.join()) : tryAgain(error))
                    .thenCompose(next -> next);
        }

        private CompletionStage<?> judge(JsonObject leaseNow, JsonObject nodeNow) {
            if (!heartbeats.isCurrent(health) || lanes.isClosed()) {
                return close();
            }
            Node node = new Node(nodeNow);
            if (!node.uid().equals(health.uid)) {
                // Deleted, perhaps recreated: the watch is about to tell. If it does not, there is another look later.
                return postpone();
            }
            facts.before(health);
            if (!leaseNow.isEmpty()) {
                heartbeats.saw(new Lease(leaseNow), Heartbeats.Source.LIVE, now.nanos());
            }
            court.read(health, node);
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
                    court.judged("Spared");
                    court.spared(health, facts.json(health, heartbeats, guard, loop.clock(), now.nanos()));
                    yield close();
                }
                case Verdict.AlreadyUnknown() -> {
                    court.judged("AlreadyUnknown");
                    yield close();
                }
                case Verdict.MarkUnknown mark -> guard.proves(heartbeats.deadline(health)) ? write(mark) : postpone();
            };
        }

        private CompletionStage<?> write(Verdict.MarkUnknown mark) {
            sent = true;
            wasReady = mark.wasReady();
            facts.sent(guard.whenNodeTime(heartbeats.deadline(health)), heartbeats.grace(health), now.nanos());
            court.took(Hop.DEADLINE_TO_DECISION, now.nanos() - facts.deadline());
            return client.updateStatus(
                            ResourceType.NODES, "", health.name, mark.node().json())
                    .handle((written, error) -> {
                        if (error != null) {
                            facts.answered(Failures.text(error), now.nanos());
                            sent = !isRefusal(error);
                            return tryAgain(error);
                        }
                        facts.answered("200", now.nanos());
                        court.took(Hop.DECISION_TO_WRITE, now.nanos() - facts.sentAt());
                        if (heartbeats.isCurrent(health)) {
                            settled();
                            court.wrote(health, new Node(written));
                        }
                        return close();
                    })
                    .thenCompose(next -> next);
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
            court.judged("Unknown");
            court.silenced(health, wasReady, late, facts.json(health, heartbeats, guard, loop.clock(), now.nanos()));
        }

        private CompletionStage<?> tryAgain(Throwable error) {
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
            loop.schedule(wait, () -> lanes.urgent(this::look));
            return CompletableFuture.completedStage(null);
        }

        private CompletionStage<?> close() {
            health.judging = false;
            if (heartbeats.isCurrent(health)) {
                court.rearm(health);
            }
            return CompletableFuture.completedStage(null);
        }

        private CompletionStage<?> postpone() {
            loop.schedule(RETRY.cap(), () -> lanes.urgent(this::look));
            return CompletableFuture.completedStage(null);
        }
    }

    /** Whether the server answered with a clear no, unlike one that failed or was not heard of. */
    private static boolean isRefusal(Throwable error) {
        return Failures.cause(error) instanceof ApiException refused && refused.code() < 500;
    }

    private static CompletableFuture<JsonObject> absentIfNotFound(CompletableFuture<JsonObject> read) {
        return read.exceptionally(error -> {
            if (Failures.isCode(error, 404)) {
                return JsonObject.EMPTY;
            }
            throw Failures.cause(error) instanceof RuntimeException known
                    ? known
                    : new IllegalStateException(Failures.cause(error));
        });
    }

    /** The monotonic time since the controller was made. */
    interface Now {
        /** Nanoseconds. */
        long nanos();
    }
}
