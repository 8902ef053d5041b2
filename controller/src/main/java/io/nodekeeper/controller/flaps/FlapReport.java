package io.nodekeeper.controller.flaps;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.controller.config.FlapDampingConfig;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Formats a node's damping for the API: the condition {@code NodeFlapping} and the texts of its events.
 *
 * <p>The condition also keeps a damped node damped when another controller takes over: its message has the points and
 * their time, which {@link #restore} reads. The points of a node that was not damped yet, two falls by default, are
 * lost with the controller that counted them. The time in the message is wall time, which two controllers share; if
 * their clocks differ, damping ends earlier or later by the difference, but within its longest time.
 *
 * <p>Immutable.
 */
final class FlapReport {
    /** The type of the condition. */
    static final String TYPE = "NodeFlapping";
    /** Reason of the condition while it is True, and of the event when that begins. */
    static final String DAMPED = "FlapDamped";
    /** Reason of the condition once it is False again, and of the event. */
    static final String ENDED = "FlapEnded";

    private static final Pattern MESSAGE =
            Pattern.compile("Ready was lost (\\d{1,9}) times?; flap penalty (\\d{1,9}) at ([0-9TZ:.+-]{20,40});.*");

    private final FlapDamping damping;
    private final Duration longest;

    FlapReport(FlapDampingConfig config) {
        this.damping = new FlapDamping(config);
        this.longest = config.maxSuppress();
    }

    /** The condition that says that {@code node} is damped; empty if it is not. */
    static Optional<Condition> of(Node node) {
        return node.condition(TYPE).filter(flapping -> flapping.status().equals(Condition.TRUE));
    }

    /**
     * The condition of a damped node.
     *
     * @param before the node's current condition of that type
     * @param now monotonic
     * @param wallTime the same moment by the wall clock
     */
    Condition damped(Optional<Condition> before, FlapDamping.State state, long now, Instant wallTime) {
        return condition(before, Condition.TRUE, DAMPED, dampedText(state, now, wallTime), wallTime);
    }

    /** The condition of a node whose damping has ended; see {@link #damped}. */
    Condition ended(Optional<Condition> before, FlapDamping.State state, long now, Instant wallTime) {
        return condition(before, Condition.FALSE, ENDED, endedText(state, now), wallTime);
    }

    /** The message of the condition, and of the event {@link #DAMPED}. */
    String dampedText(FlapDamping.State state, long now, Instant wallTime) {
        long fellAt = damping.fellAt(state);
        return String.format(
                Locale.ROOT,
                "Ready was lost %d %s; flap penalty %.0f at %s; taints are kept until %s, longer if it is lost again",
                state.falls(),
                state.falls() == 1 ? "time" : "times",
                damping.penalty(state, fellAt),
                KubeTime.format(wallTime.minusNanos(now - fellAt)),
                KubeTime.format(wallTime.plusNanos(damping.reuseAt(state) - now)));
    }

    /** The message of the condition, and of the event {@link #ENDED}. */
    String endedText(FlapDamping.State state, long now) {
        Duration calm =
                Duration.ofSeconds(Duration.ofNanos(now - damping.fellAt(state)).toSeconds());
        return "Ready was not lost again for " + GoDuration.format(calm) + "; taints follow it as usual";
    }

    /**
     * The state that another controller left in the condition; empty if the node is not damped, if the message cannot
     * be parsed, or if its time is so long ago that damping has ended.
     */
    Optional<FlapDamping.State> restore(Condition condition, long now, Instant wallTime) {
        Matcher text = MESSAGE.matcher(condition.message());
        if (!condition.type().equals(TYPE) || !condition.status().equals(Condition.TRUE) || !text.matches()) {
            return Optional.empty();
        }
        return KubeTime.parse(text.group(3))
                .map(fellAt -> Duration.between(fellAt, wallTime))
                .filter(age -> age.compareTo(longest) < 0)
                .map(age -> age.isNegative() ? Duration.ZERO : age)
                .map(age -> damping.restored(
                        Double.parseDouble(text.group(2)), Integer.parseInt(text.group(1)), now - age.toNanos()))
                .filter(state -> damping.isDamped(state, now));
    }

    private static Condition condition(
            Optional<Condition> before, String status, String reason, String message, Instant wallTime) {
        Instant since = before.filter(old -> old.status().equals(status))
                .flatMap(Condition::lastTransitionTime)
                .orElse(wallTime);
        return Condition.of(TYPE, status, reason, message, wallTime, since);
    }
}
