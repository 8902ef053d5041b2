package io.nodekeeper.controller.observe.report;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.time.Instant;

/**
 * A period of time.
 *
 * @param from its beginning
 * @param to its end, not before {@code from}
 */
public record Period(Instant from, Instant to) {
    /** Checks the order. */
    public Period {
        if (to.isBefore(from)) {
            throw new IllegalArgumentException("the end " + to + " is before the beginning " + from);
        }
    }

    Duration length() {
        return Duration.between(from, to);
    }

    /** How much of this period is within the other. */
    Duration overlap(Period other) {
        Instant first = from.isAfter(other.from) ? from : other.from;
        Instant last = to.isBefore(other.to) ? to : other.to;
        return last.isAfter(first) ? Duration.between(first, last) : Duration.ZERO;
    }

    JsonObject json() {
        return JsonObject.EMPTY.with("from", KubeTime.formatMicro(from)).with("to", KubeTime.formatMicro(to));
    }
}
