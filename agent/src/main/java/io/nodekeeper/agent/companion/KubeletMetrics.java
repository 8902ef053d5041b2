package io.nodekeeper.agent.companion;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a scrape of the kubelet's metrics says about its PLEG. Immutable.
 *
 * @param lastRelist when its last relist began that got a list from the runtime; empty if there was none yet
 * @param relists how many relists have ended, and how long they took together
 * @param relistTime the mean duration of the relists that ended last; empty until one has ended between two scrapes
 * @param errors failed calls to the runtime by operation
 * @param failing the operations that failed since the scrape before
 * @param evented whether events of the runtime replace most relists, so that an old relist means nothing
 */
record KubeletMetrics(
        Optional<Instant> lastRelist,
        Relists relists,
        Optional<Duration> relistTime,
        Map<String, Double> errors,
        List<String> failing,
        boolean evented) {
    /** The most bytes of a scrape that are read: several times that of a node with 250 pods (about 1 MB). */
    static final int MOST_BYTES = 8 << 20;
    /** The most operations that are kept; the kubelet has about thirty. */
    static final int MOST_OPERATIONS = 64;
    /** The longest line that is looked at; those of these metrics have some hundred characters. */
    private static final int LONGEST_LINE = 4_096;

    private static final String LAST_SEEN = "kubelet_pleg_last_seen_seconds";
    private static final String RELISTS = "kubelet_pleg_relist_duration_seconds_count";
    private static final String RELIST_SECONDS = "kubelet_pleg_relist_duration_seconds_sum";
    private static final String ERRORS = "kubelet_runtime_operations_errors_total";
    private static final String EVENTED = "kubelet_evented_pleg_connection_success_count";
    private static final String OPERATION = "operation_type=\"";
    /** A day: a longer relist is a fault of the metric. */
    private static final double LONGEST_RELIST = 86_400;
    /** The last second of the year 9999, as the API's times. */
    private static final double LAST_TIME = 253_402_300_799.0;

    /** Relists that have ended since the kubelet's start. */
    record Relists(double count, double seconds) {}

    KubeletMetrics {
        errors = Map.copyOf(errors);
        failing = List.copyOf(failing);
    }

    /** Only the time of the last relist. */
    static KubeletMetrics lastRelist(Optional<Instant> time, boolean evented) {
        return new KubeletMetrics(time, new Relists(0, 0), Optional.empty(), Map.of(), List.of(), evented);
    }

    /** This scrape compared with the one before. A counter that is smaller than before began again: the kubelet restarted. */
    KubeletMetrics since(KubeletMetrics before) {
        double count = relists.count - before.relists.count;
        double seconds = relists.seconds - before.relists.seconds;
        Optional<Duration> time = before.relistTime;
        if (count < 0) {
            time = Optional.empty();
        } else if (count > 0) {
            time = Optional.of(Duration.ofMillis((long) (Math.clamp(seconds / count, 0, LONGEST_RELIST) * 1_000)));
        }
        List<String> grown = errors.entrySet().stream()
                .filter(entry -> entry.getValue() > before.errors.getOrDefault(entry.getKey(), 0.0))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
        return new KubeletMetrics(lastRelist, relists, time, errors, grown, evented);
    }

    /** Reads Prometheus' text format line by line, and keeps only the samples of this record. Not thread-safe. */
    static final class Reader {
        private final Map<String, Double> errors = new TreeMap<>();
        private Optional<Instant> lastRelist = Optional.empty();
        private double relists;
        private double relistSeconds;
        private boolean evented;
        private long bytes;

        /** Reads a line; false if the scrape is longer than {@link #MOST_BYTES}, and must be given up. */
        boolean line(byte[] line) {
            bytes += line.length + 1;
            if (bytes > MOST_BYTES) {
                return false;
            }
            if (line.length > 0 && line.length <= LONGEST_LINE && line[0] == 'k') {
                sample(new String(line, StandardCharsets.UTF_8));
            }
            return true;
        }

        KubeletMetrics metrics() {
            return new KubeletMetrics(
                    lastRelist, new Relists(relists, relistSeconds), Optional.empty(), errors, List.of(), evented);
        }

        private void sample(String line) {
            String name = name(line);
            switch (name) {
                case LAST_SEEN ->
                    lastRelist = value(line, name.length())
                            .filter(seconds -> seconds > 0 && seconds <= LAST_TIME)
                            .map(seconds -> Instant.ofEpochSecond((long) seconds.doubleValue()));
                case RELISTS -> relists = value(line, name.length()).orElse(0.0);
                case RELIST_SECONDS ->
                    relistSeconds = value(line, name.length()).orElse(0.0);
                case EVENTED -> evented = value(line, name.length()).orElse(0.0) > 0;
                case ERRORS -> error(line);
                default -> {
                    // Another metric.
                }
            }
        }

        private void error(String line) {
            int end = line.lastIndexOf('}');
            int from = line.indexOf(OPERATION);
            int to = from < 0 ? -1 : line.indexOf('"', from + OPERATION.length());
            if (to < 0 || end < to) {
                return;
            }
            String operation = line.substring(from + OPERATION.length(), to);
            if (errors.size() < MOST_OPERATIONS || errors.containsKey(operation)) {
                value(line, end + 1).ifPresent(count -> errors.put(operation, count));
            }
        }

        private static String name(String line) {
            int end = 0;
            while (end < line.length() && line.charAt(end) != ' ' && line.charAt(end) != '{') {
                end++;
            }
            return line.substring(0, end);
        }

        /** The number behind {@code from}, without a timestamp that may follow; empty if there is no finite number. */
        private static Optional<Double> value(String line, int from) {
            try {
                double value = Double.parseDouble(line.substring(from).strip().split(" ", 2)[0]);
                return Double.isFinite(value) ? Optional.of(value) : Optional.empty();
            } catch (NumberFormatException e) {
                return Optional.empty();
            }
        }
    }
}
