package io.nodekeeper.controller.flaps;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.FlapDampingConfig;
import io.nodekeeper.controller.explain.Explanations;
import io.nodekeeper.controller.explain.NodeEvents;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.Now;
import io.nodekeeper.controller.taints.Damping;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Damps the nodes that flap ({@link FlapDamping}): keeps their taints while they are Ready, publishes that as events
 * and as a condition, which a successor reads, and has the taints checked again when damping ends. Confined to the
 * loop.
 */
public final class Flaps implements Damping, FlapFollower {
    private static final Logger log = LoggerFactory.getLogger(Flaps.class);

    /** The condition that the API should show for a node. */
    private static final class Shown {
        private Condition condition;
        private boolean damped;

        private Shown(Condition condition) {
            this.condition = condition;
        }
    }

    private final FlapDamping damping;
    private final FlapReport report;
    private final Loop loop;
    private final PriorityWorkQueue workQueue;
    private final Heartbeats heartbeats;
    private final Explanations explanations;
    private final NodeEvents events;
    private final ControllerMetrics metrics;
    private final Consumer<NodeHealth> recheck;
    private final Now now;
    /** The nodes that are damped, and those whose condition is not written yet. */
    private final Map<NodeHealth, Shown> shown = new HashMap<>();

    private final FlapConditions conditions;

    /** The nodes that fell from Ready at least once, or that a predecessor damped. */
    private final Map<NodeHealth, FlapDamping.State> states = new IdentityHashMap<>();

    private int damped;

    /** {@code recheck} has the taints of a node checked again. */
    public Flaps(
            FlapDampingConfig config,
            KubeClient client,
            PriorityWorkQueue workQueue,
            Heartbeats heartbeats,
            Explanations explanations,
            NodeEvents events,
            ControllerMetrics metrics,
            Consumer<NodeHealth> recheck,
            Now now) {
        this.damping = new FlapDamping(config);
        this.report = new FlapReport(config);
        this.loop = client.loop();
        this.workQueue = workQueue;
        this.heartbeats = heartbeats;
        this.explanations = explanations;
        this.events = events;
        this.metrics = metrics;
        this.recheck = recheck;
        this.now = now;
        this.conditions = new FlapConditions(client, workQueue, heartbeats);
    }

    @Override
    public boolean holds(NodeHealth health) {
        FlapDamping.State state = states.get(health);
        return state != null && damping.isDamped(state, now.nanos());
    }

    @Override
    public void added(NodeHealth health, Node node) {
        Optional<Condition> condition = FlapReport.of(node);
        if (condition.isEmpty()) {
            return;
        }
        FlapDamping.State known = report.restore(condition.get(), now.nanos(), wallTime())
                .orElseGet(() -> damping.restored(0, 1, now.nanos()));
        Shown state = new Shown(condition.get());
        shown.put(health, state);
        count(state, true);
        states.put(health, known);
        awaitEnd(health, known);
    }

    @Override
    public void changed(NodeHealth health, String before) {
        if (!FlapDamping.isFall(before, health.ready())) {
            return;
        }
        metrics.flapped();
        FlapDamping.State state = states.computeIfAbsent(health, fallen -> new FlapDamping.State());
        boolean begins = damping.fell(state, now.nanos());
        if (!damping.isDamped(state, now.nanos())) {
            return;
        }
        Optional<Condition> last = Optional.ofNullable(shown.get(health)).map(known -> known.condition);
        Condition condition = report.damped(last, state, now.nanos(), wallTime());
        count(show(health, condition), true);
        if (begins) {
            log.warn("Node {} flaps: {}", health.name(), condition.message());
            explanations.damping(health, condition);
            events.damped(health.name(), health.uid(), condition.reason(), condition.message());
            awaitEnd(health, state);
        }
    }

    /** How often the node fell from Ready. */
    public int falls(NodeHealth health) {
        FlapDamping.State state = states.get(health);
        return state == null ? 0 : state.falls();
    }

    /** How much longer each damped node is damped, if it does not fall again. */
    public Map<NodeHealth, Duration> damped() {
        Map<NodeHealth, Duration> left = new IdentityHashMap<>();
        shown.keySet().forEach(health -> damped(health).ifPresent(duration -> left.put(health, duration)));
        return left;
    }

    /** The same for one node; empty if it is not damped. */
    public Optional<Duration> damped(NodeHealth health) {
        Shown known = shown.get(health);
        FlapDamping.State state = states.get(health);
        return known != null && known.damped && state != null
                ? Optional.of(Duration.ofNanos(Math.max(0, damping.reuseAt(state) - now.nanos())))
                : Optional.empty();
    }

    @Override
    public void gone(NodeHealth health) {
        states.remove(health);
        Shown last = shown.remove(health);
        if (last != null) {
            count(last, false);
        }
    }

    private void count(Shown state, boolean isDamped) {
        if (state.damped != isDamped) {
            state.damped = isDamped;
            damped += isDamped ? 1 : -1;
            metrics.damped(damped);
        }
    }

    private void awaitEnd(NodeHealth health, FlapDamping.State state) {
        long left = Math.max(0, damping.reuseAt(state) - now.nanos());
        loop.schedule(Duration.ofNanos(left), () -> end(health, state));
    }

    private void end(NodeHealth health, FlapDamping.State state) {
        Shown known = shown.get(health);
        if (!heartbeats.isCurrent(health) || known == null || !known.damped || workQueue.isClosed()) {
            return;
        }
        if (damping.isDamped(state, now.nanos())) {
            awaitEnd(health, state);
            return;
        }
        Condition condition = report.ended(Optional.of(known.condition), state, now.nanos(), wallTime());
        count(known, false);
        log.info("Node {} no longer flaps: {}", health.name(), condition.message());
        explanations.damping(health, condition);
        events.dampingEnded(health.name(), health.uid(), condition.reason(), condition.message());
        show(health, condition);
        recheck.accept(health);
    }

    private Shown show(NodeHealth health, Condition condition) {
        Shown state = shown.computeIfAbsent(health, node -> new Shown(condition));
        state.condition = condition;
        conditions.write(health, () -> state.condition, written -> {
            if (written.status().equals(Condition.FALSE)) {
                shown.remove(health, state);
            }
        });
        return state;
    }

    private Instant wallTime() {
        return loop.clock().wallTime();
    }
}
