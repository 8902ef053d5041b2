package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.time.Clock;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts what was decided, and why, into the history, in words. Confined to the loop. */
final class Explanations {
    private static final Logger log = LoggerFactory.getLogger(Explanations.class);

    private final History history;
    private final Clock clock;

    Explanations(History history, Clock clock) {
        this.history = history;
        this.clock = clock;
    }

    /** This process sees the node for the first time. */
    void registered(NodeHealth health) {
        add(health, "Registered", "the controller follows this node", JsonObject.EMPTY.with("ready", health.ready()));
    }

    /** The node object is gone. */
    void removed(NodeHealth health) {
        add(health, "Removed", "the node object was deleted", JsonObject.EMPTY);
    }

    /** The node was declared Unknown. */
    void silenced(NodeHealth health, boolean wasReady, JsonObject facts) {
        add(
                health,
                "Unknown",
                "no sign of life for " + facts.text("silence") + ", the grace is " + facts.text("grace")
                        + "; last heard by " + facts.text("signal")
                        + (wasReady ? "; it was Ready" : "; it was not Ready"),
                facts);
    }

    /** The node was late, but the API knew better than the watch. */
    void spared(NodeHealth health, JsonObject facts) {
        add(
                health,
                "Spared",
                "late by what the watch told, but a live look found a newer " + health.last.kind(),
                facts);
    }

    /** The node is heard of again after it was declared Unknown. */
    void returned(NodeHealth health, long silence) {
        log.info(
                "Node {} is heard of again: not updated for {}, now {}, Ready={}",
                health.name(),
                Heartbeats.age(silence),
                health.last.kind(),
                health.ready());
        add(
                health,
                "Returned",
                "heard of again by " + health.last.kind() + " after " + Heartbeats.age(silence),
                JsonObject.EMPTY.with("ready", health.ready()));
    }

    /** The node is later than it uses to be. */
    void suspected(NodeHealth health, String text) {
        log.info("Node {} is suspect: {}", health.name(), text);
        add(health, "Suspected", text, JsonObject.EMPTY);
    }

    /** The node's clock was set, as its renewals tell. */
    void clockSet(NodeHealth health) {
        long jump = health.lag.skew.lastJump();
        String text = "its clock was set " + (jump > 0 ? "ahead" : "back") + " by "
                + Heartbeats.age(Math.abs(jump) * 1_000) + ", which does not matter for verdicts";
        log.info("Node {}: {}", health.name(), text);
        add(health, "ClockSet", text, JsonObject.EMPTY);
    }

    /** The node flaps. */
    void damped(NodeHealth health, Condition condition) {
        add(health, FlapReport.DAMPED, condition.message(), JsonObject.EMPTY);
    }

    /** It does not flap any more. */
    void dampingEnded(NodeHealth health, Condition condition) {
        add(health, FlapReport.ENDED, condition.message(), JsonObject.EMPTY);
    }

    /** Verdicts rest on something else than usual. */
    void degraded(ObserverGuard.Judgement judgement, String text) {
        history.add(new Decision(
                clock.wallTime(), "", "", "JudgementDegraded", text, JsonObject.EMPTY.with("how", judgement.label())));
    }

    /** What became of the controller's own sight; the sentence is for log and event, too. */
    String sight(ObserverGuard.Change change, long now) {
        String text = switch (change) {
            case ObserverGuard.Change.Blind(ObserverGuard.Hop hop, long since) ->
                "nothing seen for " + Heartbeats.age(now - since) + ": " + hop.meaning() + " (" + hop
                        + "); no node is judged, and their clocks stand still";
            case ObserverGuard.Change.Renamed(ObserverGuard.Hop hop, long since) ->
                "still nothing seen for " + Heartbeats.age(now - since) + ": " + hop.meaning() + " (" + hop + ")";
            case ObserverGuard.Change.Sees(ObserverGuard.Hop hop, long lasted, long given) ->
                "sees again; for " + Heartbeats.age(lasted) + " it did not, because "
                        + hop.meaning() + " (" + hop + "); "
                        + (given == 0
                                ? "nothing was missed"
                                : given >= lasted
                                        ? "every node gets that time back"
                                        : "every node gets " + Heartbeats.age(given) + " back");
        };
        String kind = switch (change) {
            case ObserverGuard.Change.Blind blind -> "ObserverBlind";
            case ObserverGuard.Change.Renamed renamed -> "ObserverBlind";
            case ObserverGuard.Change.Sees sees -> "ObserverSees";
        };
        history.add(new Decision(
                clock.wallTime(),
                "",
                "",
                kind,
                text,
                JsonObject.EMPTY.with("hop", change.hop().label())));
        return text;
    }

    /** The same as a condition. */
    String condition(ObserverGuard.Change change, String text) {
        Instant time = clock.wallTime();
        boolean sees = change instanceof ObserverGuard.Change.Sees;
        return JsonObject.builder()
                .put("type", "ObserverSees")
                .put("status", sees ? "True" : "False")
                .put("reason", sees ? "CanarySeen" : "CanaryLate")
                .put("hop", change.hop().label())
                .put("message", text)
                .put("lastTransitionTime", KubeTime.format(time))
                .build()
                .toString();
    }

    private void add(NodeHealth health, String kind, String text, JsonObject details) {
        history.add(new Decision(clock.wallTime(), health.name(), health.uid(), kind, text, details));
    }
}
