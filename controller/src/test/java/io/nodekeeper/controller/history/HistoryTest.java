package io.nodekeeper.controller.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stored decisions are found again after a restart, after a kill in the middle of a line, and with a broken disk. */
class HistoryTest {
    private static final Instant B = Instant.parse("2015-01-01T12:00:00Z");
    private static final long BOUND = 1 << 20;

    @TempDir
    Path directory;

    private final ThreadLoop loop = new ThreadLoop("controller");
    private final ControllerMetrics metrics = new ControllerMetrics();
    private final List<FileHistory> open = new ArrayList<>();

    @AfterEach
    void close() {
        open.forEach(FileHistory::close);
        loop.close();
    }

    @Test
    @Tag("W20")
    void decisionsAreThereAfterARestart() throws Exception {
        FileHistory before = history();
        Decision decision = new Decision(
                B.plusNanos(3_000_000),
                "n1",
                "uid-1",
                "Unknown",
                "silent for 50s",
                new Evidence().signal("lease").json());
        add(before, decision);
        before.close();

        assertThat(find(history(), DecisionQuery.newest("n1", 10))).containsExactly(decision);
    }

    @Test
    @Tag("W20")
    void tornLastLineIsDroppedAndWritingGoesOn() throws Exception {
        FileHistory before = history();
        add(before, decision(0, "n1"), decision(1, "n1"));
        before.close();
        Path segment = directory.resolve("decisions-00000001.jsonl");
        byte[] whole = Files.readAllBytes(segment);
        Files.write(segment, Arrays.copyOf(whole, whole.length - 7));

        FileHistory after = history();
        add(after, decision(2, "n1"));

        assertThat(find(after, DecisionQuery.newest("n1", 10))).containsExactly(decision(0, "n1"), decision(2, "n1"));
        assertThat(Files.readString(segment)).endsWith("}\n");
    }

    @Test
    @Tag("W20")
    void everyPlaceOfACutLeavesWhatWasWholeBefore() throws IOException {
        Segments segments = new Segments(directory, BOUND);
        segments.append(List.of(decision(0, "n1"), decision(1, "n1")));
        Path segment = directory.resolve("decisions-00000001.jsonl");
        byte[] whole = Files.readAllBytes(segment);
        int first = new String(whole, StandardCharsets.UTF_8).indexOf('\n') + 1;

        for (int length = 0; length <= whole.length; length++) {
            Files.write(segment, Arrays.copyOf(whole, length));
            long cut = segments.repair();
            segments.append(List.of(decision(9, "n1")));

            List<String> damaged = new ArrayList<>();
            List<Decision> found = stored(damaged::add);
            int kept = length == whole.length ? 2 : length >= first ? 1 : 0;
            assertThat(found).as("cut at %d", length).hasSize(kept + 1).endsWith(decision(9, "n1"));
            assertThat(damaged).isEmpty();
            assertThat(cut).isEqualTo(length == whole.length ? 0 : length >= first ? length - first : length);
        }
    }

    @Test
    void lineThatAnInterruptedAppendHasBegunIsDroppedBeforeTheNextOne() throws IOException {
        Segments segments = new Segments(directory, BOUND);
        segments.append(List.of(decision(0, "n1")));
        // given an append that is interrupted at its deadline, which closes the file, when a part of a line is stored
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> segments.append(List.of(decision(1, "n1"))))
                .isInstanceOf(ClosedByInterruptException.class);
        assertThat(Thread.interrupted()).isTrue();
        Files.writeString(
                directory.resolve("decisions-00000001.jsonl"), "{\"at\":\"2015-01-01", StandardOpenOption.APPEND);

        segments.append(List.of(decision(2, "n1")));

        assertThat(kept()).containsExactly(decision(0, "n1"), decision(2, "n1"));
    }

    @Test
    void nextLeaderFindsAndContinuesWhatTheOneBeforeKept() throws Exception {
        DeferredHistory first = new DeferredHistory(this::history);
        DeferredHistory second = new DeferredHistory(this::history);
        onLoop(first::open);
        add(first, decision(0, "n1"));
        assertThat(find(second, DecisionQuery.newest("n1", 10))).isEmpty();
        first.close();

        onLoop(second::open);
        add(second, decision(1, "n1"));

        assertThat(find(second, DecisionQuery.newest("n1", 10))).containsExactly(decision(0, "n1"), decision(1, "n1"));
    }

    @Test
    void secondWriterKeepsItsDecisionsInMemoryUntilTheFirstIsGone() throws Exception {
        FileHistory first = history();
        add(first, decision(0, "n1"));
        find(first, DecisionQuery.newest("n1", 10));

        // given one more, though the first still writes, perhaps because it stood still when it lost the leadership
        FileHistory second = history();
        add(second, decision(1, "n1"));
        assertThat(find(second, DecisionQuery.newest("n1", 10))).containsExactly(decision(0, "n1"), decision(1, "n1"));
        assertThat(kept()).containsExactly(decision(0, "n1"));

        first.close();
        add(second, decision(2, "n1"));
        find(second, DecisionQuery.newest("n1", 10));
        assertThat(kept()).containsExactly(decision(0, "n1"), decision(2, "n1"));
    }

    private List<Decision> kept() throws IOException {
        return stored(damage -> {
            throw new AssertionError(damage);
        });
    }

    /** All decisions that are on disk. */
    private List<Decision> stored(Consumer<String> damaged) throws IOException {
        return FileHistory.read(directory, DecisionQuery.newest("", 10_000), damaged)
                .node();
    }

    @Test
    void damagedLineIsPassedOverAndNamed() throws IOException {
        Segments segments = new Segments(directory, BOUND);
        segments.append(List.of(decision(0, "n1")));
        Path segment = directory.resolve("decisions-00000001.jsonl");
        Files.writeString(segment, "no json\n{\"at\":\"yesterday\"}\n", StandardOpenOption.APPEND);
        segments.append(List.of(decision(1, "n1")));

        List<String> damaged = new ArrayList<>();
        List<Decision> found = stored(damaged::add);

        assertThat(found).containsExactly(decision(0, "n1"), decision(1, "n1"));
        assertThat(damaged).hasSize(2);
        assertThat(damaged.get(0)).isEqualTo(segment + ", byte 107: expected a decision with at and kind");
        assertThat(damaged.get(1)).startsWith(segment + ", byte 99: ");
    }

    @Test
    void diskUseStaysWithinItsBoundAndTheOldestDecisionsAreDropped() throws IOException {
        Segments segments = new Segments(directory, 16_384);

        for (int i = 0; i < 1_000; i++) {
            segments.append(List.of(decision(i, "n" + i)));
        }

        assertThat(segments.size()).isBetween(12_000L, 16_384L);
        List<Decision> found = stored(damage -> {});
        assertThat(found).endsWith(decision(999, "n999")).doesNotContain(decision(0, "n0"));
        assertThat(found.getFirst().at()).isAfter(B.plusSeconds(700));
    }

    @Test
    void fullDiskAffectsOnlyTheHistory() throws Exception {
        Files.createSymbolicLink(directory.resolve("decisions-00000001.jsonl"), Path.of("/dev/full"));
        FileHistory history = history();

        add(history, decision(0, "n1"), decision(1, "n1"));

        assertThat(find(history, DecisionQuery.newest("n1", 10))).containsExactly(decision(0, "n1"), decision(1, "n1"));
        assertThat(lost()).isEqualTo(2.0);

        Files.delete(directory.resolve("decisions-00000001.jsonl"));
        add(history, decision(2, "n1"));
        assertThat(find(history, DecisionQuery.newest("n1", 10))).endsWith(decision(2, "n1"));
        assertThat(lost()).isEqualTo(2.0);
    }

    @Test
    void timesInNanosecondsRepeatNoDecisionWhileTheDiskIsFull() throws Exception {
        Decision first = new Decision(B.plusNanos(1_234_567), "n1", "", "Unknown", "", JsonObject.EMPTY);
        Decision second = new Decision(B.plusNanos(2_345_678), "n1", "", "Unknown", "", JsonObject.EMPTY);
        Path segment = directory.resolve("decisions-00000001.jsonl");
        FileHistory history = history();
        add(history, first);
        assertThat(find(history, DecisionQuery.newest("n1", 10))).containsExactly(first);
        Path stored = Files.move(segment, directory.resolve("stored"));
        Files.createSymbolicLink(segment, Path.of("/dev/full"));
        add(history, second);
        find(history, DecisionQuery.newest("n1", 10));
        Files.move(stored, segment, StandardCopyOption.REPLACE_EXISTING);

        assertThat(find(history, DecisionQuery.newest("n1", 10))).containsExactly(first, second);
        assertThat(first.at()).isEqualTo(B.plusNanos(1_234_000));
    }

    @Test
    void newestAreFoundThoughTheDiskFailsAndHasManyOlderOnes() throws Exception {
        FileHistory history = history();
        add(history, seconds(0, 40).toArray(Decision[]::new));
        Path segment = directory.resolve("decisions-00000001.jsonl");
        find(history, DecisionQuery.newest("n1", 5));
        Path stored = Files.move(segment, directory.resolve("stored"));
        Files.createSymbolicLink(segment, Path.of("/dev/full"));
        add(history, decision(40, "n1"), decision(41, "n1"));
        find(history, DecisionQuery.newest("n1", 5));
        Files.move(stored, segment, StandardCopyOption.REPLACE_EXISTING);

        assertThat(find(history, DecisionQuery.newest("n1", 5))).isEqualTo(seconds(37, 42));
    }

    @Test
    void decisionsThatCouldNotBeStoredAreShownAfterTheDiskRecovered() throws Exception {
        Files.createSymbolicLink(directory.resolve("decisions-00000001.jsonl"), Path.of("/dev/full"));
        FileHistory history = history();
        add(history, decision(0, "n1"), decision(1, "n1"));
        find(history, DecisionQuery.newest("n1", 10));
        Files.delete(directory.resolve("decisions-00000001.jsonl"));

        add(history, decision(2, "n1"));

        assertThat(find(history, DecisionQuery.newest("n1", 10))).isEqualTo(seconds(0, 3));
        assertThat(find(history, DecisionQuery.newest("n1", 2))).isEqualTo(seconds(1, 3));
    }

    @Test
    void periodSaysSinceWhenItIsCompleteIfTooManyDecisionsCouldNotBeStored() throws Exception {
        Files.createSymbolicLink(directory.resolve("decisions-00000001.jsonl"), Path.of("/dev/full"));
        FileHistory history = history();
        onLoop(() -> IntStream.range(0, 4_100).forEach(i -> history.add(about("n" + i, i, "Removed"))));
        find(history, DecisionQuery.newest("n1", 10));

        PeriodQuery.Found found = CompletableFuture.supplyAsync(() -> history.find(period(0, 10_000)), loop)
                .thenCompose(answer -> answer)
                .get(10, TimeUnit.SECONDS);

        assertThat(found.decisions()).hasSize(4_096);
        assertThat(found.completeSince()).contains(B.plusSeconds(3));
    }

    @Test
    void startWithManyNodesLosesNoDecision() throws Exception {
        FileHistory history = new FileHistory(directory, 64 << 20, loop, metrics);
        open.add(history);

        // when the first list has 50,000 nodes, all of them in one task of the loop
        onLoop(() -> IntStream.range(0, 50_000).forEach(i -> history.add(registered(i))));

        assertThat(find(history, DecisionQuery.newest("", 50_000))).hasSize(50_000);
        assertThat(lost()).isZero();
    }

    private static Decision registered(int number) {
        return new Decision(
                B,
                "node-" + number,
                "5f1f6a4e-3b5c-4a0e-9a55-%012d".formatted(number),
                "Registered",
                "the controller follows this node",
                JsonObject.EMPTY.with("ready", "True"));
    }

    @Test
    void stuckDiskHoldsNoMoreThan32MiBOfDecisionsAndTheOthersCountAsLost() throws Exception {
        // given a file whose opening does not return
        Path stuck = directory.resolve("decisions-00000001.jsonl");
        assertThat(new ProcessBuilder("mkfifo", stuck.toString()).start().waitFor())
                .isZero();
        FileHistory history = history();

        // when 200,000 decisions of 230 bytes are added
        onLoop(() -> IntStream.range(0, 200_000).forEach(i -> history.add(about("n1", i, "Removed"))));

        // then 145,888 of them wait
        assertThat(lost()).isEqualTo(54_112.0);
        // and the worker goes on once somebody reads the file
        Files.newByteChannel(stuck, StandardOpenOption.READ, StandardOpenOption.WRITE)
                .close();
    }

    private static List<Decision> seconds(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> decision(i, "n1")).toList();
    }

    @Test
    void directoryThatCannotBeCreatedAffectsOnlyTheHistory() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        FileHistory history = new FileHistory(file.resolve("below"), BOUND, loop, metrics);
        open.add(history);

        add(history, decision(0, "n1"));

        assertThat(find(history, DecisionQuery.newest("n1", 10))).containsExactly(decision(0, "n1"));
        assertThat(lost()).isEqualTo(1.0);
    }

    @Test
    void nodesAreFoundByNameAndByUid() throws Exception {
        FileHistory history = history();
        add(history, decision(0, "n1"), decision(1, "n2"), decision(2, "n1"));

        assertThat(find(history, DecisionQuery.newest("n1", 10))).containsExactly(decision(0, "n1"), decision(2, "n1"));
        assertThat(find(history, DecisionQuery.newest("n2-uid", 10))).containsExactly(decision(1, "n2"));
        assertThat(find(history, DecisionQuery.newest("", 2))).containsExactly(decision(1, "n2"), decision(2, "n1"));
    }

    @Test
    void atFindsTheDecisionsAroundThatTime() {
        MemoryHistory history = new MemoryHistory(100, 100);
        IntStream.range(0, 10).forEach(i -> history.add(decision(i, "n1")));

        assertThat(around(history, 5, 4)).containsExactly(4, 5, 6, 7);
        assertThat(around(history, -1, 3)).containsExactly(0, 1, 2);
        assertThat(around(history, 100, 3)).containsExactly(7, 8, 9);
        assertThat(around(history, 8, 4)).containsExactly(6, 7, 8, 9);
    }

    @Test
    void flappingNodeDoesNotDriveOutOthers() {
        MemoryHistory history = new MemoryHistory(3, 100);
        history.add(decision(0, "calm"));
        IntStream.range(1, 500).forEach(i -> history.add(decision(i, "flaps")));

        assertThat(history.find(DecisionQuery.newest("", 100)).join().node())
                .extracting(Decision::node)
                .containsExactly("calm", "flaps", "flaps", "flaps");
    }

    @Test
    void verdictOfANodeWithManyPodsStays() {
        MemoryHistory history = new MemoryHistory(4, 100);
        history.add(about("n1", 0, "Unknown"));
        IntStream.range(1, 100).forEach(i -> history.add(about("n1", i, i % 2 == 0 ? "Evicted" : "Collected")));

        assertThat(history.find(DecisionQuery.newest("n1", 100)).join().node())
                .containsExactly(
                        about("n1", 0, "Unknown"),
                        about("n1", 97, "Collected"),
                        about("n1", 98, "Evicted"),
                        about("n1", 99, "Collected"));
    }

    @Test
    void verdictOfANodeThatReportsChangesAgainAndAgainStays() {
        MemoryHistory history = new MemoryHistory(3, 100);
        history.add(about("n1", 0, "Unknown"));
        IntStream.range(1, 100).forEach(i -> history.add(about("n1", i, "ReadyChanged")));

        assertThat(history.find(DecisionQuery.newest("n1", 100)).join().node())
                .containsExactly(
                        about("n1", 0, "Unknown"), about("n1", 98, "ReadyChanged"), about("n1", 99, "ReadyChanged"));
    }

    @Test
    void periodIsIncompleteUpToTheLatestDecisionThatWasDropped() {
        MemoryHistory history = new MemoryHistory(100, 1);
        history.add(about("n1", 50, "Removed"));
        // when the clock was set back
        history.add(about("n1", 20, "Removed"));
        history.add(about("n1", 21, "Removed"));

        assertThat(history.find(period(0, 100)).join().completeSince()).contains(B.plusSeconds(50));
    }

    @Test
    void memoryIsBoundedHoweverManyNodesThereAre() {
        MemoryHistory history = new MemoryHistory(3, 10);
        IntStream.range(0, 50).forEach(i -> history.add(decision(i, "n" + i)));

        assertThat(history.find(DecisionQuery.newest("", 100)).join().node())
                .extracting(Decision::node)
                .containsExactly("n40", "n41", "n42", "n43", "n44", "n45", "n46", "n47", "n48", "n49");
    }

    @Test
    void periodHasTheKindsThatWereAskedForAndTheStateAtItsBeginning() {
        MemoryHistory history = new MemoryHistory();
        history.add(about("", 0, "ObserverBlind"));
        history.add(about("", 1, "ObserverSees"));
        history.add(about("", 2, "ObserverBlind"));
        history.add(about("n1", 3, "Removed"));
        history.add(about("n1", 10, "Removed"));
        history.add(about("n1", 11, "Unknown"));
        history.add(about("", 12, "ObserverSees"));

        assertThat(history.find(period(10, 100)).join())
                .isEqualTo(new PeriodQuery.Found(
                        List.of(about("", 1, "ObserverSees"), about("", 2, "ObserverBlind")),
                        List.of(about("n1", 10, "Removed"), about("", 12, "ObserverSees")),
                        Optional.empty()));
    }

    @Test
    void periodSaysSinceWhenItIsCompleteIfTheLimitOrTheMemoryCutIt() {
        MemoryHistory history = new MemoryHistory(100, 10);
        IntStream.range(0, 12).forEach(i -> history.add(about("n" + i, i, "Removed")));

        assertThat(history.find(period(5, 100)).join().completeSince()).isEmpty();
        assertThat(history.find(period(0, 100)).join().completeSince()).contains(B.plusSeconds(1));
        assertThat(history.find(period(5, 3)).join())
                .isEqualTo(new PeriodQuery.Found(
                        List.of(),
                        List.of(about("n9", 9, "Removed"), about("n10", 10, "Removed"), about("n11", 11, "Removed")),
                        Optional.of(B.plusSeconds(8))));
    }

    @Test
    void periodSaysSinceWhenItIsCompleteIfFilesWereDeletedAtTheBound() throws Exception {
        Segments segments = new Segments(directory, 8_000);
        for (int i = 0; i < 200; i++) {
            segments.append(List.of(about("n1", i, "Removed")));
        }
        segments.release();

        PeriodQuery.Found found = FileHistory.read(directory, period(0, 1_000), damage -> {});

        assertThat(found.decisions()).hasSizeLessThan(200);
        assertThat(found.completeSince()).contains(found.decisions().getFirst().at());
        assertThat(FileHistory.read(directory, period(199, 10), damage -> {}))
                .isEqualTo(new PeriodQuery.Found(List.of(), List.of(about("n1", 199, "Removed")), Optional.empty()));
    }

    @Test
    void textThatAnObjectMadeTooLongIsCutBeforeItIsKept() {
        // given texts of 1 MB, the second with a character of two halves at the cut
        Decision plain = new Decision(B, "n1", "", "Evicted", "x".repeat(1_000_000), JsonObject.EMPTY);
        Decision halves =
                new Decision(B, "n1", "", "Evicted", "x".repeat(4_094) + "\ud83d\ude00".repeat(9), JsonObject.EMPTY);

        assertThat(plain.text()).isEqualTo("x".repeat(4_095) + "…");
        assertThat(halves.text()).isEqualTo("x".repeat(4_094) + "…");
        // and what is read from the disk equals it
        assertThat(Decision.of(plain.json())).contains(plain);
        assertThat(Decision.of(halves.json())).contains(halves);
    }

    @Test
    void detailsThatAnObjectMadeTooLongAreLeftOut() {
        JsonObject details = JsonObject.EMPTY.with("error", "x".repeat(1_000_000));

        Decision decision = new Decision(B, "n1", "", "EvictionFailed", "", details);

        assertThat(decision.details()).hasToString("{\"omitted\":\"details that are too long\"}");
        assertThat(new Decision(B, "n1", "", "Unknown", "", details.with("error", "x".repeat(10_000))).details())
                .isEqualTo(JsonObject.EMPTY.with("error", "x".repeat(10_000)));
    }

    private static PeriodQuery period(int from, int limit) {
        return new PeriodQuery(B.plusSeconds(from), Set.of("ObserverBlind", "ObserverSees", "Removed"), limit);
    }

    private static Decision about(String node, int second, String kind) {
        return new Decision(B.plusSeconds(second), node, "", kind, "", JsonObject.EMPTY);
    }

    @Test
    void evidenceStandsInCausalOrder() {
        JsonObject evidence = new Evidence()
                .signal("lease")
                .sentAt("2015-01-01T12:00:00.000000Z")
                .lag("api_to_controller", Duration.ofMillis(12))
                .deadline(B.plusSeconds(50), Duration.ofMillis(3))
                .write("PUT /api/v1/nodes/n1/status", "200", Duration.ofMillis(7))
                .json();

        assertThat(evidence)
                .hasToString(
                        "{\"signal\":\"lease\",\"sentAt\":\"2015-01-01T12:00:00.000000Z\","
                                + "\"deadline\":\"2015-01-01T12:00:50.000000Z\",\"missedBy\":\"3ms\","
                                + "\"lag\":{\"api_to_controller\":\"12ms\"},"
                                + "\"writes\":[{\"call\":\"PUT /api/v1/nodes/n1/status\",\"answer\":\"200\",\"took\":\"7ms\"}]}");
    }

    private static List<Integer> around(MemoryHistory history, int second, int limit) {
        return history.find(new DecisionQuery("n1", Optional.of(B.plusSeconds(second)), limit)).join().node().stream()
                .map(decision -> (int) (decision.at().getEpochSecond() - B.getEpochSecond()))
                .toList();
    }

    private FileHistory history() {
        FileHistory history = new FileHistory(directory, BOUND, loop, metrics);
        open.add(history);
        return history;
    }

    private void add(SearchableHistory history, Decision... decisions) {
        for (Decision decision : decisions) {
            CompletableFuture.runAsync(() -> history.add(decision), loop).join();
        }
    }

    /** Asked once more after the first answer, when all batches before it have ended. */
    private List<Decision> find(SearchableHistory history, DecisionQuery query) throws Exception {
        for (int i = 0; i < 3; i++) {
            CompletableFuture.supplyAsync(() -> history.find(query), loop)
                    .thenCompose(found -> found)
                    .get(10, TimeUnit.SECONDS);
        }
        return CompletableFuture.supplyAsync(() -> history.find(query), loop)
                .thenCompose(found -> found)
                .get(10, TimeUnit.SECONDS)
                .node();
    }

    private void onLoop(Runnable action) {
        CompletableFuture.runAsync(action, loop).join();
    }

    private double lost() {
        return new String(metrics.scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("nodekeeper_history_lost_decisions_total "))
                .map(line -> Double.parseDouble(line.split(" ")[1]))
                .findFirst()
                .orElse(-1.0);
    }

    private static Decision decision(int second, String node) {
        return new Decision(
                B.plusSeconds(second), node, node + "-uid", "Unknown", "number " + second, JsonObject.EMPTY);
    }
}
