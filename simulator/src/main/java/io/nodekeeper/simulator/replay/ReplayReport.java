package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.verdicts.Figures;
import io.nodekeeper.simulator.verdicts.Verdict;
import io.nodekeeper.simulator.verdicts.VerdictFigures;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The result of a replay.
 *
 * @param recording what was replayed
 * @param config the controller's configuration
 * @param simulated virtual time; less than the recording's if the run was asked to end
 * @param took real time
 * @param here the replayed controller's verdicts, by their time
 * @param there those of the recorded cluster's own controller, by their time
 */
public record ReplayReport(
        Recording recording,
        ControllerConfig config,
        Duration simulated,
        Duration took,
        List<Verdict> here,
        List<Verdict> there) {
    /** A node that is back this soon after its verdict: a fifth of the time after which its pods are evicted by default. */
    public static final Duration SOON = Duration.ofMinutes(1);
    /** Two silences of a node that began within this time are the same. Heartbeats are some seconds apart. */
    private static final Duration SAME = Duration.ofSeconds(1);
    /** The most verdicts in the text; JSON has all. */
    private static final int SHOWN = 50;

    /** The verdicts about one silence of a node; at least one of the two is there. */
    private record Row(Optional<Verdict> here, Optional<Verdict> there) {
        private Verdict either() {
            return here.or(() -> there).orElseThrow();
        }

        private Duration at() {
            return either().at();
        }
    }

    /** Whether the run ended before the recording. */
    public boolean isPartial() {
        return simulated.compareTo(recording.duration()) < 0;
    }

    /** The report as text. */
    public String text() {
        StringBuilder text = new StringBuilder();
        if (isPartial()) {
            text.append("PARTIAL: interrupted after " + Figures.millis(simulated) + " of "
                    + Figures.millis(recording.duration()) + "\n");
        }
        VerdictFigures own = VerdictFigures.of(here, SOON);
        VerdictFigures theirs = VerdictFigures.of(there, SOON);
        text.append(String.format(
                Locale.ROOT,
                """
                recording      %s, %s from %s on, %d nodes, %d renewals%s
                replay         took %s, %.0f times real time
                grace period   %s, detector %s

                               this controller  the recorded cluster
                verdicts       %-15d  %d
                back within 1m %-15d  %d
                silence p50    %-15s  %s
                silence p99    %-15s  %s
                silence max    %-15s  %s
                """,
                recording.path(),
                Figures.millis(recording.duration()),
                clock(Duration.ZERO),
                recording.nodes(),
                recording.renewals(),
                sight(),
                Figures.millis(took),
                (double) simulated.toNanos() / Math.max(1, took.toNanos()),
                GoDuration.format(config.nodeMonitorGracePeriod()),
                config.detector().kind().text(),
                own.verdicts(),
                theirs.verdicts(),
                own.back(),
                theirs.back(),
                own.silence(own.p50()),
                theirs.silence(theirs.p50()),
                own.silence(own.p99()),
                theirs.silence(theirs.p99()),
                own.silence(own.max()),
                theirs.silence(theirs.max())));
        List<Row> rows = rows();
        if (!rows.isEmpty()) {
            text.append(String.format(
                    "%n%-24s  %-20s  %-18s  %-20s  %s%n",
                    "time (UTC)", "node", "silent by then", "recorded cluster", "next heartbeat"));
        }
        for (Row row : rows.subList(0, Math.min(SHOWN, rows.size()))) {
            text.append(String.format(
                    "%-24s  %-20s  %-18s  %-20s  %s%n",
                    clock(row.at()),
                    row.either().node(),
                    row.here().map(verdict -> Figures.millis(verdict.silence())).orElse("no verdict"),
                    row.there()
                            .map(verdict -> Figures.millis(verdict.silence()))
                            .orElse("no verdict"),
                    row.either()
                            .backAfter()
                            .map(after -> "after " + Figures.millis(after))
                            .orElse("none in the recording")));
        }
        if (rows.size() > SHOWN) {
            text.append("and " + (rows.size() - SHOWN) + " more; -o json has all\n");
        }
        if (rows.isEmpty()) {
            text.append("\nNo node was declared Unknown, neither here nor in the recorded cluster.\n");
        }
        return text.toString();
    }

    private String sight() {
        String gaps = recording.gaps().isEmpty()
                ? ""
                : "; its recorder could not see for " + Figures.millis(recording.blind()) + " in "
                        + recording.gaps().size() + (recording.gaps().size() == 1 ? " gap" : " gaps");
        return gaps + (recording.cut() ? "; it has no end, its recorder was stopped hard" : "");
    }

    /** The report as JSON; durations in seconds, times in RFC 3339. */
    public JsonObject json() {
        return JsonObject.builder()
                .put("begin", KubeTime.formatMicro(recording.begin()))
                .put("durationSeconds", Figures.seconds(recording.duration()))
                .put("simulatedSeconds", Figures.seconds(simulated))
                .put("partial", isPartial())
                .put("tookSeconds", Figures.seconds(took))
                .put("nodes", recording.nodes())
                .put("renewals", recording.renewals())
                .put("gaps", recording.gaps().size())
                .put("blindSeconds", Figures.seconds(recording.blind()))
                .put("cut", recording.cut())
                .put("gracePeriodSeconds", Figures.seconds(config.nodeMonitorGracePeriod()))
                .put("replayed", VerdictFigures.of(here, SOON).json())
                .put("recorded", VerdictFigures.of(there, SOON).json())
                .put(
                        "verdicts",
                        new JsonArray(rows().stream().<JsonValue>map(this::json).toList()))
                .build();
    }

    private JsonObject json(Row row) {
        JsonObject.Builder json = JsonObject.builder().put("node", row.either().node());
        row.here()
                .ifPresent(verdict -> json.put("time", KubeTime.formatMicro(wall(verdict.at())))
                        .put("silenceSeconds", Figures.seconds(verdict.silence())));
        row.there()
                .ifPresent(verdict -> json.put("recordedTime", KubeTime.formatMicro(wall(verdict.at())))
                        .put("recordedSilenceSeconds", Figures.seconds(verdict.silence())));
        row.either().backAfter().ifPresent(after -> json.put("backAfterSeconds", Figures.seconds(after)));
        return json.build();
    }

    /** Verdicts about the same silence stand in one row. */
    private List<Row> rows() {
        Map<String, Deque<Verdict>> rest = new HashMap<>();
        there.forEach(verdict ->
                rest.computeIfAbsent(verdict.node(), name -> new ArrayDeque<>()).add(verdict));
        List<Row> rows = new ArrayList<>();
        for (Verdict own : here) {
            Deque<Verdict> others = rest.getOrDefault(own.node(), new ArrayDeque<>());
            // Both lists are in the order of time, and so are the silences of one node.
            while (!others.isEmpty() && others.peek().lastHeardAt().plus(SAME).compareTo(own.lastHeardAt()) < 0) {
                rows.add(new Row(Optional.empty(), Optional.of(others.remove())));
            }
            boolean same =
                    !others.isEmpty() && others.peek().lastHeardAt().minus(SAME).compareTo(own.lastHeardAt()) <= 0;
            rows.add(new Row(Optional.of(own), same ? Optional.of(others.remove()) : Optional.empty()));
        }
        rest.values()
                .forEach(others -> others.forEach(other -> rows.add(new Row(Optional.empty(), Optional.of(other)))));
        rows.sort(
                Comparator.comparing(Row::at).thenComparing(row -> row.either().node()));
        return rows;
    }

    private Instant wall(Duration at) {
        return recording.begin().plus(at);
    }

    private String clock(Duration at) {
        return wall(at).truncatedTo(ChronoUnit.MILLIS)
                .toString()
                .replace('T', ' ')
                .replace("Z", "");
    }
}
