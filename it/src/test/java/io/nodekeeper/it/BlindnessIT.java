package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * When the controller cannot see, it blames no node for that, and it finds the nodes that really die in that time. Each
 * fault has its own cluster, in which it happens twice: while all live, and while some die. All run side by side, and
 * no fault begins before the last cluster stands, as starting them takes all of the machine. The table of a whole run
 * becomes {@code docs/blindness.md}.
 *
 * <p>{@code -Dblindness.only=WATCH,DISK} runs just those cases, and {@code -Dblindness.etcd=true} all on etcd; both leave the
 * document alone.
 */
@Isolated("It measures.")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class BlindnessIT {
    /** Whether every case has its objects in etcd, where the store's own disk has no part. */
    private static final boolean ON_ETCD = Boolean.getBoolean("blindness.etcd");

    /** Between the starts of faults, so that they do not all end at once: the end of a fault causes much work. */
    private static final Duration APART = Duration.ofSeconds(3);
    /** A crash has to be found within the grace and this after sight returned, seconds. */
    private static final int MARGIN = 5;
    /** What a busy machine may add to that before the test fails; the table tells all the same. */
    private static final int NOISE = 15;
    /** How long the test looks for verdicts after sight has returned, seconds: a wrong one is made within the grace. */
    private static final int AFTERMATH = (int) BlindCluster.GRACE.toSeconds() + 12;
    /** The watch of this test may be told of a renewal later than the controller's, seconds. */
    private static final int OBSERVERS_LAG = 10;
    /** What makes this controller Kubernetes' reference. */
    private static final List<String> REFERENCE =
            List.of("--feature-gates=ObserverGuard=false,WatchDrivenDeadlines=false");

    @TempDir
    static Path directory;

    private final List<CompletableFuture<List<Row>>> runs = new ArrayList<>();

    /** One line of the table. */
    private record Row(
            Blindness blindness,
            boolean reference,
            boolean crash,
            List<String> falselyBlamed,
            int found,
            int marks,
            Optional<Double> firstFound,
            Optional<Double> lastFound,
            double leastSilence,
            double leastSinceMade,
            boolean recovered,
            Set<String> hops) {

        int crashed() {
            return crash ? BlindCluster.MORTAL : 0;
        }

        boolean onTime(int margin) {
            return !crash
                    || (found == BlindCluster.MORTAL
                            && marks == BlindCluster.MORTAL
                            && leastSilence >= BlindCluster.GRACE.toSeconds() - OBSERVERS_LAG
                            && leastSinceMade >= BlindCluster.GRACE.toSeconds()
                            && lastFound.orElse(Double.MAX_VALUE) <= BlindCluster.GRACE.toSeconds() + margin);
        }

        boolean good() {
            return falselyBlamed.isEmpty() && onTime(MARGIN) && recovered && namesHop();
        }

        boolean namesHop() {
            return reference || blindness.hop().isEmpty() || hops.contains(blindness.hop());
        }

        String cells() {
            return String.format(
                    Locale.ROOT,
                    "| %s%s | %d s | %d | %d | %d | %s | %s | %s |%n",
                    blindness.text(),
                    reference ? "; reference mode" : "",
                    blindness.seconds(),
                    BlindCluster.STEADY + BlindCluster.MORTAL - crashed(),
                    crashed(),
                    falselyBlamed.size(),
                    firstFound
                            .map(first -> String.format(Locale.ROOT, "%.1f to %.1f s", first, lastFound.orElse(first)))
                            .orElse("–"),
                    hops.isEmpty() ? "–" : String.join(", ", hops),
                    reference ? (falselyBlamed.isEmpty() ? "no node blamed" : "blames") : good() ? "yes" : "**no**");
        }
    }

    @TestFactory
    @Tag("W1")
    @Tag("L26")
    @Tag("L27")
    Stream<DynamicTest> noNodeIsBlamedForOurBlindnessAndTheDeadAreFound() {
        List<Blindness> faults =
                Stream.of(Blindness.values()).filter(BlindnessIT::wanted).toList();
        boolean reference = wanted(Blindness.WATCH);
        CountDownLatch standing = new CountDownLatch(faults.size() + (reference ? 1 : 0));
        List<DynamicTest> tests = new ArrayList<>();
        for (Blindness fault : faults) {
            CompletableFuture<List<Row>> rows = run(fault, List.of(false, true), false, standing);
            tests.add(DynamicTest.dynamicTest(
                    fault.text(), () -> holds(rows.join().getFirst())));
            tests.add(DynamicTest.dynamicTest(
                    fault.text() + ", with crashes", () -> holds(rows.join().getLast())));
        }
        if (reference) {
            CompletableFuture<List<Row>> row = run(Blindness.WATCH, List.of(false), true, standing);
            // This shows that the suite can fail.
            tests.add(DynamicTest.dynamicTest(
                    "the reference blames nodes when the lease watch is stalled",
                    () -> assertThat(row.join().getFirst().falselyBlamed()).isNotEmpty()));
        }
        return tests.stream();
    }

    private static void holds(Row row) {
        assertThat(row.falselyBlamed()).as("live nodes that became Unknown").isEmpty();
        assertThat(row.recovered()).as("all live nodes are Ready and renewing").isTrue();
        assertThat(row.found()).as("crashed nodes that are Unknown").isEqualTo(row.crashed());
        assertThat(row.marks()).as("verdicts on crashed nodes").isEqualTo(row.crashed());
        assertThat(row.onTime(MARGIN + NOISE))
                .as("crashes found in time: %s", row)
                .isTrue();
        assertThat(row.namesHop())
                .as("hop named: expected %s, got %s", row.blindness().hop(), row.hops())
                .isTrue();
    }

    private static Blindness.Storage storage(Blindness blindness) {
        return ON_ETCD ? Blindness.Storage.ETCD : blindness.storage();
    }

    private static boolean wanted(Blindness blindness) {
        String only = System.getProperty("blindness.only", "");
        if (ON_ETCD && blindness.storage() == Blindness.Storage.OWN_DISK) {
            return false;
        }
        return only.isEmpty() || List.of(only.split(",")).contains(blindness.name());
    }

    private CompletableFuture<List<Row>> run(
            Blindness blindness, List<Boolean> crashes, boolean reference, CountDownLatch standing) {
        Duration later = APART.multipliedBy(runs.size());
        CompletableFuture<List<Row>> run = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                run.complete(rows(blindness, crashes, reference, standing, later));
            } catch (Exception | Error e) {
                run.completeExceptionally(e);
            }
        });
        runs.add(run);
        return run;
    }

    private static List<Row> rows(
            Blindness blindness, List<Boolean> crashes, boolean reference, CountDownLatch standing, Duration later)
            throws Exception {
        String name = blindness.name().toLowerCase(Locale.ROOT) + (reference ? "-reference" : "");
        BlindCluster started;
        try {
            started = new BlindCluster(
                    Files.createDirectory(directory.resolve(name)),
                    storage(blindness),
                    reference ? REFERENCE : List.of());
        } finally {
            standing.countDown();
        }
        List<Row> rows = new ArrayList<>();
        try (BlindCluster cluster = started) {
            standing.await();
            Thread.sleep(later);
            for (boolean crash : crashes) {
                Row row = look(cluster, blindness, crash, reference);
                System.out.print("blindness: " + row.cells());
                if (!row.good()) {
                    Path log = Path.of("target", "blindness-" + name + (crash ? "-crash" : "") + ".log")
                            .toAbsolutePath();
                    cluster.keepLog(log);
                    System.out.println("blindness: " + row + "; the controller's log is in " + log);
                }
                rows.add(row);
            }
        }
        return rows;
    }

    private static Row look(BlindCluster cluster, Blindness blindness, boolean crash, boolean reference)
            throws Exception {
        Map<String, String> before = cluster.transitions();
        cluster.forgetMarks();
        Instant begin = Instant.now();
        int logged = cluster.logged();

        long sight = blindness.happen(cluster, crash);
        Thread.sleep(AFTERMATH * 1_000L);
        long last = sight
                + Duration.ofSeconds(BlindCluster.GRACE.toSeconds() + MARGIN + NOISE)
                        .toNanos();
        while (crash
                && System.nanoTime() < last
                && !cluster.crashed().stream().allMatch(seen -> seen.ready.equals(Condition.UNKNOWN))) {
            Thread.sleep(100);
        }

        List<Fleet.Seen> found = !crash
                ? List.of()
                : cluster.crashed().stream()
                        .filter(seen -> seen.ready.equals(Condition.UNKNOWN))
                        .toList();
        // A renewal that had waited in what stood still is a heartbeat when it is stored.
        List<Double> after = found.stream()
                .map(seen -> (seen.readySince - Math.max(sight, seen.signal)) / 1e9)
                .sorted()
                .toList();
        return new Row(
                blindness,
                reference,
                crash,
                cluster.falselyBlamed(before, !crash),
                found.size(),
                found.stream().mapToInt(seen -> seen.marked).sum(),
                after.stream().findFirst(),
                after.reversed().stream().findFirst(),
                found.stream()
                        .mapToDouble(seen -> (seen.readySince - seen.signal) / 1e9)
                        .min()
                        .orElse(Double.MAX_VALUE),
                found.stream()
                        .mapToDouble(seen -> (seen.readySince - seen.made) / 1e9)
                        .min()
                        .orElse(Double.MAX_VALUE),
                cluster.recovered(sight, !crash),
                cluster.hopsNamed(begin, logged));
    }

    @AfterAll
    void writeTable() throws Exception {
        if (ON_ETCD
                || !System.getProperty("blindness.only", "").isEmpty()
                || runs.stream().anyMatch(run -> !run.isDone() || run.isCompletedExceptionally())) {
            return;
        }
        StringBuilder table = new StringBuilder();
        runs.stream()
                .map(CompletableFuture::join)
                .flatMap(List::stream)
                .sorted(Comparator.comparing(Row::reference)
                        .thenComparing(Row::blindness)
                        .thenComparing(Row::crash))
                .forEach(row -> table.append(row.cells()));
        Files.writeString(Path.of("..", "docs", "blindness.md"), DOCUMENT.formatted(table));
    }

    private static final String DOCUMENT = """
            # Blindness

            Written by `BlindnessIT`, which `./test --all` runs; do not edit.

            The controller must not blame nodes when it cannot see them. Each fault runs on a separate cluster: API server
            (RocksDB), controller and 60 hollow nodes in two processes, all real processes on one machine with 2 cores, all
            clusters at the same time. Grace 40 s, leases of 40 s, renewed every 10 s. The controller reaches the API server
            through a relay, which simulates the network faults; the nodes and the observer reach it directly. Processes are
            frozen with SIGSTOP. The store's disk is a separate ext4, frozen with `fsfreeze`. Where etcd members freeze, they
            are the store (`--store etcd`). Where nodes crash, the
            process of 10 of them gets SIGKILL in the middle of the fault.

            A false verdict is a living node that became Unknown between the start of the fault and 52 s after its end. A
            crash is found when the API shows it. The time counts from when sight returned, or from the node's last heartbeat
            if that was stored later because its request had waited; it is negative for crashes found before. It should be 45 s
            at most (the grace and 5 s; the test fails beyond 60 s), and at least the grace after the last heartbeat.
            "All at once": disk for 45 s, API server, controller and network (refused) for 60 s, lease watch until 70 s.

            | fault | for | living | crashed | false verdicts | crashes found after sight returned | hop named | as it should be |
            |---|---|---|---|---|---|---|---|
            %s
            The last row shows that this suite can fail: Kubernetes' way (`--feature-gates=ObserverGuard=false,WatchDrivenDeadlines=false`)
            under the first fault.
            """;
}
