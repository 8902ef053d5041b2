package io.nodekeeper.simulator.replay;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * A recording that was read once from its beginning to its end, which shows that it can be replayed.
 *
 * @param path its file
 * @param begin the wall time of the recorder when it began
 * @param duration how long it recorded
 * @param nodes the number of names of nodes in it
 * @param renewals of leases
 * @param gaps the times for which the recorder could not prove that it saw all changes
 * @param cut whether it ends without its end, because its recorder was killed
 */
public record Recording(
        Path path, Instant begin, Duration duration, int nodes, long renewals, List<Gap> gaps, boolean cut) {
    static final String KIND = "nodekeeper.io/Recording";
    static final int VERSION = 1;

    /** The most nodes: what a simulated API server and a controller hold within a gigabyte. */
    private static final int MOST_NODES = 150_000;
    /** The most gaps; one lasts at least for some seconds. */
    private static final int MOST_GAPS = 100_000;

    /** A time in which the recorder may have missed something; {@code from} is at most {@code to}. */
    public record Gap(Duration from, Duration to) {}

    /**
     * Reads all of {@code path}.
     *
     * @throws RecordingException if it is no recording; names the line and what was expected
     */
    public static Recording read(Path path) throws IOException {
        return read(path, () -> false).orElseThrow();
    }

    /** The same, or empty if {@code ended}, which is asked for each line: a large recording takes minutes. */
    public static Optional<Recording> read(Path path, BooleanSupplier ended) throws IOException {
        try (RecordingReader reader = new RecordingReader(path)) {
            Set<String> names = new HashSet<>();
            List<Gap> gaps = new ArrayList<>();
            Optional<Duration> lostSince = Optional.empty();
            Duration end = Duration.ZERO;
            boolean hasEnd = false;
            long renewals = 0;
            for (Optional<RecordedChange> next = reader.next(); next.isPresent(); next = reader.next()) {
                if (ended.getAsBoolean()) {
                    return Optional.empty();
                }
                end = next.get().at();
                switch (next.get()) {
                    case RecordedChange.NodeSeen seen ->
                        names.add(seen.node().object("metadata").text("name"));
                    case RecordedChange.Renewed renewed -> {
                        names.add(renewed.name());
                        renewals++;
                    }
                    case RecordedChange.SightLost lost -> {
                        Duration since = gaps.isEmpty()
                                        || lost.since().compareTo(gaps.getLast().to()) > 0
                                ? lost.since()
                                : gaps.getLast().to();
                        lostSince = lostSince.or(() -> Optional.of(since));
                    }
                    case RecordedChange.SightFound found -> {
                        Duration to = found.at();
                        lostSince.ifPresent(from -> gaps.add(new Gap(from, to)));
                        lostSince = Optional.empty();
                    }
                    case RecordedChange.End last -> hasEnd = true;
                    case RecordedChange.NodeGone gone -> names.add(gone.name());
                }
                if (names.size() > MOST_NODES) {
                    throw new RecordingException(path + " has more than " + MOST_NODES + " nodes");
                }
                if (gaps.size() > MOST_GAPS) {
                    throw new RecordingException(path + " has more than " + MOST_GAPS + " gaps");
                }
            }
            Duration until = end;
            lostSince.ifPresent(from -> gaps.add(new Gap(from, until)));
            boolean cut = !hasEnd || reader.isCut();
            return Optional.of(
                    new Recording(path, reader.begin(), end, names.size(), renewals, List.copyOf(gaps), cut));
        }
    }

    /** For how long the recorder could not see, in all gaps. */
    public Duration blind() {
        return gaps.stream().map(gap -> gap.to().minus(gap.from())).reduce(Duration.ZERO, Duration::plus);
    }
}
