package io.nodekeeper.controller.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A search reads a long history from its end, only as far as its answer needs and its time permits. */
class HistorySearchTest {
    private static final Instant B = Instant.parse("2015-01-01T12:00:00Z");

    @TempDir
    Path root;

    /** Descriptions of unreadable lines that a search met. */
    private final List<String> damaged = new ArrayList<>();
    /** How often a search asked whether its time is over. */
    private int blocks;

    /** One decision each second, of 1,000 bytes on disk: of busy in most seconds, of calm in the first one only. */
    private List<Decision> seconds(int number) {
        return IntStream.range(0, number)
                .mapToObj(i -> decision(i, i == 0 ? "calm" : "busy"))
                .toList();
    }

    private static Decision decision(int second, String node) {
        return new Decision(B.plusSeconds(second), node, node + "-uid", "Unknown", "x".repeat(905), JsonObject.EMPTY);
    }

    private static Decision controller(int second, String kind) {
        return new Decision(B.plusSeconds(second), "", "", kind, "", JsonObject.EMPTY);
    }

    /** Stores the decisions in files of about a megabyte; at most eight of them stay. */
    private Segments stored(List<Decision> decisions) throws IOException {
        Segments segments = new Segments(root, 8 << 20);
        for (int i = 0; i < decisions.size(); i += 100) {
            segments.append(decisions.subList(i, Math.min(decisions.size(), i + 100)));
        }
        segments.release();
        return segments;
    }

    /** Searches for as long as it takes. */
    private <R> R find(Segments segments, Search<R> search) throws IOException {
        return find(segments, search, Integer.MAX_VALUE);
    }

    /** Searches until the time is over, which is after so many blocks of 256 KiB. */
    private <R> R find(Segments segments, Search<R> search, int most) throws IOException {
        Search.Sieve<R> sieve = search.sieve();
        blocks = 0;
        new SegmentSearch(search, sieve, new Unstored(List.of()), () -> ++blocks >= most, damaged::add).run(segments);
        return sieve.answer();
    }

    private static List<Integer> times(List<Decision> decisions) {
        return decisions.stream()
                .map(decision -> (int) (decision.at().getEpochSecond() - B.getEpochSecond()))
                .toList();
    }

    @Test
    void newestDecisionsOfABusyNodeNeedOnlyTheLastFiveMinutes() throws IOException {
        Segments segments = stored(seconds(4_000));

        DecisionQuery.Found found = find(segments, DecisionQuery.newest("busy", 3));

        assertThat(times(found.node())).containsExactly(3_997, 3_998, 3_999);
        assertThat(found.completeSince()).isEmpty();
        // one more block was read, but no third one
        assertThat(blocks).isEqualTo(1);
    }

    @Test
    void olderFilesAreNotOpenedOnceEnoughDecisionsAreFound() throws IOException {
        // given an oldest file that cannot be read
        Segments segments = stored(seconds(4_000));
        Files.writeString(root.resolve("decisions-00000001.jsonl"), "no json\n");

        assertThat(times(find(segments, DecisionQuery.newest("busy", 400)).node()))
                .hasSize(400);

        assertThat(damaged).isEmpty();
        // but they are for a node of which there are fewer
        find(segments, DecisionQuery.newest("calm", 20));
        assertThat(damaged).hasSize(1);
    }

    @Test
    void decisionsOfACalmNodeAreFoundAtTheBeginning() throws IOException {
        Segments segments = stored(seconds(4_000));

        DecisionQuery.Found found = find(segments, DecisionQuery.newest("calm", 3));

        assertThat(found.node()).containsExactly(decision(0, "calm"));
        assertThat(found.completeSince()).isEmpty();
        // four files of 1.1 MB, 1.1 MB, 1.1 MB and 0.7 MB
        assertThat(blocks).isEqualTo(18);
    }

    @Test
    void answerSaysSinceWhenItIsCompleteIfTheTimeIsOver() throws IOException {
        Segments segments = stored(seconds(4_000));

        DecisionQuery.Found busy = find(segments, DecisionQuery.newest("busy", 1_000), 2);
        DecisionQuery.Found calm = find(segments, DecisionQuery.newest("calm", 3), 2);
        PeriodQuery.Found period = find(segments, new PeriodQuery(B, Set.of("Unknown"), 10_000), 2);

        // two blocks of 262 whole lines each
        assertThat(busy.node()).hasSize(524);
        assertThat(busy.node().getFirst()).isEqualTo(decision(3_476, "busy"));
        assertThat(busy.completeSince()).contains(B.plusSeconds(3_476));
        assertThat(calm.node()).isEmpty();
        assertThat(calm.completeSince()).contains(B.plusSeconds(3_476));
        assertThat(period.decisions()).hasSize(524);
        assertThat(period.completeSince()).contains(B.plusSeconds(3_476));
    }

    @Test
    void decisionsAroundAnEarlierTimeAreFoundAndNothingBeforeThemIsRead() throws IOException {
        Segments segments = stored(seconds(4_000));
        Files.writeString(root.resolve("decisions-00000001.jsonl"), "no json\n");

        DecisionQuery.Found found = find(segments, new DecisionQuery("busy", Optional.of(B.plusSeconds(2_500)), 6));

        assertThat(times(found.node())).containsExactly(2_498, 2_499, 2_500, 2_501, 2_502, 2_503);
        assertThat(damaged).isEmpty();
    }

    @Test
    void oneSearchAlsoFindsWhatTheControllerDecidedAboutItselfFromFiveMinutesBefore() throws IOException {
        List<Decision> decisions = new ArrayList<>(seconds(4_000));
        decisions.set(10, controller(10, "ObserverBlind"));
        decisions.set(3_700, controller(3_700, "ObserverBlind"));
        decisions.set(3_720, controller(3_720, "ObserverSees"));
        Segments segments = stored(decisions);

        DecisionQuery.Found found = find(segments, DecisionQuery.newest("busy", 3));

        assertThat(times(found.node())).containsExactly(3_997, 3_998, 3_999);
        // the one at 10 s is not read
        assertThat(times(found.controller())).containsExactly(3_700, 3_720);
    }

    @Test
    void decisionAboutAPodWithoutANodeStandsBesideNoNodeAndIsFoundByThePodsUid() throws IOException {
        Decision pod = new Decision(B.plusSeconds(1), "", "pod-uid", "Collected", "", JsonObject.EMPTY);
        Segments segments = stored(List.of(decision(0, "n1"), pod, controller(2, "ObserverBlind")));

        DecisionQuery.Found node = find(segments, DecisionQuery.newest("n1", 10));
        DecisionQuery.Found self = find(segments, DecisionQuery.newest(DecisionQuery.CONTROLLER, 10));

        assertThat(times(node.node())).containsExactly(0);
        assertThat(times(node.controller())).containsExactly(2);
        assertThat(times(self.node())).containsExactly(2);
        assertThat(find(segments, DecisionQuery.newest("pod-uid", 10)).node()).containsExactly(pod);
        assertThat(times(find(segments, DecisionQuery.newest("", 10)).node())).containsExactly(0, 1, 2);
    }

    @Test
    void everyLineIsReadOnceWhereverTheBlocksBegin() throws IOException {
        List<Decision> decisions = IntStream.range(0, 2_000)
                .mapToObj(i -> new Decision(
                        B.plusSeconds(i), "n1", "", "Unknown", "x".repeat(i * 7 % 4_000), JsonObject.EMPTY))
                .toList();
        Segments segments = stored(decisions);

        assertThat(find(segments, DecisionQuery.newest("n1", 10_000)).node()).isEqualTo(decisions);
        assertThat(damaged).isEmpty();
    }

    @Test
    void lineThatIsLongerThanAMebibyteIsNamedAndTheOthersAreRead() throws IOException {
        Segments segments = stored(List.of(decision(0, "busy")));
        Path file = root.resolve("decisions-00000001.jsonl");
        Files.writeString(
                file,
                "{\"at\":\"2015-01-01T12:00:01.000000Z\",\"node\":\"busy\",\"kind\":\"Unknown\",\"text\":\""
                        + "x".repeat(3 << 20) + "\"}\n",
                StandardOpenOption.APPEND);
        segments.append(List.of(decision(2, "busy")));

        assertThat(times(find(segments, DecisionQuery.newest("busy", 10)).node()))
                .containsExactly(0, 2);
        assertThat(damaged).hasSize(1);
        assertThat(damaged.getFirst()).startsWith(file + ", byte 1000: torn line of ");
    }

    @Test
    void nameThatIsEscapedOrOnlyInATextIsNotMistaken() throws IOException {
        Decision quoted = new Decision(B, "a\"b", "", "Unknown", "", JsonObject.EMPTY);
        Decision mentioned =
                new Decision(B, "n2", "", "Unknown", "\"node\":\"n1\"", JsonObject.EMPTY.with("node", "n1"));
        Segments segments = stored(List.of(quoted, mentioned));

        assertThat(find(segments, DecisionQuery.newest("a\"b", 10)).node()).containsExactly(quoted);
        assertThat(find(segments, DecisionQuery.newest("n1", 10)).node()).isEmpty();
        assertThat(find(segments, DecisionQuery.newest("n1", 10)).controller()).isEmpty();
    }

    @Test
    void ninthRequestAtATimeIsRefused() throws Exception {
        ThreadLoop loop = new ThreadLoop("controller");
        FileHistory history = new FileHistory(root, 1 << 20, loop, new ControllerMetrics());
        List<CompletableFuture<?>> answers = new ArrayList<>();

        // when nine ask before the first has its answer
        CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < 9; i++) {
                                answers.add(history.find(DecisionQuery.newest("n1", 10)));
                            }
                        },
                        loop)
                .join();

        assertThat(answers.get(8).exceptionNow())
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage("the history is being read for 8 other requests; try again in some seconds");
        for (CompletableFuture<?> answer : answers.subList(0, 8)) {
            answer.get(10, TimeUnit.SECONDS);
        }
        // then the next one is answered
        CompletableFuture.supplyAsync(() -> history.find(DecisionQuery.newest("n1", 10)), loop)
                .thenCompose(answer -> answer)
                .get(10, TimeUnit.SECONDS);
        history.close();
        loop.close();
    }

    @Test
    void filesThatCannotBeReadMakeTheAnswerIncomplete() throws Exception {
        ThreadLoop loop = new ThreadLoop("controller");
        Path directory = root.resolve("history");
        FileHistory history = new FileHistory(directory, 1 << 20, loop, new ControllerMetrics());
        CompletableFuture.runAsync(() -> history.add(decision(7, "n1")), loop).join();
        CompletableFuture.supplyAsync(() -> history.find(DecisionQuery.newest("n1", 10)), loop)
                .thenCompose(answer -> answer)
                .get(10, TimeUnit.SECONDS);
        // when the directory is replaced by a file
        Files.move(directory, root.resolve("away"));
        Files.createFile(directory);

        DecisionQuery.Found found = CompletableFuture.supplyAsync(
                        () -> history.find(DecisionQuery.newest("n1", 10)), loop)
                .thenCompose(answer -> answer)
                .get(10, TimeUnit.SECONDS);

        assertThat(found.node()).containsExactly(decision(7, "n1"));
        assertThat(found.completeSince()).contains(B.plusSeconds(7));
        history.close();
        loop.close();
    }
}
