package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** An artificial history of a cluster, built step by step, and the oracle's result. */
final class TestHistory {
    static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    static final String UNREACHABLE_NO_SCHEDULE = "node.kubernetes.io/unreachable:NoSchedule";
    static final String UNREACHABLE_NO_EXECUTE = "node.kubernetes.io/unreachable:NoExecute";
    static final String NOT_READY_NO_SCHEDULE = "node.kubernetes.io/not-ready:NoSchedule";

    final VirtualTime time = new VirtualTime(BEGINNING);
    final Tally tally = new Tally();
    final List<String> trace = new ArrayList<>();
    final Oracle oracle;
    private final List<String> crowd = new ArrayList<>();

    private TestHistory(Duration takeover) {
        oracle = new Oracle(
                time,
                ControllerConfig.DEFAULT,
                Duration.ofSeconds(10),
                takeover,
                (who, what) -> trace.add(who + " " + what),
                tally);
    }

    /** A history with one controller, active since long before second 0. */
    static TestHistory ofOneController() {
        TestHistory history = new TestHistory(Duration.ZERO);
        history.oracle.controllerBegan();
        history.time.advance(Duration.ofSeconds(1_000));
        return history;
    }

    /** Advances time; the crowd renews. */
    TestHistory pass(double seconds) {
        for (double left = seconds; left > 0; left -= 10) {
            time.advance(Duration.ofNanos(Math.round(Math.min(left, 10) * 1e9)));
            crowd.forEach(this::renew);
        }
        return this;
    }

    /** Adds this many nodes that are Ready and renew throughout the history. */
    TestHistory crowd(int size) {
        for (int number = 0; number < size; number++) {
            crowd.add("other" + number);
            ready("other" + number);
        }
        return this;
    }

    /** Adds a Ready node without taints that has just renewed. */
    TestHistory ready(String name) {
        return node(name, "uid-" + name, "True").renew(name);
    }

    /** Sets the node's Ready condition, with the current time as heartbeat. */
    TestHistory node(String name, String uid, String ready, String... taints) {
        return node(name, uid, ready, time.wallTime(), taints);
    }

    /** Sets the node's Ready condition, with that heartbeat. */
    TestHistory node(String name, String uid, String ready, Instant heartbeat, String... taints) {
        oracle.node(object(name, uid, ready, heartbeat, taints));
        return this;
    }

    /** The controller declares it Unknown, and taints it. */
    TestHistory unknown(String name, String... taints) {
        return node(name, "uid-" + name, "Unknown", BEGINNING, taints);
    }

    TestHistory deleted(String name) {
        oracle.nodeGone(object(name, "uid-" + name, "", BEGINNING));
        return this;
    }

    TestHistory renew(String name) {
        oracle.lease(lease(name, KubeTime.formatMicro(time.wallTime())));
        return this;
    }

    /** Another client writes to the lease. */
    TestHistory touch(String name, String renewTime) {
        oracle.lease(lease(name, renewTime));
        return this;
    }

    TestHistory fails(String name) {
        oracle.nodeIs(name, false);
        return this;
    }

    TestHistory comesBack(String name) {
        oracle.nodeIs(name, true);
        return this;
    }

    /** Freezes the API server for this time. */
    TestHistory serverOutage(double seconds) {
        oracle.serverIs(false);
        oracle.controlIs(false);
        pass(seconds);
        oracle.serverIs(true);
        oracle.controlIs(true);
        return this;
    }

    /** Freezes the controller for this time. */
    TestHistory controllerStall(double seconds) {
        oracle.controlIs(false);
        pass(seconds);
        oracle.controlIs(true);
        return this;
    }

    /** Binds a pod to a node whose failure it tolerates for this time. */
    TestHistory pod(String name, String node, int tolerationSeconds) {
        oracle.pod(podObject(name, node, tolerationSeconds));
        return this;
    }

    TestHistory podDeleted(String name, String node) {
        oracle.pod(Json.parseObject(Json.write(podObject(name, node, 0)))
                .with(
                        "metadata",
                        podObject(name, node, 0)
                                .object("metadata")
                                .with("deletionTimestamp", KubeTime.format(time.wallTime()))));
        return this;
    }

    /** A candidate holds the lock. */
    TestHistory lock(String holder) {
        oracle.lock(JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", "kube-controller-manager"))
                .with("spec", JsonObject.EMPTY.with("holderIdentity", holder)));
        return this;
    }

    /** A candidate writes another object. */
    TestHistory writes(String identity) {
        oracle.writes(identity, "PATCH /api/v1/nodes/n1");
        return this;
    }

    long violations(Rule rule) {
        return tally.of(rule);
    }

    private static JsonObject podObject(String name, String node, int seconds) {
        List<JsonValue> tolerations = new ArrayList<>();
        for (String key : List.of("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready")) {
            tolerations.add(JsonObject.EMPTY
                    .with("key", key)
                    .with("operator", "Exists")
                    .with("effect", "NoExecute")
                    .with("tolerationSeconds", JsonNumber.of(seconds)));
        }
        return JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", name).with("uid", "uid-" + name))
                .with("spec", JsonObject.EMPTY.with("nodeName", node).with("tolerations", new JsonArray(tolerations)));
    }

    private static JsonObject lease(String name, String renewTime) {
        return JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", name))
                .with("spec", JsonObject.EMPTY.with("holderIdentity", name).with("renewTime", renewTime));
    }

    private JsonObject object(String name, String uid, String ready, Instant heartbeat, String... taints) {
        List<JsonValue> list = new ArrayList<>();
        for (String taint : taints) {
            String[] parts = taint.split(":");
            list.add(JsonObject.EMPTY
                    .with("key", parts[0])
                    .with("effect", parts[1])
                    .with("timeAdded", KubeTime.format(time.wallTime())));
        }
        JsonArray conditions = ready.isEmpty()
                ? new JsonArray(List.of())
                : JsonArray.of(JsonObject.EMPTY
                        .with("type", "Ready")
                        .with("status", ready)
                        .with("lastHeartbeatTime", KubeTime.format(heartbeat)));
        return JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", name).with("uid", uid))
                .with("spec", JsonObject.EMPTY.with("taints", new JsonArray(list)))
                .with("status", JsonObject.EMPTY.with("conditions", conditions));
    }
}
