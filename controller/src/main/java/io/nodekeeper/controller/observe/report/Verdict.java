package io.nodekeeper.controller.observe.report;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the verdicts about one silence of a node show.
 *
 * @param node the node's name
 * @param at when the first of the two controllers declared it Unknown
 * @param outcome what it shows
 * @param gained how much earlier this controller would have been, negative if later; zero if only one declared it
 * @param estimated whether {@code gained} rests on the grace period, because the other was first and this controller
 *     therefore decided nothing
 * @param text one sentence for people
 */
record Verdict(String node, Instant at, Outcome outcome, Duration gained, boolean estimated, String text) {

    /**
     * Judges a difference about a verdict.
     *
     * @param blind this controller's periods without sight
     * @param deleted when the node was deleted after the verdict, if it was
     */
    static Verdict of(Difference difference, List<Blindness> blind, Optional<Instant> deleted) {
        if (difference.falseAfter().isPresent()) {
            return outcome(
                    difference,
                    Outcome.FALSE,
                    "the cluster's controller declared it Unknown "
                            + text(difference.falseAfter().get()) + " after a heartbeat");
        }
        if (difference.byBoth()) {
            return both(difference, difference.lead().orElse(Duration.ZERO));
        }
        String fate = deleted.filter(at -> !at.isBefore(difference.at()))
                .map(at -> "the node was deleted " + text(Duration.between(difference.at(), at)) + " later")
                .or(() -> difference.after().map(after -> "the node sent a heartbeat " + text(after) + " later"))
                .orElse("the node stayed silent");
        if (!difference.byTheirsAlone()) {
            return outcome(
                    difference,
                    Outcome.OURS_ALONE,
                    "Nodekeeper would have declared it Unknown, the cluster's controller did not; " + fate);
        }
        return theirsAlone(difference, blind, deleted, fate);
    }

    private static Verdict both(Difference difference, Duration lead) {
        boolean later = lead.isNegative();
        return new Verdict(
                difference.node(),
                difference.at(),
                later ? Outcome.LATER : Outcome.EARLIER,
                lead,
                false,
                "Nodekeeper would have declared it Unknown " + text(lead.abs()) + " " + (later ? "after" : "before")
                        + " the cluster's controller did");
    }

    /**
     * The other was first, so that this controller decided nothing. It would have waited until its grace was over, which
     * does not run while it is blind.
     */
    private static Verdict theirsAlone(
            Difference difference, List<Blindness> blind, Optional<Instant> deleted, String fate) {
        String did = "the cluster's controller declared it Unknown";
        if (difference.before().isEmpty() || difference.grace().isEmpty()) {
            return outcome(difference, Outcome.UNDECIDED, did + "; when it was silent since is not known; " + fate);
        }
        Duration silent = difference.before().get();
        Duration unseen = unseen(new Period(difference.at().minus(silent), difference.at()), blind);
        Duration grace = difference.grace().get();
        Duration left = grace.minus(silent).plus(unseen);
        did += " after " + text(silent) + " of silence"
                + (unseen.isZero() ? "" : ", for " + text(unseen) + " of which Nodekeeper was blind");
        Optional<Duration> after = difference.after();
        if (after.filter(heard -> heard.compareTo(left) < 0).isPresent()) {
            return outcome(
                    difference,
                    Outcome.PREMATURE,
                    did + "; " + fate + ", within Nodekeeper's grace period of " + GoDuration.format(grace));
        }
        boolean deletedBefore = deleted.filter(at -> !at.isBefore(difference.at())
                        && at.isBefore(difference.at().plus(left)))
                .isPresent();
        if (deletedBefore || !left.isPositive()) {
            return outcome(
                    difference,
                    Outcome.UNDECIDED,
                    did + "; " + (deletedBefore ? fate : "Nodekeeper did not, though its grace was over; " + fate));
        }
        return new Verdict(
                difference.node(),
                difference.at(),
                Outcome.LATER,
                left.negated(),
                true,
                did + "; Nodekeeper would have waited " + text(left) + " longer; " + fate);
    }

    private static Duration unseen(Period silence, List<Blindness> blind) {
        return blind.stream().map(period -> period.period().overlap(silence)).reduce(Duration.ZERO, Duration::plus);
    }

    private static Verdict outcome(Difference difference, Outcome outcome, String text) {
        return new Verdict(difference.node(), difference.at(), outcome, Duration.ZERO, false, text);
    }

    private static String text(Duration duration) {
        return GoDuration.format(Duration.ofMillis(duration.toMillis()));
    }

    JsonObject json(int podsSaved) {
        JsonObject.Builder json = JsonObject.builder()
                .put("node", node)
                .put("at", KubeTime.formatMicro(at))
                .put("outcome", outcome.label)
                .put("text", text)
                .put("podsSaved", podsSaved);
        if (!gained.isZero()) {
            json.put("gainedMillis", gained.toMillis()).put("estimated", estimated);
        }
        return json.build();
    }
}
