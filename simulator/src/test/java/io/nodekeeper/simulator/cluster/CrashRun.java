package io.nodekeeper.simulator.cluster;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.cluster.Chronicle.Story;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A node with two pods dies, and two nodes live. The controller or the API server is killed at one of the following
 * steps and starts again a second later; at the end the node recovers. Confined to virtual time.
 */
final class CrashRun {
    /** A short grace, so that there are fewer steps; longer than two renewals. */
    static final Duration GRACE = Duration.ofSeconds(25);

    private static final Duration TOLERATION = Duration.ofSeconds(15);
    private static final Duration DEATH = Duration.ofSeconds(20);
    private static final Duration DOWN = Duration.ofSeconds(1);
    /** The time by which an undisturbed controller has finished verdict, taints and evictions. */
    private static final Duration WATCHED = GRACE.plus(TOLERATION).plus(Duration.ofSeconds(10));
    /** The same for a successor that starts at the last of these steps. */
    private static final Duration SETTLED = GRACE.plus(TOLERATION).plus(Duration.ofSeconds(35));
    /** The time within which sight returns and due work is done: this project's requirement. */
    private static final Duration PROMPT = Duration.ofSeconds(5);
    /** The time within which a standby takes over: the lock's 15 s, and a retry. */
    private static final Duration TAKEOVER = Duration.ofSeconds(20);

    private final Moments moments;
    private final SimCluster cluster;
    private final Chronicle chronicle;
    private final int controllers;
    private final List<String> complaints = new ArrayList<>();
    private Optional<Duration> struckAt = Optional.empty();
    private String stateWhileDead = "";
    private String stateAtTheEnd = "";

    private CrashRun(int controllers, String struck, int target, Moments.Side side) {
        this.controllers = controllers;
        this.moments = target < 0
                ? Moments.numbering()
                : Moments.strikingAt(target, side, struck.equals("controller"), () -> strike(struck));
        ControllerConfig config = new ControllerConfig(
                ControllerConfig.DEFAULT.nodeMonitorPeriod(), GRACE, ControllerConfig.DEFAULT.nodeStartupGracePeriod());
        cluster = new SimCluster(new ClusterSetup(3, 11, controllers, true, config, moments::tap), line -> {
            if (line.contains("VIOLATION")) {
                complaints.add(line);
            }
        });
        chronicle = new Chronicle(cluster.time());
        cluster.observe(chronicle);
        run();
    }

    /** A run in which only the node is killed. */
    static CrashRun undisturbed(int controllers) {
        return new CrashRun(controllers, "", -1, Moments.Side.BEFORE);
    }

    /** A run in which {@code struck} is killed at step {@code target} of the first controller. */
    static CrashRun killing(String struck, int controllers, int target, Moments.Side side) {
        return new CrashRun(controllers, struck, target, side);
    }

    private void strike(String name) {
        struckAt = Optional.of(cluster.time().elapsed());
        cluster.crash(name);
        cluster.later(DOWN, () -> cluster.restart(name));
    }

    private void run() {
        cluster.run(Duration.ofSeconds(10));
        KubeClient admin = cluster.admin();
        for (String name : List.of("a", "b")) {
            admin.create(ResourceType.PODS, "default", pod(name, "n0"));
        }
        admin.create(ResourceType.PODS, "default", pod("c", "n1"));
        cluster.run(DEATH.minusSeconds(10));
        cluster.crash("n0");
        moments.begin();
        cluster.run(WATCHED);
        moments.end();
        cluster.run(SETTLED);
        stateWhileDead = chronicle.state();
        cluster.restart("n0");
        cluster.run(Duration.ofSeconds(30));
        stateAtTheEnd = chronicle.state();
    }

    private static JsonObject pod(String name, String node) {
        List<JsonValue> tolerations = new ArrayList<>();
        for (String key : List.of(Taint.NOT_READY, Taint.UNREACHABLE)) {
            tolerations.add(JsonObject.builder()
                    .put("key", key)
                    .put("operator", "Exists")
                    .put("effect", Taint.NO_EXECUTE)
                    .put("tolerationSeconds", TOLERATION.toSeconds())
                    .build());
        }
        JsonObject container = JsonObject.EMPTY.with("name", "main").with("image", "example.com/main:1");
        return JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("name", name))
                .put(
                        "spec",
                        JsonObject.builder()
                                .put("nodeName", node)
                                .put("containers", JsonArray.of(container))
                                .put("tolerations", new JsonArray(tolerations))
                                .build())
                .build();
    }

    List<Moments.Moment> moments() {
        return moments.seen();
    }

    Chronicle chronicle() {
        return chronicle;
    }

    String stateWhileDead() {
        return stateWhileDead;
    }

    String stateAtTheEnd() {
        return stateAtTheEnd;
    }

    /** The differences from a run in which only the node was killed. */
    List<String> complaints(CrashRun undisturbed) {
        if (!stateWhileDead.equals(undisturbed.stateWhileDead)) {
            complaints.add("ends as\n" + stateWhileDead + "and not as\n" + undisturbed.stateWhileDead);
        }
        if (!stateAtTheEnd.equals(undisturbed.stateAtTheEnd)) {
            complaints.add(
                    "after the node's return ends as\n" + stateAtTheEnd + "and not as\n" + undisturbed.stateAtTheEnd);
        }
        Story dead = chronicle.node("n0");
        Story expected = undisturbed.chronicle.node("n0");
        Optional<Duration> verdict = dead.first(Condition.UNKNOWN);
        if (dead.count(Condition.UNKNOWN) != 1) {
            complaints.add("n0 became Unknown " + dead.count(Condition.UNKNOWN) + " times; expected once");
        }
        verdict.ifPresent(at -> {
            // A restarted controller gives every node a full grace; one that was finished has nothing left to do.
            Duration usual = expected.first(Condition.UNKNOWN).orElseThrow();
            promptly(
                    "verdict",
                    Optional.of(at),
                    struckAt.filter(struck -> struck.compareTo(usual) <= 0)
                            .map(struck -> successor(struck).plus(GRACE))
                            .orElse(usual));
            promptly("NoSchedule", dead.noSchedule, successorAfter(at));
            if (expected.noExecute.isPresent()) {
                promptly("NoExecute", dead.noExecute, successorAfter(at));
            }
            chronicle.pods.forEach(
                    (name, pod) -> pod(name, pod, undisturbed.chronicle.pod(name), at, dead.noExecuteAdded));
        });
        for (String alive : List.of("n1", "n2")) {
            Story node = chronicle.node(alive);
            if (node.turns.size() != 1 || node.changes > undisturbed.chronicle.node(alive).changes) {
                complaints.add(alive + " was touched: " + node.turns + ", " + node.changes + " changes");
            }
        }
        chronicle.events.forEach((event, count) -> {
            // Each controller may repeat an event if it does not know whether it was written.
            int most = undisturbed.chronicle.events.getOrDefault(event, 0) + controllers;
            if (count > most) {
                complaints.add("event " + event + " was written " + count + " times; expected at most " + most);
            }
        });
        return complaints;
    }

    private void pod(String name, Story pod, Story expected, Duration verdict, Instant added) {
        if (pod.count(Condition.FALSE) != expected.count(Condition.FALSE)) {
            complaints.add(name + " was marked " + pod.count(Condition.FALSE) + " times");
        }
        expected.first(Condition.FALSE)
                .ifPresent(marked -> promptly("mark of " + name, pod.first(Condition.FALSE), successorAfter(verdict)));
        if (pod.deletions != expected.deletions) {
            complaints.add(name + " was deleted " + pod.deletions + " times; expected " + expected.deletions);
        }
        pod.deleting.ifPresent(at -> {
            Duration due = Duration.between(
                            cluster.time().wallTime().minus(cluster.time().elapsed()), added)
                    .plus(TOLERATION);
            if (at.compareTo(due) < 0) {
                complaints.add(name + " was deleted at " + at + ", before " + due);
            }
            promptly("eviction of " + name, pod.deleting, successorAfter(due));
        });
    }

    /**
     * When a controller can act on what is due at {@code due}: immediately, or once the successor runs if the kill was
     * at about that time.
     */
    private Duration successorAfter(Duration due) {
        return struckAt.map(this::successor)
                .filter(there -> there.compareTo(due) > 0)
                .orElse(due);
    }

    private Duration successor(Duration struck) {
        return controllers == 1 ? struck.plus(DOWN) : struck.plus(TAKEOVER);
    }

    private void promptly(String what, Optional<Duration> at, Duration due) {
        if (at.isEmpty() || at.get().compareTo(due.plus(PROMPT)) > 0) {
            complaints.add(what + " came " + at.map(time -> "at " + time).orElse("never") + "; expected by "
                    + due.plus(PROMPT));
        }
    }
}
