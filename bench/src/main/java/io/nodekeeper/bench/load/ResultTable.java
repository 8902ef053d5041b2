package io.nodekeeper.bench.load;

import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Formats the measurements as a table. */
final class ResultTable {
    private ResultTable() {}

    static String of(List<JsonObject> rows) {
        List<List<String>> table = new ArrayList<>();
        table.add(List.of(
                "STORE",
                "PHASE",
                "RENEWALS/S",
                "P50",
                "P99",
                "P99.9",
                "LAG P50",
                "LAG P99",
                "LAG MAX",
                "LATE",
                "WATCH",
                "REFUSED",
                "SERVER µs",
                "BENCH µs",
                "WRITTEN B",
                "RSS MB"));
        for (JsonObject row : rows) {
            JsonObject latency = row.object("latencyMs");
            JsonObject lag = row.object("watchLagMs");
            table.add(List.of(
                    row.text("store"),
                    row.text("phase"),
                    number(row, "renewalsPerSecond"),
                    latency.text("p50"),
                    latency.text("p99"),
                    latency.text("p99.9"),
                    lag.text("p50"),
                    lag.text("p99"),
                    lag.text("max"),
                    number(row, "seenLaterThan100Ms"),
                    row.text("watch").isEmpty() ? rest(row) : row.text("watch"),
                    row.text("refusals"),
                    number(row, "serverCpuMicros"),
                    number(row, "generatorCpuMicros"),
                    number(row, "serverWrittenBytes"),
                    number(row, "residentMb")));
        }
        int columns = table.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> line : table) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        return table.stream().map(line -> line(line, widths)).collect(Collectors.joining("\n"))
                + "\nTimes in ms; LATE: seen later than 100 ms after they were due; µs: processor time per renewal;"
                + " WRITTEN: to the server's disk per renewal.";
    }

    private static String line(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            line.append(cells.get(i)).append(" ".repeat(widths[i] - cells.get(i).length() + 2));
        }
        return line.toString().stripTrailing();
    }

    private static String number(JsonObject row, String name) {
        return row.number(name).map(value -> Long.toString(value)).orElse("");
    }

    /** The fields that only some rows have. */
    private static String rest(JsonObject row) {
        List<String> rest = new ArrayList<>();
        for (String name : List.of("openedInSeconds", "idleCpuPercent", "residentMbBefore", "lost")) {
            row.number(name).ifPresent(value -> rest.add(name + " " + value));
        }
        if (!row.text("told").isEmpty()) {
            rest.add("told " + row.text("told"));
        }
        return String.join(", ", rest);
    }
}
