package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Taint;
import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Checks the deletions of pods, none of which the run itself deletes: a pod is evicted once its toleration of its
 * node's NoExecute taints has ended, neither earlier nor much later, and not from a node that recovered; a pod of a
 * node that no longer exists is collected after its quarantine. Confined to virtual time.
 */
final class PodDeletionRules {
    /**
     * How late an eviction may be: 1 s because {@code timeAdded} has whole seconds and no pod may be evicted early, and
     * 1 s for two live reads, two writes and their queues.
     */
    private static final Duration PROMPT = Duration.ofSeconds(2);
    /** How long a node is missing before its pods are collected (Kubernetes' value). */
    private static final Duration QUARANTINE = Duration.ofSeconds(40);
    /** The latest collection: the quarantine, one collection period (20 s), and the time of its calls. */
    private static final Duration COLLECTED = Duration.ofSeconds(65);
    /** How long a decision may be in progress: two calls on a healthy network. */
    private static final long UNDER_WAY = Duration.ofMillis(100).toNanos();
    /** The longest time from a decision until its taint is seen. */
    private static final long CLOCK_EDGE = Duration.ofSeconds(1).toNanos();
    /** The deadline of a pod that may stay. */
    private static final long FOREVER = Long.MAX_VALUE;

    private final Scales scales;
    private final Function<String, Optional<NodeFacts>> nodes;
    /** The existing pods, by UID. */
    private final Map<String, PodFacts> pods = new TreeMap<>();
    /** When the wall clock of a controller was wrong; controllers use it to set and to read the times of taints. */
    private final Disturbances clocks = new Disturbances(Duration.ZERO);

    private long begunAt;

    PodDeletionRules(Scales scales, Function<String, Optional<NodeFacts>> nodes) {
        this.scales = scales;
        this.nodes = nodes;
    }

    /** A controller became active; it does not know since when nodes were missing before. */
    void controllerBegan() {
        begunAt = scales.now();
    }

    /** The wall clocks of all controllers are right, or one of them is wrong. */
    void clocksAre(boolean right) {
        if (right) {
            clocks.end(scales.now());
        } else {
            clocks.begin(scales.now());
        }
    }

    /** A pod was created or changed. */
    void pod(JsonObject json) {
        String uid = json.object("metadata").text("uid");
        PodFacts pod = pods.get(uid);
        if (pod == null) {
            pod = new PodFacts(json, scales.now());
            pods.put(uid, pod);
            scales.trace(pod.name, "Pod created on " + pod.node);
            expect(pod);
        }
        if (json.object("metadata").has("deletionTimestamp") && !pod.ended) {
            ends(pod);
        }
    }

    /** A pod is gone. */
    void podGone(JsonObject json) {
        PodFacts pod = pods.remove(json.object("metadata").text("uid"));
        if (pod != null && !pod.ended) {
            ends(pod);
        }
    }

    /** A node was created or deleted, or its NoExecute taints changed. */
    void nodeChanged(String name) {
        pods.values().stream().filter(pod -> pod.node.equals(name)).forEach(this::expect);
    }

    private void ends(PodFacts pod) {
        pod.ended = true;
        pod.review++;
        long now = scales.now();
        NodeFacts node = nodes.apply(pod.node).orElse(null);
        if (node == null || !node.known) {
            collected(pod, node);
            return;
        }
        long due = due(pod, node);
        if (due == FOREVER) {
            // The decision may have been in progress when the taint was removed.
            long before = node.noExecuteChangedAt == NodeFacts.NEVER ? now : now - node.noExecuteChangedAt;
            boolean underWay = node.noExecuteChangedAt != NodeFacts.NEVER
                    && before - scales.control.within(node.noExecuteChangedAt - UNDER_WAY, now) <= UNDER_WAY;
            scales.trace(pod.name, "Pod deleted from " + pod.node + ", which has no taint that it does not tolerate");
            if (!underWay) {
                scales.violated(
                        Rule.EVICTED_WRONGLY,
                        pod.name,
                        "deleted from " + pod.node + ", Ready=" + node.ready + " taints=[" + node.taintsText() + "]");
            }
            return;
        }
        scales.tally().evicted();
        scales.trace(
                pod.name,
                "Pod evicted from " + pod.node + ", " + Scales.text(Math.abs(now - due))
                        + (now < due ? " before" : " after") + " its toleration ended");
        if (now < due && !isMisdated(node)) {
            scales.violated(
                    Rule.EVICTED_EARLY,
                    pod.name,
                    "evicted from " + pod.node + " " + Scales.text(due - now) + " before its toleration ended");
        }
    }

    private void collected(PodFacts pod, @Nullable NodeFacts node) {
        long missing = node == null ? FOREVER : scales.now() - node.goneAt;
        scales.tally().collected();
        scales.trace(
                pod.name,
                "Pod collected, " + pod.node
                        + (missing == FOREVER ? " never was" : " gone for " + Scales.text(missing)));
        if (missing < QUARANTINE.toNanos()) {
            scales.violated(
                    Rule.COLLECTED_EARLY,
                    pod.name,
                    "collected although " + pod.node + " was gone for only " + Scales.text(missing));
        }
    }

    /** Schedules the check for what is due for the pod in the current state. */
    private void expect(PodFacts pod) {
        long review = ++pod.review;
        NodeFacts node = nodes.apply(pod.node).orElse(null);
        if (pod.ended || node == null) {
            return;
        }
        if (!node.known) {
            long from = Math.max(pod.createdAt, Math.max(node.goneAt, begunAt));
            scales.after(from, COLLECTED, scales.control, () -> pod.review == review, () -> {
                if (begunAt > from) {
                    expect(pod);
                    return;
                }
                scales.violated(
                        Rule.COLLECTED_LATE,
                        pod.name,
                        "still there, " + pod.node + " gone for " + Scales.text(scales.now() - node.goneAt));
            });
            return;
        }
        long due = due(pod, node);
        if (due == FOREVER) {
            return;
        }
        expectEviction(pod, node, due, due, review);
    }

    private void expectEviction(PodFacts pod, NodeFacts node, long due, long from, long review) {
        scales.after(from, PROMPT, scales.control, () -> pod.review == review, () -> {
            // If a taint's time is wrong, a new controller counts from its own start.
            long later = isMisdated(node)
                    ? Math.max(begunAt, pod.createdAt) + due - Math.max(node.noExecuteSince, pod.createdAt)
                    : from;
            if (later > from) {
                expectEviction(pod, node, due, later, review);
                return;
            }
            scales.violated(
                    Rule.EVICTED_LATE,
                    pod.name,
                    "still on " + pod.node + " " + Scales.text(scales.now() - due) + " after its toleration ended");
        });
    }

    /** When the pod has to leave because of its node's taints; {@link #FOREVER} if it may stay. */
    private static long due(PodFacts pod, NodeFacts node) {
        long seconds = patience(pod, node);
        return seconds == FOREVER ? FOREVER : Math.max(node.noExecuteSince, pod.createdAt) + seconds * 1_000_000_000L;
    }

    /**
     * How many seconds the pod tolerates the taints of its node that is not ready; {@link #FOREVER} if without limit.
     */
    private static long patience(PodFacts pod, NodeFacts node) {
        long least = FOREVER;
        for (Taint taint : node.taints) {
            boolean counts = taint.effect().equals(Taint.NO_EXECUTE)
                    && (taint.key().equals(Taint.UNREACHABLE) || taint.key().equals(Taint.NOT_READY));
            if (counts) {
                Optional<Toleration> used = pod.tolerations.stream()
                        .filter(toleration -> toleration.tolerates(taint.key(), taint.value(), Taint.NO_EXECUTE))
                        .findFirst();
                long seconds = used.isEmpty() ? 0 : used.get().seconds().orElse(FOREVER);
                least = Math.min(least, Math.max(0, seconds));
            }
        }
        return least;
    }

    /** Whether a wrong clock may have been used to set or to read the time of the node's taint. */
    private boolean isMisdated(NodeFacts node) {
        long now = scales.now();
        return clocks.within(node.noExecuteSince - CLOCK_EDGE, now) > 0;
    }
}
