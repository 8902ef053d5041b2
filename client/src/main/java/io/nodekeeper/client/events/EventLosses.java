package io.nodekeeper.client.events;

import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;

/**
 * Logs which events were not written: the first one in full, and those of the next {@link #INTERVAL} in one line with
 * counts. Confined to the loop.
 */
final class EventLosses {
    /** Long enough that permanent losses do not fill the log, short enough to appear near their cause. */
    static final Duration INTERVAL = Duration.ofMinutes(1);
    /** The most separate counts in one line; the rest is counted together. */
    private static final int KINDS = 16;

    private final Logger log;
    private final Loop loop;
    /** Losses since the first one, by cause and reason; at most {@link #KINDS} + 1. */
    private final Map<String, Integer> counts = new TreeMap<>();

    private boolean counting;

    EventLosses(Logger log, Loop loop) {
        this.log = log;
        this.loop = loop;
    }

    /**
     * {@code event} was not written because of {@code cause}, a few words; {@code detail} is logged if it is the first.
     */
    void lost(EventCorrelator.Input event, String name, String cause, String detail) {
        if (counting) {
            String kind = event.reason() + " (" + cause + ")";
            counts.merge(counts.containsKey(kind) || counts.size() < KINDS ? kind : "others", 1, Integer::sum);
            return;
        }
        counting = true;
        log.warn(
                "event {} ({}) of {} is lost: {}",
                name,
                event.reason(),
                event.about().name(),
                detail);
        loop.schedule(INTERVAL, this::summarize);
    }

    private void summarize() {
        counting = false;
        if (counts.isEmpty()) {
            return;
        }
        log.warn(
                "{} more events are lost in the last {} s: {}",
                counts.values().stream().mapToInt(Integer::intValue).sum(),
                INTERVAL.toSeconds(),
                counts.entrySet().stream()
                        .map(count -> count.getKey() + " " + count.getValue())
                        .collect(Collectors.joining(", ")));
        counts.clear();
    }
}
