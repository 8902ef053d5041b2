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
 * Collects the facts behind a verdict under the names that {@code nodekeeper why} shows in causal order: the last
 * heartbeat, how long each hop took, the deadline, what the controller could see, what was written and what the API
 * answered. Omits unknown facts. Not thread-safe.
 */
public final class Evidence {
    /** The names in {@link Decision#details}, in causal order. */
    public static final List<String> NAMES = List.of(
            "signal", "sentAt", "arrivedAt", "lag", "silence", "grace", "deadline", "missedBy", "sight", "writes");

    private final JsonObject.Builder facts = JsonObject.builder();
    private JsonObject lags = JsonObject.EMPTY;
    private final List<JsonValue> writes = new ArrayList<>();

    /** The kind of the last heartbeat: {@code lease}, {@code status}, {@code first sight}. */
    public Evidence signal(String kind) {
        facts.put("signal", kind);
        return this;
    }

    /** When the node sent it, by the node's clock, as in the API: RFC 3339, or empty if unknown. */
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

    /** The time since the last heartbeat, by the monotonic clock. */
    public Evidence silence(Duration silence) {
        facts.put("silence", millis(silence));
        return this;
    }

    /** The grace period. */
    public Evidence grace(Duration grace) {
        facts.put("grace", millis(grace));
        return this;
    }

    /** When the grace period ended, by the controller's wall clock, and how much later the decision was made. */
    public Evidence deadline(Instant deadline, Duration missedBy) {
        facts.put("deadline", KubeTime.formatMicro(deadline)).put("missedBy", millis(missedBy));
        return this;
    }

    /**
     * What the controller could see at that time, in words: the age of its canary, and the hop that stalled, if any.
     */
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

    /** Any other fact, under its own name. */
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
