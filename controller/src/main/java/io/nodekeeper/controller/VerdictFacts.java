package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonString;
import io.nodekeeper.api.JsonValue;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.time.Clock;
import java.util.ArrayList;
import java.util.List;

/**
 * What a verdict rests on, collected while a node is judged, for those who ask later why. Ages and delays are
 * milliseconds. Confined to the loop.
 */
final class VerdictFacts {
    private final long noticedAt;
    private final List<String> answers = new ArrayList<>();
    private long provenAt;
    private long readAt;
    private long sentAt;
    private String signal = "";
    private String sentByNode = "";
    private long arrivedAt;
    private String leaseRead = "";
    private String heartbeatRead = "";

    /** The deadline was noticed at {@code noticedAt}, monotonic. */
    VerdictFacts(long noticedAt) {
        this.noticedAt = noticedAt;
    }

    /** The controller's sight was proved. */
    void proven(long now) {
        provenAt = now;
    }

    /** What was known before anything was read live. */
    void before(NodeHealth health) {
        signal = health.signal.toString();
        sentByNode = health.signal == NodeHealth.Signal.LEASE ? health.renewTime : health.readyHeartbeat;
        arrivedAt = health.arrivedAt;
    }

    /** What a live read showed. */
    void read(JsonObject lease, Node node, long now) {
        readAt = now;
        leaseRead = new Lease(lease).spec().text("renewTime");
        heartbeatRead = node.ready()
                .map(Condition::json)
                .map(c -> c.text("lastHeartbeatTime"))
                .orElse("");
    }

    /** The verdict was sent. */
    void sent(long now) {
        sentAt = now;
    }

    /** What the API said to it. */
    void answered(String answer, long now) {
        answers.add(answer + " after " + Heartbeats.age(now - sentAt));
    }

    /** All of it. */
    JsonObject json(NodeHealth health, Heartbeats heartbeats, ObserverGuard guard, Clock clock, long now) {
        long deadline = guard.whenNodeTime(heartbeats.deadline(health));
        return JsonObject.builder()
                .put(
                        "lastSignal",
                        JsonObject.builder()
                                .put("kind", signal)
                                .putUnlessEmpty("sentByNodeClock", sentByNode)
                                .put("arrived", wall(arrivedAt, clock, now))
                                .put("ageMs", millis(now - arrivedAt))
                                .build())
                .put(
                        "deadline",
                        JsonObject.builder()
                                .put("graceMs", millis(heartbeats.grace(health)))
                                .put("at", wall(deadline, clock, now))
                                .put("givenBackMs", millis(guard.lost()))
                                .put("noticedAfterMs", millis(noticedAt - deadline))
                                .build())
                .put(
                        "sight",
                        JsonObject.builder()
                                .put("guard", guard.isOn())
                                .put("canaryAgeMs", millis(guard.canaryAge(now)))
                                .put("provenAfterMs", provenAt == 0 ? 0 : millis(provenAt - noticedAt))
                                .build())
                .put(
                        "live",
                        JsonObject.builder()
                                .put("readAfterMs", readAt == 0 ? 0 : millis(readAt - noticedAt))
                                .putUnlessEmpty("leaseRenewTime", leaseRead)
                                .putUnlessEmpty("readyHeartbeat", heartbeatRead)
                                .build())
                .put(
                        "write",
                        JsonObject.builder()
                                .put("request", sentAt == 0 ? "" : "PUT /api/v1/nodes/" + health.name + "/status")
                                .put(
                                        "answers",
                                        new JsonArray(answers.stream()
                                                .<JsonValue>map(JsonString::new)
                                                .toList()))
                                .put("doneAfterMs", millis(now - deadline))
                                .build())
                .build();
    }

    private static String wall(long at, Clock clock, long now) {
        return KubeTime.formatMicro(clock.wallTime().minusNanos(now - at));
    }

    private static long millis(long nanos) {
        return nanos / 1_000_000;
    }
}
