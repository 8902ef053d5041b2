package io.nodekeeper.agent.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DuplicateNodeTest {
    private static final long SECOND = 1_000_000_000L;

    private final DuplicateNode detector = new DuplicateNode("mine");
    private long second;
    private String heartbeat = "2026-01-01T00:00:00Z";

    /** The Node has this boot id for so many seconds. */
    private String shows(String bootId, boolean kubeletRuns, int seconds) {
        Node node = new Node(Json.parseObject("{\"status\":{\"nodeInfo\":{\"bootID\":\"" + bootId + "\"},"
                + "\"conditions\":[{\"type\":\"Ready\",\"lastHeartbeatTime\":\"" + heartbeat + "\"}]}}"));
        for (int i = 0; i < seconds; i++) {
            detector.observe(node, kubeletRuns, second++ * SECOND);
        }
        return detector.condition().map(ConditionReport::status).orElse("none");
    }

    @Test
    void aNodeWithoutABootIdOrAMachineWithoutOneIsNotJudged() {
        assertThat(shows("", true, 300)).isEqualTo("none");

        DuplicateNode blind = new DuplicateNode("");
        blind.observe(new Node(Json.parseObject("{\"status\":{\"nodeInfo\":{\"bootID\":\"x\"}}}")), true, 0);
        assertThat(blind.condition()).isEmpty();
    }

    @Test
    void theBootIdOfAnEarlierBootIsNoOtherMachine() {
        assertThat(shows("before-reboot", false, 1_000)).isEqualTo("False");
        assertThat(shows("before-reboot", true, 60)).isEqualTo("False");
        assertThat(shows("mine", true, 1_000)).isEqualTo("False");
    }

    @Test
    void aBootIdThatFollowsTheOwnOneIsAnotherMachineWhicheverKubeletRuns() {
        assertThat(shows("mine", true, 10)).isEqualTo("False");
        assertThat(shows("other", false, 1)).isEqualTo("True");
        Optional<ConditionReport> report = detector.condition();
        assertThat(report.orElseThrow().message())
                .isEqualTo(
                        "another machine reports under this node's name: the boot id other was written; this machine's is"
                                + " mine");
        assertThat(report.orElseThrow().reason()).isEqualTo("OtherMachineReports");
    }

    @Test
    void aNodeFromAServerThatLagsIsNotAnotherMachine() {
        detector.observe(node("before-reboot", 7), true, 0);
        detector.observe(node("mine", 9), true, SECOND);
        detector.observe(node("before-reboot", 7), true, 2 * SECOND);
        assertThat(detector.condition().orElseThrow().status()).isEqualTo("False");

        detector.observe(node("other", 10), true, 3 * SECOND);
        assertThat(detector.condition().orElseThrow().status()).isEqualTo("True");
    }

    private static Node node(String bootId, long version) {
        return new Node(Json.parseObject("{\"metadata\":{\"resourceVersion\":\"" + version
                + "\"},\"status\":{\"nodeInfo\":{\"bootID\":\"" + bootId + "\"}}}"));
    }

    @Test
    void theTwoMachinesTakeTurnsAndTheConditionStays() {
        shows("mine", true, 10);
        for (int i = 0; i < 100; i++) {
            assertThat(shows(i % 2 == 0 ? "other" : "mine", true, 10)).isEqualTo("True");
        }
        assertThat(shows("mine", true, 585)).isEqualTo("True");
        assertThat(shows("mine", true, 10)).isEqualTo("False");
    }

    @Test
    void anEventSaysOnceThatAnotherMachineWasFoundAndOnceThatItIsGone() {
        shows("mine", true, 10);
        assertThat(detector.news()).isEmpty();

        shows("other", true, 5);
        assertThat(detector.news())
                .contains(new NodeEvent(
                        "Warning",
                        "DuplicateNode",
                        "another machine reports under this node's name: the boot id other was written; this machine's is"
                                + " mine"));
        shows("mine", true, 300);
        shows("other", true, 5);
        assertThat(detector.news()).isEmpty();

        shows("mine", true, 700);
        assertThat(detector.news())
                .contains(new NodeEvent(
                        "Normal", "DuplicateNodeEnded", "only this machine reports under this node's name"));
        assertThat(detector.news()).isEmpty();
    }

    @Test
    void aForeignBootIdThatStaysAndBeatsAlthoughTheKubeletRunsIsAnotherMachine() {
        assertThat(shows("other", true, 119)).isEqualTo("False");
        heartbeat = "2026-01-01T00:02:00Z";
        assertThat(shows("other", true, 1)).isEqualTo("False");
        assertThat(shows("other", true, 1)).isEqualTo("True");
    }

    @Test
    void aForeignBootIdWithoutNewHeartbeatsMayBeThatOfAnEarlierBoot() {
        // given a kubelet that runs and cannot write its status
        assertThat(shows("before-reboot", true, 3_000)).isEqualTo("False");
        assertThat(detector.news()).isEmpty();

        // when it can again
        heartbeat = "2026-01-01T00:50:00Z";
        assertThat(shows("mine", true, 3_000)).isEqualTo("False");
    }
}
