package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.controller.history.Evidence;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What a verdict rests on, collected while a node is judged, for those who ask later why. Confined to the loop. */
final class VerdictFacts {
    private record Answer(String text, long took) {}

    private final long noticedAt;
    /** The most answers that are kept: a write may be refused for days. */
    private static final int MAX_ANSWERS = 32;
    /** Of these, the first ones: what went wrong at first explains the most. */
    private static final int FIRST_ANSWERS = 8;

    /** The first and the last answers, at most {@link #MAX_ANSWERS}. */
    private final List<Answer> answers = new ArrayList<>();

    private long provenAt;
    private ObserverGuard.Means means = ObserverGuard.Means.WATCH;
    private long readAt;
    private long sentAt;
    private long deadline;
    private long grace;
    private String signal = "";
    private String sentByNode = "";
    private long lagMicros = -1;
    private long arrivedAt;
    private long lostBefore;
    private String read = "";

    /** The deadline was noticed at {@code noticedAt}, monotonic. */
    VerdictFacts(long noticedAt) {
        this.noticedAt = noticedAt;
    }

    /** The controller's sight was proved. */
    void proven(ObserverGuard.Means by, long now) {
        means = by;
        provenAt = now;
    }

    /** What was known before anything was read live, which may move the deadline; {@code missed} is monotonic. */
    void before(NodeHealth health, long missed, long allowed) {
        if (sentAt == 0) {
            deadline = missed;
            grace = allowed;
        }
        signal = health.signal.toString();
        sentByNode = health.signal == NodeHealth.Signal.LEASE ? renewTime(health) : health.readyHeartbeat;
        lagMicros = health.signal == NodeHealth.Signal.LEASE ? health.lagMicros : -1;
        arrivedAt = health.arrivedAt;
        lostBefore = health.lostBefore;
    }

    /** The lease's renewTime as the API writes it; empty if there is none. */
    static String renewTime(NodeHealth health) {
        return health.renewMicros == LeaseLine.NO_TIME
                ? ""
                : KubeTime.formatMicro(Instant.ofEpochSecond(
                        Math.floorDiv(health.renewMicros, 1_000_000),
                        Math.floorMod(health.renewMicros, 1_000_000) * 1_000L));
    }

    /** What a live read showed. */
    void read(JsonObject lease, Node node, long now) {
        readAt = now;
        String renewed = new Lease(lease).spec().text("renewTime");
        String heartbeat = node.ready()
                .map(Condition::json)
                .map(condition -> condition.text("lastHeartbeatTime"))
                .orElse("");
        read = (renewed.isEmpty() ? "no lease" : "lease renewed " + renewed)
                + (heartbeat.isEmpty() ? ", no status" : ", status of " + heartbeat);
    }

    /** The verdict was sent, because of a silence beyond {@code deadline}, monotonic. */
    void sent(long missed, long allowed, long now) {
        deadline = missed;
        grace = allowed;
        sentAt = now;
    }

    /** The deadline that was missed, monotonic; only after {@link #before}. */
    long deadline() {
        return deadline;
    }

    /** The last sign of life before the verdict, for people. */
    String lastSignal(long now) {
        return signal + " " + Heartbeats.age(now - arrivedAt) + " ago";
    }

    /** What the API said to it. */
    void answered(String answer, long now) {
        if (answers.size() == MAX_ANSWERS) {
            answers.remove(FIRST_ANSWERS);
        }
        answers.add(new Answer(answer, now - sentAt));
    }

    /** When it was sent the last time, monotonic; 0 if it was not. */
    long sentAt() {
        return sentAt;
    }

    /** All of it. */
    JsonObject json(NodeHealth health, ObserverGuard guard, Clock clock, long now) {
        Instant wallTime = clock.wallTime();
        Evidence evidence = new Evidence()
                .signal(signal)
                .sentAt(sentByNode)
                .arrivedAt(wallTime.minusNanos(now - arrivedAt))
                .silence(Duration.ofNanos(now - arrivedAt))
                .grace(Duration.ofNanos(grace))
                .deadline(wallTime.minusNanos(now - deadline), Duration.ofNanos(Math.max(0, noticedAt - deadline)))
                .sight(sight(guard));
        if (lagMicros >= 0) {
            evidence.lag(Hop.NODE_TO_CONTROLLER.label(), Duration.ofNanos(lagMicros * 1_000));
        }
        if (guard.lost() > lostBefore) {
            evidence.fact("givenBack", Heartbeats.age(guard.lost() - lostBefore));
        }
        if (readAt != 0) {
            evidence.fact("liveLook", read + ", " + Heartbeats.age(readAt - deadline) + " after the deadline");
        }
        if (sentAt != 0) {
            evidence.lag(Hop.DEADLINE_TO_DECISION.label(), Duration.ofNanos(sentAt - deadline));
        }
        String call = "PUT /api/v1/nodes/" + health.name + "/status";
        answers.forEach(answer -> evidence.write(call, answer.text, Duration.ofNanos(answer.took)));
        return evidence.json();
    }

    private String sight(ObserverGuard guard) {
        if (!guard.isOn()) {
            return "not proved: the gate ObserverGuard is closed";
        }
        if (provenAt != 0 && means != ObserverGuard.Means.WATCH) {
            return "the watch did not tell in time; instead " + means.meaning() + ", "
                    + Heartbeats.age(Math.max(0, provenAt - deadline))
                    + " after the deadline, so the stricter rule for live reads was used";
        }
        return provenAt == 0
                ? "not proved"
                : "a canary proved, " + Heartbeats.age(Math.max(0, provenAt - deadline))
                        + " after the deadline, that everything written until then was seen";
    }
}
