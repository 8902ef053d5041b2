package io.nodekeeper.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.verdicts.Verdict;
import io.nodekeeper.time.SystemClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A controller judges a recording as it would have judged the cluster. */
class ReplayRunTest {
    private static final Duration CLOSE = Duration.ofMillis(200);

    @TempDir
    Path directory;

    private final Tape tape = new Tape();

    @BeforeEach
    void twoNodesAreWell() {
        tape.node(0.1, "a", "uid-a", Condition.TRUE, 0).renews("a", 0.2, 400);
        tape.node(0.1, "b", "uid-b", Condition.TRUE, 0).renews("b", 5.2, 400);
    }

    private ReplayReport replay(ControllerConfig config) throws IOException {
        Recording recording = tape.write(directory.resolve("test.rec"), 400);
        return ReplayRun.run(recording, config, 1, new SystemClock(), elapsed -> {}, () -> false);
    }

    private static ControllerConfig grace(int seconds) {
        return new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(seconds), Duration.ofSeconds(60));
    }

    private static void assertVerdict(Verdict verdict, String node, double at, double silence) {
        assertThat(verdict.node()).isEqualTo(node);
        assertThat(verdict.at()).isCloseTo(Tape.seconds(at), CLOSE);
        assertThat(verdict.silence()).isCloseTo(Tape.seconds(silence), CLOSE);
    }

    @Test
    void nodesThatKeepRenewingAreNotBlamed() throws IOException {
        ReplayReport report = replay(ControllerConfig.DEFAULT);

        assertThat(report.here()).isEmpty();
        assertThat(report.there()).isEmpty();
        assertThat(report.isPartial()).isFalse();
        assertThat(report.text()).contains("No node was declared Unknown");
    }

    @Test
    void aNodeThatStopsIsUnknownAfterTheGracePeriodOfTheFlags() throws IOException {
        tape.node(0.1, "dead", "uid-d", Condition.TRUE, 0).renews("dead", 3.2, 103.2);

        assertVerdict(replay(grace(50)).here().getFirst(), "dead", 153.2, 50);
        assertVerdict(replay(grace(30)).here().getFirst(), "dead", 133.2, 30);
    }

    @Test
    void aLongerGracePeriodSparesANodeThatComesBack() throws IOException {
        tape.node(0.1, "slow", "uid-s", Condition.TRUE, 0)
                .renews("slow", 3.2, 103.2)
                .renews("slow", 148.2, 400);

        List<Verdict> verdicts = replay(grace(40)).here();

        assertThat(verdicts).hasSize(1);
        assertVerdict(verdicts.getFirst(), "slow", 143.2, 40);
        assertThat(verdicts.getFirst().backAfter().orElseThrow()).isCloseTo(Duration.ofSeconds(5), CLOSE);
        assertThat(verdicts.getFirst().isBackWithin(ReplayReport.SOON)).isTrue();
        assertThat(replay(grace(50)).here()).isEmpty();
    }

    @Test
    void aNodeThatCameBackCanBeJudgedAgain() throws IOException {
        // Its kubelet reported nothing new when it returned: nobody had declared it Unknown there.
        tape.node(0.1, "slow", "uid-s", Condition.TRUE, 0)
                .renews("slow", 3.2, 103.2)
                .renews("slow", 148.2, 208.2)
                .renews("slow", 258.2, 400);

        assertThat(replay(grace(40)).here())
                .extracting(Verdict::node, Verdict::reported)
                .hasSize(2)
                .allMatch(found -> found.toList().equals(List.of("slow", true)));
    }

    @Test
    void whatTheRecorderMissedBlamesNobody() throws IOException {
        Tape blind = new Tape()
                .node(0.1, "a", "uid-a", Condition.TRUE, 0)
                .renews("a", 0.2, 90.2)
                .renews("a", 200.2, 400)
                .blind(95, 200.3);
        Recording recording = blind.write(directory.resolve("blind.rec"), 400);

        ReplayReport report =
                ReplayRun.run(recording, ControllerConfig.DEFAULT, 1, new SystemClock(), elapsed -> {}, () -> false);

        assertThat(report.here()).isEmpty();
        assertThat(recording.blind()).isCloseTo(Duration.ofSeconds(105), Duration.ofSeconds(1));
        assertThat(report.text()).contains("could not see for 1m45.3s in 1 gap");
    }

    @Test
    void aNodeThatDiedWhileTheRecorderWasBlindIsFoundAfterwards() throws IOException {
        tape.node(0.1, "dead", "uid-d", Condition.TRUE, 0)
                .renews("dead", 3.2, 93.2)
                .blind(95, 120);

        List<Verdict> verdicts = replay(ControllerConfig.DEFAULT).here();

        assertThat(verdicts).extracting(Verdict::node).containsExactly("dead");
        // Blind from 95 to 120 s: that time is no silence, and the deadline is later by it.
        assertThat(verdicts.getFirst().at()).isBetween(Tape.seconds(93.2 + 50 + 23), Tape.seconds(93.2 + 50 + 30));
        assertThat(verdicts.getFirst().silence()).isBetween(Duration.ofSeconds(48), Duration.ofSeconds(55));
    }

    @Test
    void onlyTheRestOfAGapIsNoSilenceForANodeThatWasHeardInIt() throws IOException {
        // The watch of nodes was blind from 95 to 135 s, renewals came until 113 s.
        tape.node(0.1, "dead", "uid-d", Condition.TRUE, 0)
                .renews("dead", 3.2, 113.2)
                .blind(95, 135);

        List<Verdict> verdicts = replay(ControllerConfig.DEFAULT).here();

        assertThat(verdicts).extracting(Verdict::node).containsExactly("dead");
        Duration silence = verdicts.getFirst().silence();
        assertThat(silence).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(55));
        assertThat(silence).isCloseTo(verdicts.getFirst().at().minus(Tape.seconds(113.2 + (135 - 113.2))), CLOSE);
    }

    @Test
    void aRecordedVerdictWithinAGapIsAfterAsMuchSilenceAsWasSeen() throws IOException {
        tape.node(0.1, "dead", "uid-d", Condition.TRUE, 0)
                .renews("dead", 3.2, 93.2)
                .blind(95, 200)
                .node(199, "dead", "uid-d", Condition.UNKNOWN, 0);

        ReplayReport report = replay(ControllerConfig.DEFAULT);

        assertThat(report.there().getFirst().silence()).isCloseTo(Tape.seconds(1.8), CLOSE);
    }

    @Test
    void verdictsOfTheRecordedClusterStandBesideThoseOfTheReplay() throws IOException {
        // Its own controller waited for 63 s, and the node came back.
        tape.node(0.1, "dead", "uid-d", Condition.TRUE, 0)
                .renews("dead", 3.2, 103.2)
                .node(166.2, "dead", "uid-d", Condition.UNKNOWN, 0)
                .node(250, "dead", "uid-d", Condition.TRUE, 250)
                .renews("dead", 250.1, 400);

        ReplayReport report = replay(ControllerConfig.DEFAULT);

        assertVerdict(report.here().getFirst(), "dead", 153.2, 50);
        assertVerdict(report.there().getFirst(), "dead", 166.2, 63);
        assertThat(report.json().array("verdicts").objects()).singleElement().satisfies(row -> {
            assertThat(row.text("time")).startsWith("2026-11-30T06:02:33");
            assertThat(row.text("recordedTime")).startsWith("2026-11-30T06:02:46.2");
        });
        assertThat(report.text()).contains("dead").contains("1m3s");
    }

    @Test
    void verdictsOfOnlyOneSideAreShownToo() throws IOException {
        // A false verdict of the recorded cluster's controller: it did not see the renewals.
        tape.node(100, "a", "uid-a", Condition.UNKNOWN, 0).node(110, "a", "uid-a", Condition.TRUE, 110);

        ReplayReport report = replay(ControllerConfig.DEFAULT);

        assertThat(report.here()).isEmpty();
        assertThat(report.there()).extracting(Verdict::node).containsExactly("a");
        assertThat(report.text()).containsPattern("a +no verdict +");
    }

    @Test
    void aNodeThatWasUnknownWhenTheRecordingBeganIsNoVerdict() throws IOException {
        tape.node(0.1, "old", "uid-o", Condition.UNKNOWN, -500);

        ReplayReport report = replay(ControllerConfig.DEFAULT);

        assertThat(report.here()).isEmpty();
        assertThat(report.there()).isEmpty();
    }

    @Test
    void silenceThatBeganBeforeTheRecordingIsNotMeasured() throws IOException {
        // Silent for 45 s when it was listed, so that the recorded cluster's controller waited for 5 s more.
        tape.node(0.1, "dead", "uid-d", Condition.TRUE, -200)
                .renews("dead", 0.2, 0.2)
                .node(5.1, "dead", "uid-d", Condition.UNKNOWN, -200);

        ReplayReport report = replay(ControllerConfig.DEFAULT);

        assertThat(report.there()).extracting(Verdict::node, Verdict::reported).containsExactly(tuple("dead", false));
        assertThat(report.here()).extracting(Verdict::node, Verdict::reported).containsExactly(tuple("dead", false));
    }

    @Test
    void aDeletedNodeIsNotJudgedAndAReplacedOneBeginsAnew() throws IOException {
        tape.node(0.1, "gone", "uid-g", Condition.TRUE, 0)
                .renews("gone", 3.2, 103.2)
                .gone(120, "gone");
        tape.node(0.1, "new", "uid-1", Condition.TRUE, 0)
                .renews("new", 3.2, 103.2)
                // The replacement of a dead machine: another UID, without a deletion in between.
                .node(140, "new", "uid-2", Condition.TRUE, 140)
                .renews("new", 140.2, 400);

        assertThat(replay(ControllerConfig.DEFAULT).here()).isEmpty();
    }

    @Test
    void aDeadNodeStaysDeadIfAnotherPartSetsItsOwnCondition() throws IOException {
        JsonObject ready = Json.parseObject("""
                {"type":"Ready","status":"True","lastHeartbeatTime":"2026-11-30T06:00:00Z",
                "lastTransitionTime":"2026-11-30T06:00:00Z"}""");
        JsonObject network = JsonObject.EMPTY.with("type", "NetworkUnavailable").with("status", "False");
        for (JsonArray conditions : List.of(JsonArray.of(ready), JsonArray.of(ready, network))) {
            JsonObject node = JsonObject.EMPTY
                    .with("metadata", JsonObject.EMPTY.with("name", "dead").with("uid", "uid-d"))
                    .with("status", JsonObject.EMPTY.with("conditions", conditions));
            tape.add(new RecordedChange.NodeSeen(Tape.seconds(conditions.items().size() == 1 ? 0.1 : 160), node));
        }
        tape.renews("dead", 3.2, 103.2);

        assertThat(replay(ControllerConfig.DEFAULT).here())
                .extracting(Verdict::node, Verdict::backAfter)
                .containsExactly(tuple("dead", Optional.empty()));
    }

    @Test
    void aReplacedMachineIsNotTheOldOneThatCameBack() throws IOException {
        tape.node(0.1, "new", "uid-1", Condition.TRUE, 0)
                .renews("new", 3.2, 103.2)
                .node(160, "new", "uid-1", Condition.UNKNOWN, 0)
                .node(180, "new", "uid-2", Condition.TRUE, 180)
                .renews("new", 180.2, 400);

        ReplayReport report = replay(ControllerConfig.DEFAULT);

        assertThat(report.here()).extracting(Verdict::backAfter).containsExactly(Optional.empty());
        assertThat(report.there()).extracting(Verdict::backAfter).containsExactly(Optional.empty());
    }

    @Test
    void manyChangesOfOneMomentCanBeInterrupted() throws IOException {
        for (int number = 0; number < 30_000; number++) {
            tape.gone(7, "n" + number);
        }
        Recording recording = tape.write(directory.resolve("test.rec"), 400);
        AtomicLong asked = new AtomicLong();

        ReplayReport report = ReplayRun.run(
                recording,
                ControllerConfig.DEFAULT,
                1,
                new SystemClock(),
                elapsed -> {},
                () -> asked.incrementAndGet() > 20_000);

        assertThat(report.isPartial()).isTrue();
        assertThat(asked).hasValue(20_001);
    }

    @Test
    void theSameRecordingGivesTheSameVerdicts() throws IOException {
        tape.node(0.1, "dead", "uid-d", Condition.TRUE, 0).renews("dead", 3.2, 103.2);

        assertThat(replay(grace(50)).here()).isEqualTo(replay(grace(50)).here());
    }

    @Test
    void aReplayThatIsAskedToEndIsPartial() throws IOException {
        Recording recording = tape.write(directory.resolve("test.rec"), 400);
        AtomicLong seconds = new AtomicLong();

        ReplayReport report = ReplayRun.run(
                recording,
                ControllerConfig.DEFAULT,
                1,
                new SystemClock(),
                elapsed -> seconds.set(elapsed.toSeconds()),
                () -> seconds.get() >= 60);

        assertThat(report.isPartial()).isTrue();
        assertThat(report.text()).startsWith("PARTIAL: interrupted after 1m0");
    }

    @Test
    void whatAnApiServerRefusesNamesTheFileAndTheAnswer() throws IOException {
        JsonObject node = JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", "bad").with("labels", JsonObject.EMPTY.with("-", "?")))
                .with("status", JsonObject.EMPTY.with("conditions", JsonArray.EMPTY));
        tape.add(new RecordedChange.NodeSeen(Duration.ofSeconds(7), node));

        assertThatThrownBy(() -> replay(ControllerConfig.DEFAULT))
                .isInstanceOf(RecordingException.class)
                .hasMessageContaining("test.rec: the simulated API server refused a change: POST /api/v1/nodes")
                .hasMessageContaining("422");
    }
}
