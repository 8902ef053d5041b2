package io.nodekeeper.controller.guard;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.events.ObjectRef;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records verdicts that differ from the write: as a log line, an event about the node and a decision in the history. A
 * node controller repeats a refused write several times per pass, so repetitions within a minute are only counted.
 * Confined to the guard's loop, except for {@link #recent}.
 */
public final class GuardReport {
    private static final Logger log = LoggerFactory.getLogger(GuardReport.class);
    /** How long repetitions are only counted: a person reads one line per minute and node. */
    private static final Duration QUIET = Duration.ofMinutes(1);
    /** The most nodes and kinds of writes that are remembered, about 4 MB; the oldest are forgotten. */
    private static final int REMEMBERED = 20_000;

    private final Clock clock;
    private final EventRecorder events;
    private final Executor historyLoop;
    private final History history;

    private final RecentRefusals recent = new RecentRefusals();

    private record Last(long at, int repeated) {}

    /** At most {@link #REMEMBERED}, the oldest first. */
    private final Map<String, Last> lasts = new LinkedHashMap<>();

    /** {@code history} is confined to {@code historyLoop}. */
    public GuardReport(Clock clock, EventRecorder events, Executor historyLoop, History history) {
        this.clock = clock;
        this.events = events;
        this.historyLoop = historyLoop;
        this.history = history;
    }

    /** Records {@code verdict} about the write {@code blame}, unless the write passes as it would without a guard. */
    void decided(Blame blame, GuardVerdict verdict) {
        switch (verdict) {
            case GuardVerdict.Refuse refused ->
                record(blame, "GuardRefused", "Refused: ", Optional.of(refused.proof()));
            case GuardVerdict.AllowWithWarning warned ->
                record(blame, "GuardWouldRefuse", "Would have refused: ", Optional.of(warned.proof()));
            case GuardVerdict.Allow allow -> {
                if (allow.why() == GuardVerdict.Reason.OVER_BUDGET) {
                    record(blame, "GuardBudgetSpent", "Let pass, " + allow.text() + ": ", Optional.empty());
                }
            }
        }
    }

    private void record(Blame blame, String kind, String what, Optional<Proof> proof) {
        long now = clock.nanoTime();
        String reason = proof.map(right -> ", but " + right.text()).orElse("");
        recent.add(clock.wallTime(), blame.node(), kind, what + blame.user() + " " + blame.text() + reason);
        String key = kind + " " + blame.kind() + " " + blame.node();
        Last last = lasts.remove(key);
        if (last != null && now - last.at < QUIET.toNanos()) {
            lasts.put(key, new Last(last.at, last.repeated + 1));
            return;
        }
        lasts.put(key, new Last(now, 0));
        if (lasts.size() > REMEMBERED) {
            lasts.remove(lasts.keySet().iterator().next());
        }
        String text = what + blame.user() + " " + blame.text() + reason
                + (last == null || last.repeated == 0 ? "" : " (and " + last.repeated + " times before)");
        log.warn("{}", text);
        events.record(new ObjectRef("v1", "Node", "", blame.node(), blame.uid()), EventRecorder.WARNING, kind, text);
        Decision decision = new Decision(
                clock.wallTime(),
                blame.node(),
                blame.uid(),
                kind,
                text,
                proof.map(right -> right.evidence().json()).orElse(JsonObject.EMPTY));
        historyLoop.execute(() -> history.add(decision));
    }

    /** The nodes that were lately blamed wrongly, the latest first, for status pages. May be called from any thread. */
    public JsonArray recent() {
        return recent.json(clock.wallTime());
    }

    /** The number of remembered nodes and kinds of writes. */
    int size() {
        return lasts.size();
    }
}
