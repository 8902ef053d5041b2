package io.nodekeeper.controller.observe.report;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts the changes of nodes' conditions and taints and of pods by who made them. Not thread-safe. */
final class ChangeTable {
    /** The most rows: Kubernetes' own conditions and taints are about 20. Others share the last row. */
    private static final int MOST_ROWS = 40;

    private static final String OTHERS = "others";

    private static final class Row {
        private int both;
        private int oursAlone;
        private int theirsAlone;
        private int theirsFalse;
        /** One for each change by both, limited by the query. */
        private final List<Duration> leads = new ArrayList<>();

        private JsonObject json(String what) {
            JsonObject.Builder json = JsonObject.builder()
                    .put("change", what)
                    .put("both", both)
                    .put("oursAlone", oursAlone)
                    .put("theirsAlone", theirsAlone)
                    .put("theirsFalse", theirsFalse);
            if (!leads.isEmpty()) {
                json.put("medianLeadMillis", median(leads).toMillis());
            }
            return json.build();
        }
    }

    /** By {@code node} or {@code pod} and what changed; at most {@link #MOST_ROWS} and one. */
    private final TreeMap<String, Row> rows = new TreeMap<>();

    void add(Difference difference) {
        String what = (difference.object().startsWith("pod ") ? "pod " : "node ") + difference.what();
        String name = rows.containsKey(what) || rows.size() < MOST_ROWS ? what : OTHERS;
        Row row = rows.computeIfAbsent(name, key -> new Row());
        if (difference.falseAfter().isPresent()) {
            row.theirsFalse++;
        } else if (difference.byBoth()) {
            row.both++;
            difference.lead().ifPresent(row.leads::add);
        } else if (difference.byTheirsAlone()) {
            row.theirsAlone++;
        } else {
            row.oursAlone++;
        }
    }

    JsonArray json() {
        List<JsonValue> all = new ArrayList<>();
        for (Map.Entry<String, Row> row : rows.entrySet()) {
            all.add(row.getValue().json(row.getKey()));
        }
        return new JsonArray(all);
    }

    /** The upper median of durations, of which there is at least one. */
    static Duration median(List<Duration> durations) {
        return durations.stream().sorted().toList().get(durations.size() / 2);
    }
}
