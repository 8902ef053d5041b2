package io.nodekeeper.agent.companion;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Computes the patches of a companion. A patch has entries of {@code status.conditions} and nothing else: no resource
 * version, so it never conflicts with a write of the kubelet, and no {@code $setElementOrder}, so it names no condition of
 * others. The API server merges the entries by {@code type} into the stored ones. Stateless.
 */
final class ConditionPatch {
    /** The reason of all conditions after the companion has stopped. */
    static final String STOPPED = "CompanionStopped";

    private ConditionPatch() {}

    /** Whether {@code stored} lacks one of the reports, or has it with another status, reason or message. */
    static boolean differs(Node stored, List<ConditionReport> reports) {
        return reports.stream().anyMatch(report -> differs(stored, report));
    }

    /** The patch with the reports that {@code stored} lacks or has otherwise; empty if there is none. */
    static Optional<JsonObject> changes(Node stored, List<ConditionReport> reports, Instant now) {
        return patch(
                stored,
                reports.stream().filter(report -> differs(stored, report)).toList(),
                now);
    }

    /** The patch with all reports, for their heartbeat times; empty if there is no report. */
    static Optional<JsonObject> refresh(Node stored, List<ConditionReport> reports, Instant now) {
        return patch(stored, reports, now);
    }

    /** The patch at the companion's end: Unknown for each of the reports that {@code stored} has; empty if there is none. */
    static Optional<JsonObject> withdrawal(Node stored, List<ConditionReport> reports, Instant now) {
        List<ConditionReport> last = reports.stream()
                .map(ConditionReport::type)
                .distinct()
                .flatMap(type -> stored.condition(type).stream())
                .filter(condition -> !condition.reason().equals(STOPPED))
                .map(condition -> new ConditionReport(
                        condition.type(),
                        Condition.UNKNOWN,
                        STOPPED,
                        "the companion on this node has stopped; its last report was " + condition.status()
                                + ", reason " + condition.reason()))
                .toList();
        return patch(stored, last, now);
    }

    private static boolean differs(Node stored, ConditionReport report) {
        return stored.condition(report.type())
                .filter(condition -> condition.status().equals(report.status())
                        && condition.reason().equals(report.reason())
                        && condition.message().equals(report.message()))
                .isEmpty();
    }

    private static Optional<JsonObject> patch(Node stored, List<ConditionReport> reports, Instant now) {
        if (reports.isEmpty()) {
            return Optional.empty();
        }
        List<JsonValue> entries = new ArrayList<>();
        for (ConditionReport report : reports) {
            Instant transition = stored.condition(report.type())
                    .filter(condition -> condition.status().equals(report.status()))
                    .flatMap(Condition::lastTransitionTime)
                    .orElse(now);
            entries.add(Condition.of(report.type(), report.status(), report.reason(), report.message(), now, transition)
                    .json());
        }
        return Optional.of(
                JsonObject.EMPTY.with("status", JsonObject.EMPTY.with("conditions", new JsonArray(entries))));
    }
}
