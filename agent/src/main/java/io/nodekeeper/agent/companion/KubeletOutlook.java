package io.nodekeeper.agent.companion;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.status.NodeEvent;
import io.nodekeeper.api.Condition;
import io.nodekeeper.client.events.EventRecorder;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/** Keeps the current forecast, as a condition, and reports its beginning and its end as events. Not thread-safe. */
final class KubeletOutlook {
    static final String TYPE = "KubeletDegraded";
    /** The reason of the event at the end of a forecast. */
    static final String CLEARED = "KubeletForecastCleared";

    private final Consumer<NodeEvent> events;
    private Optional<Forecast> current = Optional.empty();
    private ConditionReport condition =
            new ConditionReport(TYPE, Condition.UNKNOWN, "KubeletNotObserved", "the kubelet has not been observed yet");

    /** An outlook without a forecast. */
    KubeletOutlook(Consumer<NodeEvent> events) {
        this.events = events;
    }

    /**
     * Takes new facts.
     *
     * @param observed whether the kubelet's health check or its metrics were ever readable, or there is a runtime to watch
     */
    void update(Forecast.Facts facts, boolean observed, Instant now) {
        Optional<Forecast> before = current;
        current = Forecast.of(facts, now).map(forecast -> forecast.or(before));
        if (current.isPresent()) {
            Forecast forecast = current.get();
            condition = new ConditionReport(TYPE, Condition.TRUE, forecast.reason(), forecast.message(now));
            if (before.filter(forecast::sameCause).isEmpty()) {
                events.accept(new NodeEvent(EventRecorder.WARNING, forecast.reason(), forecast.announcement(now)));
            }
        } else if (observed) {
            condition = new ConditionReport(
                    TYPE,
                    Condition.FALSE,
                    "KubeletHealthy",
                    "nothing is known that would make the kubelet call this node NotReady");
        }
        if (before.isPresent() && current.isEmpty()) {
            events.accept(new NodeEvent(
                    EventRecorder.NORMAL,
                    CLEARED,
                    "resolved: " + before.get().reason() + ", the node is "
                            + (facts.nodeReady() ? "Ready" : "not Ready")));
        }
    }

    /** The condition {@value #TYPE}. */
    ConditionReport condition() {
        return condition;
    }
}
