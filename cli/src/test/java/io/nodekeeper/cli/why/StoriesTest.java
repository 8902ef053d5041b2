package io.nodekeeper.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.Evidence;
import io.nodekeeper.time.GoDuration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The stories in docs/why.md are what the command prints. With {@code -Dnodekeeper.write-docs=true} they are written. */
class StoriesTest {
    private static final Path DOCS = Path.of("../docs/why.md");
    private static final Instant B = Instant.parse("2026-11-21T16:13:00Z");
    private static final Instant NOW = B.plusSeconds(60);

    private static Decision about(int second, String kind, String text, JsonObject details) {
        return new Decision(B.plusSeconds(second), "n2", "5f0c", kind, text, details);
    }

    private static Decision controller(int second, String kind, String text) {
        return new Decision(B.plusSeconds(second), "", "", kind, text, JsonObject.EMPTY);
    }

    private static Story story(JsonObject facts, Decision... decisions) {
        return new Story(
                "n2",
                "the controller behind the service kube-system/nodekeeper-controller:10257",
                List.of(),
                facts,
                List.of(decisions));
    }

    private static JsonObject facts(String ready, String silent) {
        return JsonObject.EMPTY
                .with("ready", ready)
                .with("lastSignal", "lease")
                .with("lastSignalAt", KubeTime.formatMicro(NOW.minus(GoDuration.parse(silent))))
                .with("silentFor", silent)
                .with("zone", "eu/eu-a")
                .with("grace", "50s");
    }

    private static JsonArray strings(String... texts) {
        return JsonArray.ofStrings(List.of(texts));
    }

    private static Story frozenNode() {
        JsonObject facts = facts("Unknown", "57.9s").toBuilder()
                .put("cause", "NodeStatusUnknown: Kubelet stopped posting node status.")
                .put("since", "2026-11-21T16:13:52Z")
                .put("plannedEvictions", 3)
                .put("nextEviction", "2026-11-21T16:18:52.200000Z")
                .put(
                        "taints",
                        strings(
                                "node.kubernetes.io/unreachable:NoSchedule",
                                "node.kubernetes.io/unreachable:NoExecute"))
                .build();
        return story(
                facts,
                about(
                        20,
                        "Suspected",
                        "no heartbeat for 17.5s, usually every 10s; the node becomes Unknown after 50s",
                        JsonObject.EMPTY),
                about(
                        52,
                        "Unknown",
                        "no heartbeat for 50.1s, the grace period is 50s; last heartbeat by lease; it was Ready",
                        new Evidence()
                                .signal("lease")
                                .sentAt("2026-11-21T16:13:02.080000Z")
                                .arrivedAt(B.plusMillis(2_100))
                                .lag("node_to_controller", Duration.ofMillis(20))
                                .silence(Duration.ofMillis(50_100))
                                .grace(Duration.ofSeconds(50))
                                .deadline(B.plusMillis(52_100), Duration.ofMillis(1))
                                .sight(
                                        "a canary proved, 30ms after the deadline, that everything written until then was seen")
                                .write("PUT /api/v1/nodes/n2/status", "200", Duration.ofMillis(46))
                                .json()),
                about(
                        52,
                        "Tainted",
                        "Taints added [node.kubernetes.io/unreachable:NoExecute], removed []",
                        JsonObject.EMPTY));
    }

    private static Story frozenApiServer() {
        JsonObject facts = facts("True", "42.3s").toBuilder()
                .put(
                        "controllerIsBlind",
                        "nothing seen for 42.3s: the API server does not answer (API server); no node gets a verdict,"
                                + " and the nodes' clock stands still")
                .build();
        return story(facts, about(1, "Registered", "the controller follows this node", JsonObject.EMPTY))
                .withController(List.of(controller(
                        28,
                        "ObserverBlind",
                        "nothing seen for 10s: the API server does not answer (API server); no node gets a verdict,"
                                + " and the nodes' clock stands still")));
    }

    private static Story duplicateName() {
        String text =
                "two machines report under this node's name: boot id 0e6b1a52 at 10.0.0.7, and boot id 9c1d44fe at"
                        + " 10.0.0.8";
        JsonObject facts = facts("True", "1.2s")
                .with("duplicate", text)
                .with(
                        "problems",
                        strings("DuplicateNode: another machine reports under this node's name: the boot id"
                                + " 0e6b1a52 was written; this machine's is 9c1d44fe"));
        return story(
                facts,
                about(
                        15,
                        "Event DuplicateNode",
                        "another machine reports under this node's name: the boot id 0e6b1a52 was written; this machine's"
                                + " is 9c1d44fe (nodekeeper-companion)",
                        JsonObject.EMPTY),
                about(
                        30,
                        "DuplicateNode",
                        text,
                        JsonObject.EMPTY
                                .with("machine", "boot id 9c1d44fe at 10.0.0.8")
                                .with("otherMachine", "boot id 0e6b1a52 at 10.0.0.7")));
    }

    private static Story deletedNode() {
        JsonObject pod = JsonObject.EMPTY
                .with("reason", "orphaned")
                .with("pod", "default/web-1")
                .with("podUid", "77aa");
        return story(
                JsonObject.EMPTY,
                about(2, "Registered", "the controller follows this node", JsonObject.EMPTY),
                about(15, "Removed", "the node object was deleted", JsonObject.EMPTY),
                about(55, "Collected", "Pod default/web-1 was deleted immediately: orphaned", pod));
    }

    private static Story wrongClock() {
        JsonObject facts = facts("True", "4.4s")
                .with("clock", "1m30s ahead")
                .with(
                        "problems",
                        strings(
                                "ClockSkew: the node's clock is 1m30s or more ahead of the API server's; expected 10s at"
                                        + " most"));
        return story(
                facts,
                about(
                        33,
                        "ClockSet",
                        "its clock was set ahead by 1m30s, which does not affect verdicts",
                        JsonObject.EMPTY));
    }

    private static Story hungCniPlugin() {
        JsonObject facts = facts("False", "2.2s").toBuilder()
                .put(
                        "cause",
                        "KubeletNotReady: PLEG is not healthy: pleg was last seen active 3m4s ago; threshold is 3m0s")
                .put("since", "2026-11-21T16:13:31Z")
                .put(
                        "problems",
                        strings("RuntimeDegraded: the CNI plugin bridge (pid 28880) ADD for pod default/web-1 has not"
                                + " ended since 2026-11-21T16:10:27Z"))
                .put("plannedEvictions", 1)
                .put("nextEviction", "2026-11-21T16:18:31.400000Z")
                .build();
        return story(
                facts,
                about(
                        31,
                        "Tainted",
                        "Taints added [node.kubernetes.io/not-ready:NoExecute], removed []",
                        JsonObject.EMPTY));
    }

    private static Story shortFall() {
        return story(
                facts("True", "1.5s").toBuilder().put("fellFromReady", 1).build(),
                changed(
                        31_000,
                        "Ready changed from True to False: KubeletNotReady: container runtime is down",
                        "False",
                        "KubeletNotReady",
                        "container runtime is down"),
                changed(
                        31_020,
                        "Ready changed from False to True: KubeletReady: kubelet is posting ready status",
                        "True",
                        "KubeletReady",
                        "kubelet is posting ready status"));
    }

    private static Decision changed(int millis, String text, String ready, String reason, String message) {
        JsonObject details = JsonObject.EMPTY
                .with("was", ready.equals("True") ? "False" : "True")
                .with("ready", ready)
                .with("reason", reason)
                .with("message", message)
                .with("changedAt", "2026-11-21T16:13:31Z");
        return new Decision(B.plusMillis(millis), "n2", "5f0c", "ReadyChanged", text, details);
    }

    @TestFactory
    Stream<DynamicTest> storiesOfTheDocumentationAreWhatTheCommandPrints() {
        return Stream.of(
                told("A frozen node", frozenNode()),
                told("A frozen API server", frozenApiServer()),
                told("Two machines with one name", duplicateName()),
                told("A deleted node", deletedNode()),
                told("A wrong clock", wrongClock()),
                told("A hung CNI plugin", hungCniPlugin()),
                told("A short fall", shortFall()));
    }

    private static DynamicTest told(String title, Story story) {
        return DynamicTest.dynamicTest(title, () -> {
            String block = "## " + title + "\n\n```console\n$ nodekeeper why n2\n"
                    + WhyReport.of(story, NOW, Optional.empty()) + "```\n";
            if (Boolean.getBoolean("nodekeeper.write-docs")) {
                write(title, block);
            }
            assertThat(Files.readString(DOCS)).contains(block);
        });
    }

    private static void write(String title, String block) throws IOException {
        String page = Files.readString(DOCS);
        int from = page.indexOf("## " + title + "\n");
        int to = page.indexOf("```\n", page.indexOf("```console", from)) + 4;
        Files.writeString(DOCS, page.substring(0, from) + block + page.substring(to));
    }

    /** No label shows a name of a field: no capital inside of a word, no underscore. */
    @Test
    void noStoryShowsTheNameOfAField() {
        Stream.of(
                        frozenNode(),
                        frozenApiServer(),
                        duplicateName(),
                        deletedNode(),
                        wrongClock(),
                        hungCniPlugin(),
                        shortFall())
                .flatMap(story -> Stream.concat(
                        story.facts().fields().keySet().stream(),
                        story.decisions().stream().flatMap(decision -> decision.details().fields().keySet().stream())))
                .forEach(name -> assertThat(WhyReport.label(name)).doesNotContainPattern("[a-z][A-Z]|_"));
    }
}
