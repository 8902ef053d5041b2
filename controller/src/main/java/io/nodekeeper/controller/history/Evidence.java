package io.nodekeeper.controller.history;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Collects the facts behind a verdict under the names by which {@code nodekeeper why} tells them in their causal order:
 * what was heard last, how long each hop took, the deadline, what the controller could see, what was written and what the
 * API answered. Facts that are not known are left out. Not thread-safe.
 */
public final class Evidence {
    /** The names in {@link Decision#details}, in causal order. */
    public static final List<String> NAMES = List.of(
            "signal", "sentAt", "arrivedAt", "lag", "silence", "grace", "deadline", "missedBy", "sight", "writes");

    private final JsonObject.Builder facts = JsonObject.builder();
    private JsonObject lags = JsonObject.EMPTY;
    private final List<JsonValue> writes = new ArrayList<>();

    /** The kind of the last sign of life: {@code lease}, {@code status}, {@code first sight}. */
    public Evidence signal(String kind) {
        facts.put("signal", kind);
        return this;
    }

    /** When the node sent it, by the node's clock, as the API tells: RFC 3339, or empty if it does not. */
    public Evidence sentAt(String time) {
        facts.putUnlessEmpty("sentAt", time);
        return this;
    }

    /** When it arrived here, by the controller's wall clock. */
    public Evidence arrivedAt(Instant time) {
        facts.put("arrivedAt", KubeTime.formatMicro(time));
        return this;
    }

    /** The time that the hop of that name took. */
    public Evidence lag(String hop, Duration lag) {
        lags = lags.with(hop, millis(lag));
        return this;
    }

    /** How long nothing had been heard, by the monotonic clock. */
    public Evidence silence(Duration silence) {
        facts.put("silence", millis(silence));
        return this;
    }

    /** The silence that is excused. */
    public Evidence grace(Duration grace) {
        facts.put("grace", millis(grace));
        return this;
    }

    /** When the grace ended, by the controller's wall clock, and how long after it this was decided. */
    public Evidence deadline(Instant deadline, Duration missedBy) {
        facts.put("deadline", KubeTime.formatMicro(deadline)).put("missedBy", millis(missedBy));
        return this;
    }

    /** What the controller could see at that time, in words: the age of its canary, and which hop stalled if one did. */
    public Evidence sight(String words) {
        facts.put("sight", words);
        return this;
    }

    /** A write ({@code PUT /api/v1/nodes/n1/status}), what the API answered ({@code 200}), and the time it took. */
    public Evidence write(String call, String answer, Duration took) {
        writes.add(JsonObject.builder()
                .put("call", call)
                .put("answer", answer)
                .put("took", millis(took))
                .build());
        return this;
    }

    /** Anything else, under a name of its own. */
    public Evidence fact(String name, String value) {
        facts.put(name, value);
        return this;
    }

    /** The facts so far, for {@link Decision#details}. */
    public JsonObject json() {
        JsonObject json = facts.build();
        if (!lags.isEmpty()) {
            json = json.with("lag", lags);
        }
        return writes.isEmpty() ? json : json.with("writes", new JsonArray(writes));
    }

    private static String millis(Duration duration) {
        return GoDuration.format(Duration.ofMillis(duration.toMillis()));
    }
}
