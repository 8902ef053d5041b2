package io.nodekeeper.controller.observe.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.MemoryHistory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a report says of the differences and the blindness in a history. Times are seconds after B. */
class ObserveReportTest {
    private static final Instant B = Instant.parse("2026-11-21T16:00:00Z");
    private static final String VERDICT = "Ready=Unknown";

    private final List<Decision> decisions = new ArrayList<>();

    private static String at(double second) {
        return KubeTime.formatMicro(B.plusMillis((long) (second * 1_000)));
    }

    private void add(double second, String node, String kind, JsonObject details) {
        decisions.add(new Decision(B.plusMillis((long) (second * 1_000)), node, "", kind, "", details));
    }

    /** A verdict of the other about n1, found when the window of ten minutes is over. */
    private JsonObject.Builder theirsAlone(double second, double silent) {
        return JsonObject.builder()
                .put("object", "node n1")
                .put("change", VERDICT)
                .put("theirs", at(second))
                .put("graceMillis", 50_000)
                .put("silentMillisBefore", (long) (silent * 1_000));
    }

    private void difference(double found, JsonObject.Builder details) {
        add(found, "n1", "Difference", details.build());
    }

    private void eviction(double second, String node, String pod) {
        add(
                second + 600,
                node,
                "Difference",
                JsonObject.EMPTY
                        .with("object", "pod " + pod)
                        .with("change", "evicted")
                        .with("theirs", at(second)));
    }

    private void blind(double from, double to) {
        add(from + 3, "", "ObserverBlind", JsonObject.EMPTY.with("hop", "watch").with("blindFor", "3s"));
        add(to, "", "ObserverSees", JsonObject.EMPTY.with("hop", "watch").with("blindFor", (long) (to - from) + "s"));
    }

    private JsonObject report() {
        return report(new MemoryHistory());
    }

    private JsonObject report(MemoryHistory history) {
        decisions.stream().sorted((a, b) -> a.at().compareTo(b.at())).forEach(history::add);
        Period period = new Period(B, B.plus(Duration.ofHours(1)));
        return ObserveReport.of(history.find(ObserveReport.query(period.from())).join(), period);
    }

    /** The outcome, the sentence and the pods of each verdict. */
    private static List<String> verdicts(JsonObject report) {
        return report.array("verdicts")
                .objects()
                .map(verdict -> verdict.text("outcome") + ": " + verdict.text("text") + "; pods "
                        + verdict.number("podsSaved").orElse(-1L)
                        + verdict.number("gainedMillis")
                                .map(gained -> "; gained " + gained)
                                .orElse(""))
                .toList();
    }

    private static long total(JsonObject report, String name) {
        return report.object("summary").number(name).orElse(-1L);
    }

    @Test
    void verdictAboutANodeThatWasJustHeardIsFalseAndItsEvictionsWouldNotHaveHappened() {
        difference(
                100,
                JsonObject.builder()
                        .put("object", "node n1")
                        .put("change", VERDICT)
                        .put("theirs", at(100))
                        .put("falseHeardMillisBefore", 2_000));
        eviction(400, "n1", "default/web-1");
        eviction(401, "n1", "default/web-2");
        eviction(401, "n2", "default/web-3");

        JsonObject report = report();

        assertThat(verdicts(report))
                .containsExactly("false: the cluster's controller declared it Unknown 2s after a heartbeat; pods 2");
        assertThat(total(report, "falseVerdicts")).isEqualTo(1);
        assertThat(total(report, "nodesSpared")).isEqualTo(1);
        assertThat(total(report, "podsSaved")).isEqualTo(2);
        assertThat(total(report, "otherEvictionsByTheirsAlone")).isEqualTo(1);
    }

    @Test
    void verdictDuringOurBlindnessIsPrematureIfTheNodeIsHeardWithinTheGraceThatIsLeft() {
        // Given 45 s without sight, which the silence of 52 s contains, and a heartbeat after another 10 s
        blind(50, 95);
        difference(700, theirsAlone(98, 52).put("heardMillisAfter", 10_000));

        JsonObject report = report();

        assertThat(verdicts(report))
                .containsExactly(
                        "premature: the cluster's controller declared it Unknown after 52s of silence, for 45s of"
                                + " which Nodekeeper was blind; the node sent a heartbeat 10s later, within Nodekeeper's grace"
                                + " period of 50s; pods 0");
        assertThat(total(report, "prematureVerdicts")).isEqualTo(1);
        assertThat(total(report, "blindMillis")).isEqualTo(45_000);
        assertThat(report.array("blind").toString())
                .isEqualTo("[{\"from\":\"2026-11-21T16:00:50.000000Z\",\"to\":\"2026-11-21T16:01:35.000000Z\","
                        + "\"hop\":\"watch\",\"ended\":true}]");
    }

    @Test
    void verdictBeforeOurGraceIsPrematureIfTheNodeReturnsInTime() {
        difference(700, theirsAlone(100, 41).put("heardMillisAfter", 8_999));

        assertThat(verdicts(report()))
                .containsExactly(
                        "premature: the cluster's controller declared it Unknown after 41s of silence; the node sent"
                                + " a heartbeat 8.999s later, within Nodekeeper's grace period of 50s; pods 0");
    }

    @Test
    void laterVerdictOfTheOtherIsTimeGained() {
        difference(
                54.9,
                JsonObject.builder()
                        .put("object", "node n1")
                        .put("change", VERDICT)
                        .put("ours", at(50))
                        .put("theirs", at(54.9))
                        .put("oursBeforeTheirsMillis", 4_900));

        JsonObject report = report();

        assertThat(verdicts(report))
                .containsExactly(
                        "earlier: Nodekeeper would have declared it Unknown 4.9s before the cluster's controller"
                                + " did; pods 0; gained 4900");
        assertThat(report.object("summary").object("earlier"))
                .hasToString("{\"verdicts\":1,\"estimated\":0,\"totalMillis\":4900,\"medianMillis\":4900,"
                        + "\"longestMillis\":4900}");
    }

    @Test
    void earlierVerdictOfTheOtherIsTimeLostWhichTheGraceEstimates() {
        difference(700, theirsAlone(100, 40.5));
        eviction(400, "n1", "default/web-1");

        JsonObject report = report();

        assertThat(verdicts(report))
                .containsExactly(
                        "later: the cluster's controller declared it Unknown after 40.5s of silence; Nodekeeper"
                                + " would have waited 9.5s longer; the node stayed silent; pods 0; gained -9500");
        assertThat(report.object("summary").object("later").number("estimated")).contains(1L);
        assertThat(total(report, "podsSaved")).isZero();
        assertThat(total(report, "otherEvictionsByTheirsAlone")).isEqualTo(1);
    }

    @Test
    void earlierVerdictThatBothMadeIsTimeLostAsMeasured() {
        difference(
                103,
                JsonObject.builder()
                        .put("object", "node n1")
                        .put("change", VERDICT)
                        .put("ours", at(103))
                        .put("theirs", at(100))
                        .put("oursBeforeTheirsMillis", -3_000));

        assertThat(verdicts(report()))
                .containsExactly(
                        "later: Nodekeeper would have declared it Unknown 3s after the cluster's controller did;"
                                + " pods 0; gained -3000");
    }

    @Test
    void verdictOfOursAloneSaysWhatBecameOfTheNode() {
        difference(
                650,
                JsonObject.builder()
                        .put("object", "node n1")
                        .put("change", VERDICT)
                        .put("ours", at(50))
                        .put("heardMillisAfter", 7_000));

        assertThat(verdicts(report()))
                .containsExactly(
                        "oursAlone: Nodekeeper would have declared it Unknown, the cluster's controller did not;"
                                + " the node sent a heartbeat 7s later; pods 0");
    }

    @Test
    void verdictAboutANodeThatIsDeletedSoonAfterwardsIsUndecided() {
        difference(700, theirsAlone(100, 42));
        add(104, "n1", "Removed", JsonObject.EMPTY);

        assertThat(verdicts(report()))
                .containsExactly(
                        "undecided: the cluster's controller declared it Unknown after 42s of silence; the node was"
                                + " deleted 4s later; pods 0");
    }

    @Test
    void verdictInAHistoryOfAnEarlierVersionIsUndecided() {
        difference(
                700,
                JsonObject.builder()
                        .put("object", "node n1")
                        .put("change", VERDICT)
                        .put("theirs", at(100)));

        assertThat(verdicts(report()))
                .containsExactly(
                        "undecided: the cluster's controller declared it Unknown; when it was silent since is not"
                                + " known; the node stayed silent; pods 0");
    }

    @Test
    void nothingDifferedIfTheHistoryHasOnlyTheBeginning() {
        add(600, "", "ObservationStarted", JsonObject.EMPTY);

        JsonObject report = report();

        assertThat(report.array("verdicts").items()).isEmpty();
        assertThat(report.array("changes").items()).isEmpty();
        assertThat(total(report, "changes")).isZero();
        assertThat(report.array("observed").toString())
                .isEqualTo("[{\"from\":\"2026-11-21T16:10:00.000000Z\",\"to\":\"2026-11-21T17:00:00.000000Z\"}]");
        assertThat(report.has("completeSince")).isFalse();
    }

    @Test
    void periodsBetweenTheEndAndTheNextBeginningWereNotObserved() {
        add(-9_000, "", "ObservationStarted", JsonObject.EMPTY);
        add(600, "", "ObservationEnded", JsonObject.EMPTY);
        add(1_200, "", "ObservationStarted", JsonObject.EMPTY);
        // A process that was killed wrote no end.
        add(1_800, "", "ObservationStarted", JsonObject.EMPTY);

        assertThat(report().array("observed").toString())
                .isEqualTo("[{\"from\":\"2026-11-21T16:00:00.000000Z\",\"to\":\"2026-11-21T16:10:00.000000Z\"},"
                        + "{\"from\":\"2026-11-21T16:20:00.000000Z\",\"to\":\"2026-11-21T17:00:00.000000Z\"}]");
    }

    @Test
    void blindnessThatHasNotEndedAndOneThatBeganBeforeThePeriodCountWithinIt() {
        add(-10, "", "ObserverBlind", JsonObject.EMPTY.with("hop", "store").with("blindFor", "3s"));
        add(20, "", "ObserverSees", JsonObject.EMPTY.with("hop", "store").with("blindFor", "33s"));
        add(
                3_590,
                "",
                "ObserverBlind",
                JsonObject.EMPTY.with("hop", "api_server").with("blindFor", "3s"));

        JsonObject report = report();

        assertThat(total(report, "blindMillis")).isEqualTo(20_000 + 13_000);
        assertThat(report.array("blind").objects().map(period -> period.bool("ended")))
                .containsExactly(true, false);
    }

    @Test
    void reportSaysSinceWhenTheHistoryIsCompleteIfItWasCutAtItsBound() {
        for (int second = 0; second < 40; second++) {
            add(second, "n1", "Suspected", JsonObject.EMPTY);
        }

        // The memory keeps 32 decisions of each node.
        assertThat(report().text("completeSince")).isEqualTo("2026-11-21T16:00:07.000000Z");
    }

    @Test
    void changesAreCountedByWhoMadeThem() {
        String taint = "+node.kubernetes.io/unreachable:NoExecute";
        JsonObject node = JsonObject.EMPTY.with("object", "node n1").with("change", taint);
        difference(
                60, node.toBuilder().put("ours", at(50)).put("theirs", at(55)).put("oursBeforeTheirsMillis", 5_000));
        difference(
                160,
                node.toBuilder().put("ours", at(150)).put("theirs", at(157)).put("oursBeforeTheirsMillis", 7_000));
        difference(700, node.toBuilder().put("theirs", at(100)));
        difference(701, node.toBuilder().put("ours", at(101)));
        eviction(102, "n1", "default/web-1");

        assertThat(report().array("changes").toString())
                .isEqualTo(
                        "[{\"change\":\"node " + taint + "\",\"both\":2,\"oursAlone\":1,\"theirsAlone\":1,"
                                + "\"theirsFalse\":0,\"medianLeadMillis\":7000},"
                                + "{\"change\":\"pod evicted\",\"both\":0,\"oursAlone\":0,\"theirsAlone\":1,\"theirsFalse\":0}]");
    }

    @Test
    void onlySoManyKindsOfChangesHaveARow() {
        MemoryHistory history = new MemoryHistory();
        for (int i = 0; i < 60; i++) {
            add(
                    i,
                    "n" + i,
                    "Difference",
                    JsonObject.EMPTY.with("object", "node n" + i).with("change", "+k" + (10 + i) + ":NoSchedule"));
        }

        assertThat(report(history).array("changes").objects().map(row -> row.text("change")))
                .hasSize(41)
                .contains("others");
    }
}
