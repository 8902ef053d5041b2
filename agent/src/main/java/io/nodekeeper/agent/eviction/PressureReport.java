package io.nodekeeper.agent.eviction;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.api.Condition;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The condition {@code PressureUnknown}: eviction signals that the agent cannot measure. Stateless. */
public final class PressureReport {
    /** The condition's type. */
    public static final String TYPE = "PressureUnknown";

    private PressureReport() {}

    /**
     * The condition for {@code signals}, which have no measurement.
     *
     * @param runtime whether the node has a container runtime
     */
    public static ConditionReport of(List<EvictionSignal> signals, HostFacts facts, boolean runtime) {
        if (signals.isEmpty()) {
            return new ConditionReport(
                    TYPE, Condition.FALSE, "EvictionSignalsMeasured", "every eviction signal is measured");
        }
        Map<String, String> bySignals = new LinkedHashMap<>();
        for (EvictionSignal signal : signals) {
            bySignals.merge(signal.error(facts, runtime), signal.toString(), (before, name) -> before + ", " + name);
        }
        StringBuilder message = new StringBuilder();
        bySignals.forEach((error, names) -> message.append(message.isEmpty() ? "" : "; ")
                .append(names)
                .append(" cannot be measured: ")
                .append(error));
        List<String> conditions = signals.stream()
                .map(signal -> signal.pressure().condition())
                .distinct()
                .toList();
        return new ConditionReport(
                TYPE,
                Condition.TRUE,
                "EvictionSignalNotMeasured",
                message + "; " + String.join(", ", conditions) + (conditions.size() == 1 ? " keeps its" : " keep their")
                        + " last status");
    }
}
