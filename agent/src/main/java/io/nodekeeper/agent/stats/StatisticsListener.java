package io.nodekeeper.agent.stats;

import java.util.Map;

/** Receives what the statistics show without a request, for metrics. */
public interface StatisticsListener {
    /**
     * How long tasks of the machine were stalled since its boot, in seconds.
     *
     * @param seconds by resource ({@code cpu}, {@code memory}, {@code io}) and kind ({@code some}, {@code full})
     */
    void stalled(Map<String, Map<String, Double>> seconds);

    /** The signals whose newest reading failed or has no answer, with the seconds since they were last measured. */
    void late(Map<String, Double> seconds);
}
