package io.nodekeeper.controller.lags;

import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;

/**
 * A summary of a {@link LagHistogram}. Immutable.
 *
 * @param count how many were recorded
 * @param p50 half of them took no longer
 * @param p99 99 % of them took no longer
 * @param p999 99.9 % of them took no longer
 * @param max the longest
 * @param worst the node that took that long; empty if nothing was recorded
 */
public record LagSummary(long count, Duration p50, Duration p99, Duration p999, Duration max, String worst) {
    /** The summary as JSON, in whole milliseconds. */
    public JsonObject json() {
        return JsonObject.builder()
                .put("count", count)
                .put("p50Millis", p50.toMillis())
                .put("p99Millis", p99.toMillis())
                .put("p999Millis", p999.toMillis())
                .put("maxMillis", max.toMillis())
                .putUnlessEmpty("worstNode", worst)
                .build();
    }
}
