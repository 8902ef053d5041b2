package io.nodekeeper.cli.status;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Formats the controller's status page for people. Pure. */
final class StatusReport {
    /** The most rows of a table on one screen. */
    private static final int ROWS = 10;
    /** The most characters of a reason on one screen, so that a row fits a terminal of 120 columns. */
    private static final int REASON = 60;

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter DAY =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final JsonObject page;
    private final boolean wide;
    private final Palette palette;
    private final Instant at;
    private final StringBuilder text = new StringBuilder();

    private StatusReport(JsonObject page, boolean wide, Palette palette) {
        this.page = page;
        this.wide = wide;
        this.palette = palette;
        this.at = KubeTime.parse(page.text("at")).orElse(Instant.EPOCH);
    }

    /** One screen; or, if {@code wide}, all rows and more columns. {@code from} is who answered. */
    static String of(JsonObject page, String from, boolean wide, Palette palette) {
        return new StatusReport(page, wide, palette).write(from);
    }

    /** A column: its title and the text of a row in it, in a colour of the palette. */
    private record Column(String title, Function<JsonObject, String> cell, UnaryOperator<String> colour) {
        Column(String title, Function<JsonObject, String> cell) {
            this(title, cell, UnaryOperator.identity());
        }

        /** The text of {@code row} in it. */
        String text(JsonObject row) {
            return clean(cell.apply(row));
        }
    }

    private String write(String from) {
        line(palette.title("Fleet at " + DAY.format(at) + " UTC") + ", from " + clean(from));
        line("");
        line("Sight   " + sight());
        if (page.has("guard")) {
            line("Guard   " + guard(page.object("guard")));
        }
        line("Lag     " + lag());
        line("Nodes   " + nodes());
        silent();
        table("Protected by the guard in the last hour", page.object("guard").array("recent"), refusals());
        table("Zones", "zones", zones());
        table("Not well", "unwell", unwell());
        table("Suspect: later than usual", "suspects", brief());
        table("Two machines with one name", "duplicates", duplicates());
        table("Damped: taints are kept", "damped", brief());
        table("About to happen", "next", next());
        return text.toString();
    }

    private String sight() {
        JsonObject sight = page.object("sight");
        if (sight.has("blindness")) {
            return palette.bad("BLIND") + ": " + clean(sight.text("blindness"));
        }
        return sight.bool("guard")
                ? palette.good("sees") + ": the last proof is " + millis(sight, "canaryAgeMs") + " old; blind from "
                        + millis(sight, "toleranceMs") + " on"
                : palette.warning("not checked") + ": this controller has no canary";
    }

    private String guard(JsonObject guard) {
        if (guard.has("off")) {
            return palette.bad("off") + ": " + clean(guard.text("off"));
        }
        return guard.text("mode").equals("enforce")
                ? palette.good("refuses") + " writes that wrongly blame nodes"
                : palette.warning("only warns") + " of writes that wrongly blame nodes";
    }

    private String lag() {
        JsonObject gaps = page.object("lag").object("gaps");
        JsonObject lags = page.object("lag").object("lags");
        if (gaps.number("count").orElse(0L) == 0) {
            return "no heartbeat was measured yet";
        }
        String gap = "a heartbeat every " + millis(gaps, "p50Millis") + " (p99.9 " + millis(gaps, "p999Millis")
                + ", longest " + millis(gaps, "maxMillis") + " of " + clean(gaps.text("worstNode")) + ")";
        String way = lags.number("count").orElse(0L) == 0
                ? ""
                : "; on the way " + millis(lags, "p50Millis") + " longer than usual (p99.9 "
                        + millis(lags, "p999Millis") + ")";
        return gap + way + "; grace " + millis(page.object("lag"), "graceMillis");
    }

    private String nodes() {
        long all = count("nodes");
        long ready = count("ready");
        List<String> parts = new ArrayList<>();
        String readyText = ready + " Ready";
        parts.add(ready == all ? palette.good(readyText) : readyText);
        addCount(parts, "notReady", "NotReady");
        addCount(parts, "unknown", "Unknown");
        addCount(parts, "neverReported", "never reported");
        return all + ": " + String.join(", ", parts);
    }

    private void addCount(List<String> parts, String field, String word) {
        if (count(field) > 0) {
            parts.add(palette.bad(count(field) + " " + word));
        }
    }

    private void silent() {
        String silent = page.array("longestSilent")
                .objects()
                .map(node -> clean(node.text("name")) + " " + millis(node, "silentMillis"))
                .collect(Collectors.joining(", "));
        if (!silent.isEmpty()) {
            line("Silent  for longest: " + silent);
        }
    }

    private List<Column> zones() {
        return List.of(
                new Column("ZONE", row -> row.text("zone")),
                new Column("STATE", row -> row.text("state"), state -> switch (state.strip()) {
                    case "Normal" -> palette.good(state);
                    case "Initial" -> state;
                    default -> palette.bad(state);
                }),
                new Column("NODES", row -> number(row, "nodes")),
                new Column("NOT READY", row -> number(row, "notReady")),
                new Column("WAITING FOR TAINT", row -> number(row, "waitingForTaint")));
    }

    private List<Column> unwell() {
        List<Column> columns = new ArrayList<>(List.of(
                new Column("NODE", row -> row.text("name")),
                new Column("STATE", row -> state(row.text("ready")), palette::bad),
                new Column("SINCE", row -> time(row.text("since"))),
                new Column("SILENT", row -> millis(row, "silentMillis"))));
        addWide(columns);
        columns.add(new Column("REASON", row -> shortened(clean(row.text("cause")))));
        return columns;
    }

    private List<Column> brief() {
        List<Column> columns = new ArrayList<>(List.of(
                new Column("NODE", row -> row.text("name"), palette::warning),
                new Column("STATE", row -> state(row.text("ready"))),
                new Column("SILENT", row -> millis(row, "silentMillis"))));
        addWide(columns);
        return columns;
    }

    private List<Column> duplicates() {
        List<Column> columns = new ArrayList<>(brief());
        columns.add(new Column("MACHINES", row -> row.text("machines")));
        return columns;
    }

    private List<Column> refusals() {
        return List.of(
                new Column("NODE", row -> row.text("name"), palette::warning),
                new Column("LAST", row -> time(row.text("at"))),
                new Column("TIMES", row -> number(row, "times")),
                new Column("WHAT", row -> row.text("text")));
    }

    private void addWide(List<Column> columns) {
        if (wide) {
            columns.add(new Column("ZONE", row -> row.text("zone")));
            columns.add(new Column("LAST HEARTBEAT BY", row -> row.text("lastSignal")));
            columns.add(new Column(
                    "FALLS", row -> row.number("fellFromReady").orElse(0L).toString()));
        }
    }

    private List<Column> next() {
        return List.of(
                new Column("IN", row -> millis(row, "inMillis")),
                new Column("AT", row -> time(row.text("at"))),
                new Column("NODE", row -> row.text("node")),
                new Column("WHAT", row -> row.text("what")));
    }

    /** A table with its title; nothing if it has no rows. */
    private void table(String title, String list, List<Column> columns) {
        table(title, page.array(list), columns);
    }

    private void table(String title, JsonArray list, List<Column> columns) {
        List<JsonObject> rows = list.objects().toList();
        if (rows.isEmpty()) {
            return;
        }
        List<JsonObject> shown = wide ? rows : rows.subList(0, Math.min(ROWS, rows.size()));
        line("");
        line(palette.title(title));
        List<Integer> widths = columns.stream()
                .map(column -> shown.stream()
                        .mapToInt(row -> column.text(row).length())
                        .reduce(column.title().length(), Math::max))
                .toList();
        line("  " + row(columns, widths, Column::title, false));
        shown.forEach(row -> line("  " + row(columns, widths, column -> column.text(row), true)));
        if (shown.size() < rows.size()) {
            line("  and " + (rows.size() - shown.size()) + " more: -o wide");
        }
    }

    private static String row(
            List<Column> columns, List<Integer> widths, Function<Column, String> cell, boolean coloured) {
        StringBuilder row = new StringBuilder();
        for (int i = 0; i < columns.size(); i++) {
            String value = cell.apply(columns.get(i));
            String shown = value.isEmpty() ? "-" : value;
            // Colours have no width, so they come after the padding is counted.
            row.append(coloured ? columns.get(i).colour().apply(shown) : shown);
            if (i < columns.size() - 1) {
                row.append(" ".repeat(Math.max(0, widths.get(i) - shown.length()) + 2));
            }
        }
        return row.toString();
    }

    private String shortened(String reason) {
        return wide || reason.length() <= REASON ? reason : reason.substring(0, REASON - 4) + " ...";
    }

    private static String state(String ready) {
        return switch (ready) {
            case "True" -> "Ready";
            case "False" -> "NotReady";
            default -> ready;
        };
    }

    private static String time(String time) {
        return KubeTime.parse(time).map(TIME::format).orElse("");
    }

    /** As seconds with one digit, or as minutes and seconds from a minute on. */
    private static String millis(JsonObject object, String name) {
        long millis = Math.max(0, object.number(name).orElse(0L));
        return GoDuration.format(
                millis < 1_000
                        ? Duration.ofMillis(millis)
                        : millis < 60_000 ? Duration.ofMillis(millis / 100 * 100) : Duration.ofSeconds(millis / 1_000));
    }

    private static String number(JsonObject object, String name) {
        return object.number(name).map(Object::toString).orElse("");
    }

    private long count(String name) {
        return Optional.of(page).flatMap(json -> json.number(name)).orElse(0L);
    }

    /** Names and messages come from nodes, which may send anything. */
    private static String clean(String value) {
        return Printable.line(value, Printable.VALUE);
    }

    private void line(String line) {
        text.append(line.stripTrailing()).append('\n');
    }
}
