package io.nodekeeper.controller.zones;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.taints.NoExecute;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The state of one node in {@link Zones}. Confined to the loop. */
public final class ZoneMember {
    private static final String EXCLUDE = "node.kubernetes.io/exclude-disruption";

    /** The key of its zone. */
    public String zone = "";
    /** Whether it counts for the state of its zone; a label can exclude nodes. */
    public boolean counted;
    /** The status of its Ready condition; empty if there is none. */
    public String ready = "";
    /** Whether it carries {@code not-ready:NoExecute}. */
    public boolean notReadyTaint;
    /** Whether it carries {@code unreachable:NoExecute}. */
    public boolean unreachableTaint;

    /** Whether it may get a taint. */
    boolean permitted;
    /** Whether its taints must be removed first. */
    boolean strip;
    /** Whether it waits in its zone's queue. */
    boolean queued;
    /** Whether it was added after the start and has not been ready yet. */
    boolean joining;
    /** Whether a timer runs after which it may enter the queue; at most one runs. */
    boolean waits;

    private FairQueue.@Nullable Place place;

    /** In a pass: the rule for its taints. */
    public NoExecute rule = NoExecute.LEAVE;
    /** In a pass: whether it was evaluated before. */
    public boolean registered;
    /** In a pass: its Ready condition in the pass before. */
    private @Nullable String judgedReady;

    /** Updates this from a state of the node. */
    public void update(String zoneKey, Node node) {
        zone = zone.equals(zoneKey) ? zone : zoneKey;
        counted = !node.metadata().object("labels").has(EXCLUDE);
        ready = node.ready().map(Condition::status).orElse("");
        notReadyTaint = node.hasTaint(Taint.NOT_READY, Taint.NO_EXECUTE);
        unreachableTaint = node.hasTaint(Taint.UNREACHABLE, Taint.NO_EXECUTE);
    }

    /** Whether its Ready condition is True. */
    public boolean isReady() {
        return ready.equals(Condition.TRUE);
    }

    /** Whether it carries one of the two taints. */
    public boolean tainted() {
        return notReadyTaint || unreachableTaint;
    }

    /** Whether its condition requires a taint and it has none; replacing a wrong one needs no permission. */
    boolean wants() {
        return !tainted() && (ready.equals(Condition.FALSE) || ready.equals(Condition.UNKNOWN));
    }

    /** Its place in the queue, from when it was first seen not ready. */
    FairQueue.Place place(NodeHealth health, Node node, long now) {
        FairQueue.Place held = place;
        if (held == null) {
            long transition = node.ready()
                    .flatMap(Condition::lastTransitionTime)
                    .map(time -> time.getEpochSecond())
                    .orElse(0L);
            held = new FairQueue.Place(now, transition, health.name());
            place = held;
        }
        return held;
    }

    /** Its place in the queue, if it has one. */
    Optional<FairQueue.Place> place() {
        return Optional.ofNullable(place);
    }

    /** The node is ready: next time it enters the queue at the end. */
    void forgetPlace() {
        place = null;
    }

    /** Replaces the Ready condition of the last pass with {@code now}; returns the old one, if any. */
    public Optional<String> judged(String now) {
        Optional<String> before = Optional.ofNullable(judgedReady);
        judgedReady = now;
        return before;
    }
}
