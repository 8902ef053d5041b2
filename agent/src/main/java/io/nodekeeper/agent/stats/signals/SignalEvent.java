package io.nodekeeper.agent.stats.signals;

/** An event about the node: a signal became late ({@code warning}), or is measured again. Immutable. */
public record SignalEvent(boolean warning, String reason, String message) {
    /** The reason of the event about a signal that is late. */
    static final String LATE = "StatisticsLate";
    /** The reason of the event about a signal that is measured again. */
    static final String MEASURED = "StatisticsMeasured";
}
