package io.nodekeeper.controller;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How long a silence is a verdict. Any values can be held; {@link #faults} tells which of them cannot be worked with.
 *
 * @param kind whether all nodes have the same grace or each its own
 * @param min the shortest grace of an adaptive detector
 * @param max the longest; also that of a node that is not known well yet
 */
public record DetectorConfig(Kind kind, Duration min, Duration max) {
    /** The value of {@code --detector}. */
    public enum Kind {
        /** Kubernetes' way: {@code --node-monitor-grace-period} for everybody. */
        FIXED("fixed"),
        /** Each node's grace follows from how regularly it used to be heard of. */
        ADAPTIVE("adaptive");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** As written on the command line. */
        public String text() {
            return text;
        }
    }

    /**
     * The grace decides. Should the adaptive detector be chosen: no sooner than a node can find out that its connection is
     * dead (30 s idle and 15 s without an answer, HTTP/2), no later than two of Kubernetes' graces. Chosen.
     */
    public static final DetectorConfig DEFAULT =
            new DetectorConfig(Kind.FIXED, Duration.ofSeconds(45), Duration.ofSeconds(100));

    /** All that is wrong with the values, each naming its flag, its value and what is expected; empty if nothing is. */
    public List<String> faults() {
        List<String> faults = new ArrayList<>();
        if (min.isNegative() || min.isZero()) {
            faults.add("--detector-min: must be greater than 0, got " + GoDuration.format(min));
        }
        if (max.compareTo(min) < 0) {
            faults.add("--detector-max: must be --detector-min (" + GoDuration.format(min) + ") or more, got "
                    + GoDuration.format(max));
        }
        return List.copyOf(faults);
    }

    /** What works, but is likely to be regretted; empty if nothing is. */
    public List<String> warnings() {
        if (kind == Kind.FIXED || min.compareTo(DEFAULT.min) >= 0) {
            return List.of();
        }
        return List.of("--detector-min=" + GoDuration.format(min)
                + " is less than the 45s in which a node finds out that its connection is dead;"
                + " nodes may become Unknown that only had to reconnect");
    }
}
