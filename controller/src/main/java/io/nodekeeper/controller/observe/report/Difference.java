package io.nodekeeper.controller.observe.report;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.observe.Observation;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One change with the controllers that made it, as the history has it. Earlier versions stored no silence and no grace
 * period.
 *
 * @param node the node that caused the change
 * @param object {@code node} or {@code pod} and the object's name
 * @param what {@code Ready=Unknown}, {@code +KEY:EFFECT}, {@code -KEY:EFFECT}, {@code Ready=False} or {@code evicted}
 * @param found when the difference was found
 * @param ours when this controller would have made it
 * @param theirs when the other controller's change was seen
 * @param lead how much earlier ours was than theirs, if both made it; negative if later
 * @param falseAfter how long before the other's change the node had sent a heartbeat, if that proves the change false
 * @param before how long the node had been silent at the first verdict
 * @param after from the first verdict to the node's next heartbeat
 * @param grace this controller's grace period
 */
record Difference(
        String node,
        String object,
        String what,
        Instant found,
        Optional<Instant> ours,
        Optional<Instant> theirs,
        Optional<Duration> lead,
        Optional<Duration> falseAfter,
        Optional<Duration> before,
        Optional<Duration> after,
        Optional<Duration> grace) {

    /** The difference in a decision; empty if it has none. */
    static Optional<Difference> of(Decision decision) {
        JsonObject details = decision.details();
        if (!decision.kind().equals(Observation.DIFFERENCE)
                || details.text("change").isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new Difference(
                decision.node(),
                details.text("object"),
                details.text("change"),
                decision.at(),
                KubeTime.parse(details.text("ours")),
                KubeTime.parse(details.text("theirs")),
                millis(details, "oursBeforeTheirsMillis"),
                millis(details, "falseHeardMillisBefore"),
                millis(details, "silentMillisBefore"),
                millis(details, "heardMillisAfter"),
                millis(details, "graceMillis")));
    }

    private static Optional<Duration> millis(JsonObject details, String name) {
        return details.number(name).map(Duration::ofMillis);
    }

    /** Whether this declares a node Unknown. */
    boolean isVerdict() {
        return object.startsWith("node ") && what.equals("Ready=Unknown");
    }

    /** Whether this ends a pod because of its node's taints. */
    boolean isEviction() {
        return object.startsWith("pod ") && what.equals("evicted");
    }

    boolean byBoth() {
        return ours.isPresent() && theirs.isPresent();
    }

    boolean byTheirsAlone() {
        return ours.isEmpty();
    }

    /** When the change was first made. */
    Instant at() {
        Instant first = ours.or(() -> theirs).orElse(found);
        return theirs.filter(time -> time.isBefore(first)).orElse(first);
    }
}
