package io.nodekeeper.controller.observe.report;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.PeriodQuery;
import io.nodekeeper.controller.observe.Observation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Where a controller in observe mode and the cluster's own controller differed, as JSON: the verdicts that the cluster
 * would have been spared, the time that would have been gained, the pods that would not have been moved, all changes by
 * who made them, and the periods in which the observing controller was blind. Commands only format it. Pure.
 */
public final class ObserveReport {
    /** The most decisions of a report: some 30 MB, and more than a failure of 3,000 nodes causes. */
    private static final int MOST_DECISIONS = 20_000;
    /** The most verdicts that are listed, about 150 KB; more are only counted. */
    private static final int MOST_VERDICTS = 500;
    /** The most blind periods that are listed; more are only counted. */
    private static final int MOST_BLIND = 100;

    private static final String REMOVED = "Removed";
    private static final Set<String> KINDS = Set.of(
            Observation.DIFFERENCE, Observation.BEGINNING, Observation.END, "ObserverBlind", "ObserverSees", REMOVED);

    private final Period period;
    private final List<Decision> decisions;
    private final List<Difference> differences;
    private final List<Blindness> blind;
    /** The number of evicted pods by the verdict that caused it. */
    private final Map<Verdict, Integer> pods = new HashMap<>();

    private final int otherEvictions;
    private final List<Verdict> verdicts;

    private ObserveReport(List<Decision> before, List<Decision> during, Period period) {
        this.period = period;
        this.decisions = Stream.concat(before.stream(), during.stream()).toList();
        this.differences = during.stream()
                .flatMap(decision -> Difference.of(decision).stream())
                .toList();
        this.blind = Blindness.of(decisions, period);
        this.verdicts = verdicts();
        this.otherEvictions = evictions();
    }

    /** The decisions that a report since {@code from} needs. */
    public static PeriodQuery query(Instant from) {
        return new PeriodQuery(from, KINDS, MOST_DECISIONS);
    }

    /** The report about {@code period}, from what {@link #query} found. */
    public static JsonObject of(PeriodQuery.Found found, Period period) {
        return new ObserveReport(found.before(), found.decisions(), period)
                .json(found.completeSince().filter(time -> time.isAfter(period.from())));
    }

    private List<Verdict> verdicts() {
        Map<String, List<Instant>> deletions = new HashMap<>();
        decisions.stream()
                .filter(decision -> decision.kind().equals(REMOVED))
                .forEach(decision -> deletions
                        .computeIfAbsent(decision.node(), name -> new ArrayList<>())
                        .add(decision.at()));
        return differences.stream()
                .filter(Difference::isVerdict)
                .map(difference -> Verdict.of(
                        difference,
                        blind,
                        deletions.getOrDefault(difference.node(), List.of()).stream()
                                .filter(at -> !at.isBefore(difference.at()) && !at.isAfter(difference.found()))
                                .findFirst()))
                .sorted(Comparator.comparing(Verdict::at))
                .toList();
    }

    /** Counts the evictions by the other alone for the verdict that caused each; returns how many have none. */
    private int evictions() {
        Map<String, TreeMap<Instant, Verdict>> byNode = new HashMap<>();
        verdicts.forEach(verdict ->
                byNode.computeIfAbsent(verdict.node(), name -> new TreeMap<>()).put(verdict.at(), verdict));
        int others = 0;
        for (Difference difference : differences) {
            if (difference.isEviction() && difference.byTheirsAlone()) {
                Map.Entry<Instant, Verdict> cause =
                        byNode.getOrDefault(difference.node(), new TreeMap<>()).floorEntry(difference.at());
                if (cause == null || !cause.getValue().outcome().avoided) {
                    others++;
                } else {
                    pods.merge(cause.getValue(), 1, Integer::sum);
                }
            }
        }
        return others;
    }

    private JsonObject json(Optional<Instant> completeSince) {
        JsonObject.Builder json = period.json().toBuilder();
        completeSince.ifPresent(since -> json.put("completeSince", KubeTime.formatMicro(since)));
        if (!decisions.isEmpty()) {
            json.put("newestEntry", KubeTime.formatMicro(decisions.getLast().at()));
        }
        List<Verdict> shown = verdicts.stream()
                .sorted(Comparator.comparing(Verdict::outcome)
                        .thenComparing(verdict -> -pods.getOrDefault(verdict, 0))
                        .thenComparing(Verdict::at)
                        .thenComparing(Verdict::node))
                .limit(MOST_VERDICTS)
                .toList();
        ChangeTable changes = new ChangeTable();
        differences.forEach(changes::add);
        return json.put("observed", array(observed(completeSince).stream().map(Period::json)))
                .put("summary", summary())
                .put("verdicts", array(shown.stream().map(verdict -> verdict.json(pods.getOrDefault(verdict, 0)))))
                .put("moreVerdicts", verdicts.size() - shown.size())
                .put("changes", changes.json())
                .put("blind", array(blind.stream().limit(MOST_BLIND).map(Blindness::json)))
                .put("moreBlind", Math.max(0, blind.size() - MOST_BLIND))
                .build();
    }

    private JsonObject summary() {
        return JsonObject.builder()
                .put("falseVerdicts", count(Outcome.FALSE))
                .put("prematureVerdicts", count(Outcome.PREMATURE))
                .put(
                        "nodesSpared",
                        verdicts.stream()
                                .filter(verdict -> verdict.outcome().avoided)
                                .map(Verdict::node)
                                .distinct()
                                .count())
                .put(
                        "podsSaved",
                        pods.values().stream().mapToInt(Integer::intValue).sum())
                .put("otherEvictionsByTheirsAlone", otherEvictions)
                .put(
                        "evictionsByOursAlone",
                        differences.stream()
                                .filter(difference -> difference.isEviction()
                                        && difference.theirs().isEmpty())
                                .count())
                .put("earlier", lead(Outcome.EARLIER))
                .put("later", lead(Outcome.LATER))
                .put("oursAlone", count(Outcome.OURS_ALONE))
                .put("undecided", count(Outcome.UNDECIDED))
                .put("changes", differences.size())
                .put(
                        "blindMillis",
                        blind.stream()
                                .map(one -> one.period().length())
                                .reduce(Duration.ZERO, Duration::plus)
                                .toMillis())
                .build();
    }

    private long count(Outcome outcome) {
        return verdicts.stream().filter(verdict -> verdict.outcome() == outcome).count();
    }

    private JsonObject lead(Outcome outcome) {
        List<Verdict> all = verdicts.stream()
                .filter(verdict -> verdict.outcome() == outcome)
                .toList();
        List<Duration> times =
                all.stream().map(verdict -> verdict.gained().abs()).sorted().toList();
        JsonObject.Builder json = JsonObject.builder()
                .put("verdicts", all.size())
                .put("estimated", all.stream().filter(Verdict::estimated).count());
        if (!times.isEmpty()) {
            json.put(
                            "totalMillis",
                            times.stream().reduce(Duration.ZERO, Duration::plus).toMillis())
                    .put("medianMillis", ChangeTable.median(times).toMillis())
                    .put("longestMillis", times.getLast().toMillis());
        }
        return json.build();
    }

    /**
     * When a controller observed: from each beginning to the next end. A process that was killed wrote no end, and its
     * successor's beginning continues it. Histories of earlier versions have neither.
     */
    private List<Period> observed(Optional<Instant> completeSince) {
        Instant start = completeSince.orElse(period.from());
        List<Decision> marks = decisions.stream()
                .filter(decision ->
                        Set.of(Observation.BEGINNING, Observation.END).contains(decision.kind()))
                .toList();
        boolean begun = !decisions.isEmpty()
                && (marks.isEmpty()
                        || marks.getFirst().kind().equals(Observation.END)
                        || decisions.getFirst().at().isBefore(marks.getFirst().at()));
        Optional<Instant> open = begun ? Optional.of(start) : Optional.empty();
        List<Period> periods = new ArrayList<>();
        for (Decision mark : marks) {
            Instant at = mark.at().isBefore(start) ? start : mark.at();
            if (mark.kind().equals(Observation.BEGINNING)) {
                open = open.or(() -> Optional.of(at));
            } else {
                open.filter(at::isAfter).ifPresent(since -> periods.add(new Period(since, at)));
                open = Optional.empty();
            }
        }
        open.filter(since -> since.isBefore(period.to()))
                .ifPresent(since -> periods.add(new Period(since, period.to())));
        return periods;
    }

    private static JsonArray array(Stream<JsonObject> objects) {
        return new JsonArray(objects.<JsonValue>map(object -> object).toList());
    }
}
