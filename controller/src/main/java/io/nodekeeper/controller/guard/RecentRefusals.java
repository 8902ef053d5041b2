package io.nodekeeper.controller.guard;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The nodes about which the guard recently refused writes, or would have: what status pages show. Thread-safe. */
final class RecentRefusals {
    /** The most nodes: some screens. The one whose last refusal is oldest is forgotten first. */
    static final int MOST = 100;
    /** How long a refusal is recent; the history has the older ones. */
    static final Duration KEPT = Duration.ofHours(1);

    private record Row(Instant at, String kind, String text, long times) {}

    /** By node, the latest at the end; at most {@link #MOST}. */
    private final Map<String, Row> rows = new LinkedHashMap<>();

    /** A write about {@code node} got a verdict of this kind, such as {@code GuardRefused}. */
    synchronized void add(Instant at, String node, String kind, String text) {
        Row before = rows.remove(node);
        rows.put(node, new Row(at, kind, text, before == null ? 1 : before.times + 1));
        if (rows.size() > MOST) {
            rows.remove(rows.keySet().iterator().next());
        }
    }

    /** One object per node, the latest first. */
    synchronized JsonArray json(Instant now) {
        rows.values().removeIf(row -> row.at.isBefore(now.minus(KEPT)));
        List<JsonValue> list = rows.entrySet().stream()
                .<JsonValue>map(entry -> JsonObject.builder()
                        .put("name", entry.getKey())
                        .put("at", KubeTime.formatMicro(entry.getValue().at))
                        .put("kind", entry.getValue().kind)
                        .put("times", entry.getValue().times)
                        .put("text", entry.getValue().text)
                        .build())
                .toList();
        return new JsonArray(list.reversed());
    }
}
