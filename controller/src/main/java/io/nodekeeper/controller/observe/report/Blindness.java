package io.nodekeeper.controller.observe.report;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.explain.Explanations;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.observe.Observation;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A period in which this controller could not see, and judged no node.
 *
 * @param period from the last proof of sight on; until the end of the report if it has not ended
 * @param hop what stalled
 * @param ended whether sight returned
 */
record Blindness(Period period, String hop, boolean ended) {

    /** The periods without sight that touch {@code all}, in the decisions about the controller itself, oldest first. */
    static List<Blindness> of(List<Decision> decisions, Period all) {
        List<Blindness> periods = new ArrayList<>();
        Optional<Decision> begun = Optional.empty();
        for (Decision decision : decisions) {
            switch (decision.kind()) {
                // A second one only names another cause.
                case "ObserverBlind" -> begun = begun.or(() -> Optional.of(decision));
                case "ObserverSees" -> {
                    // The end says how long it lasted, also if the beginning is not in the history.
                    Instant start = start(decision, begun.orElse(decision));
                    add(periods, all, start, decision.at(), decision, true);
                    begun = Optional.empty();
                }
                // A new process starts with sight or reports its blindness itself.
                case Observation.BEGINNING, Observation.END -> {
                    begun.ifPresent(open -> add(periods, all, start(open, open), decision.at(), open, true));
                    begun = Optional.empty();
                }
                default -> {}
            }
        }
        begun.ifPresent(open -> add(periods, all, start(open, open), all.to(), open, false));
        return periods;
    }

    private static Instant start(Decision known, Decision orElse) {
        return blindFor(known).map(known.at()::minus).orElse(orElse.at());
    }

    private static Optional<Duration> blindFor(Decision decision) {
        try {
            return Optional.of(GoDuration.parse(decision.details().text(Explanations.BLIND_FOR)))
                    .filter(length -> !length.isNegative());
        } catch (IllegalArgumentException e) {
            // Of an earlier version.
            return Optional.empty();
        }
    }

    private static void add(
            List<Blindness> periods, Period all, Instant start, Instant end, Decision decision, boolean ended) {
        Instant first = start.isBefore(all.from()) ? all.from() : start;
        Instant last = end.isAfter(all.to()) ? all.to() : end;
        if (first.isBefore(last)) {
            periods.add(
                    new Blindness(new Period(first, last), decision.details().text("hop"), ended));
        }
    }

    JsonObject json() {
        return period.json().toBuilder().put("hop", hop).put("ended", ended).build();
    }
}
