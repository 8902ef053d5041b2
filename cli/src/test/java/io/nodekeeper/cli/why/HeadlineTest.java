package io.nodekeeper.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.history.Decision;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The first sentence tells of the present outage, not of an earlier one. */
class HeadlineTest {
    /** When the present outage began. */
    private static final Instant SINCE = Instant.parse("2026-11-21T16:13:52Z");

    private static final Instant NOW = SINCE.plusSeconds(600);
    private static final JsonObject UNKNOWN = JsonObject.EMPTY
            .with("ready", "Unknown")
            .with("since", "2026-11-21T16:13:52Z")
            .with("cause", "NodeStatusUnknown: Kubelet stopped posting node status.");

    private static Decision about(int second, String kind, String text) {
        return new Decision(SINCE.plusSeconds(second), "n2", "5f0c", kind, text, JsonObject.EMPTY);
    }

    private static Story story(JsonObject facts, Decision... decisions) {
        return new Story("n2", "the controller", List.of(), facts, List.of(decisions));
    }

    private static String headline(Story story) {
        return Headline.of(story, NOW).lines().findFirst().orElseThrow();
    }

    @Test
    void podsThatAnEarlierOutageMovedAwayDoNotCount() {
        Story story = story(
                UNKNOWN,
                about(-3_000, "Evicted", "p1"),
                about(-2_900, "Evicted", "p2"),
                about(0, "Unknown", "no heartbeat for 50.1s"),
                about(300, "Evicted", "p3"));

        assertThat(headline(story))
                .isEqualTo("Node n2 is Unknown since 16:13:52 UTC (10m0s ago), because no heartbeat for 50.1s;"
                        + " 1 pod moved away.");
    }

    @Test
    void verdictOfAnEarlierOutageIsNoCause() {
        assertThat(headline(story(UNKNOWN, about(-3_000, "Unknown", "no heartbeat for 70s"))))
                .endsWith(", because Kubelet stopped posting node status.");
        assertThat(headline(story(UNKNOWN, about(-1, "Unknown", "no heartbeat for 50.1s"))))
                .endsWith(", because no heartbeat for 50.1s.");
    }

    @Test
    void nodeWhoseTaintsAreKeptTellsHowOftenItFell() {
        JsonObject damped = JsonObject.EMPTY
                .with("ready", "True")
                .with("dampedUntil", "2026-11-21T16:30:00Z")
                .with("fellFromReady", JsonNumber.of(4));

        assertThat(headline(story(damped))).contains("is Ready, but fell 4 times; its taints are kept until ");
    }

    private static Decision changed(int second, String was, String becomes, JsonObject more) {
        JsonObject details = more.with("ready", becomes);
        return new Decision(
                SINCE.plusSeconds(second),
                "n2",
                "5f0c",
                "ReadyChanged",
                "Ready changed from " + was + " to " + becomes + ": reason: message",
                was.isEmpty() ? details : details.with("was", was));
    }

    @Test
    void shortFallIsTheLastTroubleOfANodeThatIsReady() {
        JsonObject ready = JsonObject.EMPTY.with("ready", "True");
        Decision fall = changed(60, "True", "False", JsonObject.EMPTY);
        Decision recovery = changed(61, "False", "True", JsonObject.EMPTY);

        assertThat(headline(story(ready, fall, recovery)))
                .isEqualTo(
                        "Node n2 is Ready; last trouble at 16:14:52 UTC (9m0s ago): Ready changed from True to False:"
                                + " reason: message.");
        // Several changes in one decision may end with Ready.
        assertThat(headline(story(ready, changed(62, "True", "True", JsonObject.EMPTY.with("lastNotReady", "down")))))
                .contains("; last trouble at 16:14:54 UTC ");
        // The first report of a node that joins is no trouble.
        assertThat(headline(story(ready, changed(0, "", "False", JsonObject.EMPTY), recovery)))
                .isEqualTo("Node n2 is Ready.");
    }

    @Test
    void filesOfADeadControllerTellTheLastReport() {
        assertThat(headline(story(
                        JsonObject.EMPTY, about(0, "Registered", ""), changed(60, "True", "False", JsonObject.EMPTY))))
                .isEqualTo("Node n2 reported at 16:14:52 UTC (9m0s ago): Ready changed from True to False: reason:"
                        + " message.");
    }

    @Test
    void limitThatMayHideEvictionsIsTold() {
        // given the newest two decisions, both of this outage
        Story two = story(UNKNOWN, about(300, "Evicted", "p1"), about(301, "Evicted", "p2"));

        assertThat(headline(two.limited(2, true))).endsWith("; at least 2 pods moved away.");
        assertThat(headline(two.limited(3, true))).endsWith("; 2 pods moved away.");
        // Decisions around a requested time may lack newer ones, too.
        assertThat(headline(two.limited(2, false))).endsWith("; at least 2 pods moved away.");

        // given three that reach back to before it
        Story three = story(
                UNKNOWN, about(-9, "Suspected", "late"), about(300, "Evicted", "p1"), about(301, "Evicted", "p2"));

        assertThat(headline(three.limited(3, true))).endsWith("; 2 pods moved away.");
        assertThat(headline(three.limited(3, false))).endsWith("; at least 2 pods moved away.");
    }
}
