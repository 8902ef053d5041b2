package io.nodekeeper.controller.config;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The configuration of failure detection. It can hold any values; {@link #faults} lists the invalid ones.
 *
 * @param kind whether all nodes have the same grace period or each its own
 * @param min the shortest grace period of an adaptive detector
 * @param max the longest one, also for a node with too few heartbeats
 */
public record DetectorConfig(Kind kind, Duration min, Duration max) {
    /** The value of {@code --detector}. */
    public enum Kind {
        /** As in Kubernetes: {@code --node-monitor-grace-period} for all nodes. */
        FIXED("fixed"),
        /** The history of a node's heartbeats determines its grace period. */
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
     * The fixed grace period, as in Kubernetes. Bounds of the adaptive detector: at least the time in which a node
     * detects a dead connection (HTTP/2: 30 s idle and 15 s without a response), so that a reconnecting node is not
     * blamed; at most twice Kubernetes' grace period of 50 s, so that a node with irregular heartbeats is still
     * detected in time.
     */
    public static final DetectorConfig DEFAULT =
            new DetectorConfig(Kind.FIXED, Duration.ofSeconds(45), Duration.ofSeconds(100));

    /** The faults of the values, each with its flag, its value and what was expected; empty if there are none. */
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

    /** Valid values that are likely to cause trouble; empty if there are none. */
    public List<String> warnings() {
        if (kind == Kind.FIXED || min.compareTo(DEFAULT.min) >= 0) {
            return List.of();
        }
        return List.of("--detector-min=" + GoDuration.format(min)
                + " is less than the 45s that a node needs to detect a dead connection; nodes that only have to"
                + " reconnect may become Unknown");
    }
}
