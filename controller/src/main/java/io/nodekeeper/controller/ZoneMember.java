package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What {@link Zones} remember of one node. Confined to the loop. */
final class ZoneMember {
    private static final String EXCLUDE = "node.kubernetes.io/exclude-disruption";

    /** The key of its zone. */
    String zone = "";
    /** Whether it counts for the state of its zone: nodes can be excluded by a label. */
    boolean counted;
    /** The status of its Ready condition; empty if there is none. */
    String ready = "";
    /** Whether it carries {@code not-ready:NoExecute}. */
    boolean notReadyTaint;
    /** Whether it carries {@code unreachable:NoExecute}. */
    boolean unreachableTaint;

    /** Whether it may get a taint. */
    boolean permitted;
    /** Whether what it has of taints must go first. */
    boolean strip;
    /** Whether it waits in its zone's queue. */
    boolean queued;
    /** Whether it came after the start and was not ready yet. */
    boolean joining;
    /** Whether a timer runs after which it may queue: at most one. */
    boolean waits;

    private FairQueue.@Nullable Place place;

    /** In a pass: what is to be done about its taints. */
    NoExecute rule = NoExecute.LEAVE;
    /** In a pass: whether it was judged before. */
    boolean registered;
    /** In a pass: its Ready condition in the pass before. */
    private @Nullable String judgedReady;

    /** Takes in a state of the node. */
    void update(String zoneKey, Node node) {
        zone = zone.equals(zoneKey) ? zone : zoneKey;
        counted = !node.metadata().object("labels").has(EXCLUDE);
        ready = node.ready().map(Condition::status).orElse("");
        notReadyTaint = node.hasTaint(Taint.NOT_READY, Taint.NO_EXECUTE);
        unreachableTaint = node.hasTaint(Taint.UNREACHABLE, Taint.NO_EXECUTE);
    }

    /** Whether its condition is True. */
    boolean isReady() {
        return ready.equals(Condition.TRUE);
    }

    /** Whether it carries one of the two taints. */
    boolean tainted() {
        return notReadyTaint || unreachableTaint;
    }

    /** Whether its condition asks for a taint and it has none; to replace the wrong one needs no permission. */
    boolean wants() {
        return !tainted() && (ready.equals(Condition.FALSE) || ready.equals(Condition.UNKNOWN));
    }

    /** Its place in the queue, which it has since it was first seen not ready. */
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

    /** It is ready: next time it queues at the end. */
    void forgetPlace() {
        place = null;
    }

    /** Its Ready condition when it was last judged in a pass, if it ever was; {@code now} is remembered instead. */
    Optional<String> judged(String now) {
        Optional<String> before = Optional.ofNullable(judgedReady);
        judgedReady = now;
        return before;
    }
}
