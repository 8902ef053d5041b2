package io.nodekeeper.controller.explain;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.observer.SightChange;
import io.nodekeeper.controller.observer.StalledHop;
import io.nodekeeper.controller.observer.VerdictBasis;
import io.nodekeeper.time.Clock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes decisions and their causes to the history. Confined to the loop. */
public final class Explanations {
    private static final Logger log = LoggerFactory.getLogger(Explanations.class);

    /** The detail of a change of sight that says how long the controller has or had been blind. */
    public static final String BLIND_FOR = "blindFor";

    private final History history;
    private final Clock clock;

    public Explanations(History history, Clock clock) {
        this.history = history;
        this.clock = clock;
    }

    /** This process sees the node for the first time. */
    public void registered(NodeHealth health) {
        add(health, "Registered", "the controller follows this node", JsonObject.EMPTY.with("ready", health.ready()));
    }

    /** The node object was deleted. */
    public void removed(NodeHealth health) {
        add(health, "Removed", "the node object was deleted", JsonObject.EMPTY);
    }

    /** The node was declared Unknown. */
    public void silenced(NodeHealth health, boolean wasReady, JsonObject facts) {
        add(
                health,
                "Unknown",
                "no heartbeat for " + facts.text("silence") + ", the grace period is " + facts.text("grace")
                        + "; last heartbeat by " + facts.text("signal")
                        + (wasReady ? "; it was Ready" : "; it was not Ready"),
                facts);
    }

    /** The node was late, but the API had a newer heartbeat than the watch. */
    public void spared(NodeHealth health, JsonObject facts) {
        add(health, "Spared", "late according to the watch, but a live read found a newer " + health.signal(), facts);
    }

    /** The node sent a heartbeat after it was declared Unknown. */
    public void returned(NodeHealth health, long silence) {
        log.info(
                "Node {} sends heartbeats again: not updated for {}, now {}, Ready={}",
                health.name(),
                Ages.text(silence),
                health.signal(),
                health.ready());
        add(
                health,
                "Returned",
                "new heartbeat by " + health.signal() + " after " + Ages.text(silence),
                JsonObject.EMPTY.with("ready", health.ready()));
    }

    /** The node is later than usual. */
    public void suspected(NodeHealth health, String text) {
        log.info("Node {} is suspect: {}", health.name(), text);
        add(health, "Suspected", text, JsonObject.EMPTY);
    }

    /** The node's renewals show that its clock was set. */
    public void clockSet(NodeHealth health) {
        long jump = health.lag().lastJump();
        int times = health.lag().reportedJumps();
        String text = "its clock was set " + (times > 1 ? times + " times, the last time " : "")
                + (jump > 0 ? "ahead" : "back") + " by " + Ages.text(TimeUnit.MICROSECONDS.toNanos(Math.abs(jump)))
                + ", which does not affect verdicts";
        log.info("Node {}: {}", health.name(), text);
        add(health, "ClockSet", text, JsonObject.EMPTY);
    }

    /** Two machines report under the node's name; {@code evidence} shows both. */
    public void duplicate(NodeHealth health, String text, JsonObject evidence) {
        add(health, "DuplicateNode", text, evidence);
    }

    /** One machine reports under the node's name again. */
    public void duplicateEnded(NodeHealth health, String text) {
        add(health, "DuplicateNodeEnded", text, JsonObject.EMPTY);
    }

    /** The damping of a flapping node began or ended, as {@code condition} says. */
    public void damping(NodeHealth health, Condition condition) {
        add(health, condition.reason(), condition.message(), JsonObject.EMPTY);
    }

    /** Verdicts use another proof than usual. */
    void degraded(VerdictBasis judgement, String text) {
        history.add(new Decision(
                clock.wallTime(), "", "", "JudgementDegraded", text, JsonObject.EMPTY.with("how", judgement.label())));
    }

    /** The controller's sight has changed. Returns the sentence, which is also for the log and the event. */
    String sight(SightChange change, long now) {
        String text = switch (change) {
            case SightChange.Blind(StalledHop hop, long since) ->
                "nothing seen for " + Ages.text(now - since) + ": " + hop.meaning() + " (" + hop
                        + "); no node gets a verdict, and the nodes' clock stands still";
            case SightChange.Renamed(StalledHop hop, long since) ->
                "still nothing seen for " + Ages.text(now - since) + ": " + hop.meaning() + " (" + hop + ")";
            case SightChange.Sees(StalledHop hop, long lasted, long given) ->
                "has sight again; for " + Ages.text(lasted) + " it had none, because "
                        + hop.meaning() + " (" + hop + "); "
                        + (given == 0
                                ? "nothing was missed"
                                : given >= lasted
                                        ? "every node gets that time back"
                                        : "every node gets " + Ages.text(given) + " back");
        };
        String kind = switch (change) {
            case SightChange.Blind blind -> "ObserverBlind";
            case SightChange.Renamed renamed -> "ObserverBlind";
            case SightChange.Sees sees -> "ObserverSees";
        };
        long blind = switch (change) {
            case SightChange.Blind(StalledHop hop, long since) -> now - since;
            case SightChange.Renamed(StalledHop hop, long since) -> now - since;
            case SightChange.Sees(StalledHop hop, long lasted, long given) -> lasted;
        };
        history.add(new Decision(
                clock.wallTime(),
                "",
                "",
                kind,
                text,
                JsonObject.EMPTY.with("hop", change.hop().label()).with(BLIND_FOR, Ages.text(blind))));
        return text;
    }

    /** The same sentence as a condition. */
    String condition(SightChange change, String text) {
        Instant time = clock.wallTime();
        boolean sees = change instanceof SightChange.Sees;
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
