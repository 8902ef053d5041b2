package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The fleet on one screen: which nodes are not well, why, and what is about to happen. */
class FleetStatusTest {
    private final TestCluster cluster = new TestCluster();

    @Test
    void suspectNodeIsListedWithTheTimeAtWhichItBecomesUnknown() {
        // given two nodes that renew every 10 s, one of which stops after 100 s
        follow("n1", "n2");
        for (int second = 10; second <= 120; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n2", B.plusSeconds(second));
            if (second <= 100) {
                cluster.renew("n1", B.plusSeconds(second));
            }
        }

        cluster.advanceTo("120S");

        JsonObject status = status();
        assertThat(names(status, "suspects")).containsExactly("n1");
        assertThat(status.array("unwell").items()).isEmpty();
        assertThat(names(status, "longestSilent")).containsExactly("n1", "n2");
        JsonObject next = only(status, "next");
        assertThat(next.text("node")).isEqualTo("n1");
        assertThat(next.text("what")).isEqualTo("becomes Unknown, unless it sends a heartbeat");
        assertThat(next.text("at")).isEqualTo("2015-01-01T12:02:30.000000Z");
        assertThat(next.number("inMillis")).contains(30_000L);
    }

    @Test
    void silentNodeIsListedWithItsReasonAndItsZone() {
        follow("n1", "n2");
        for (int second = 10; second <= 60; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n2", B.plusSeconds(second));
        }

        cluster.advanceTo("61S");

        JsonObject status = status();
        JsonObject unwell = only(status, "unwell");
        assertThat(unwell.text("name")).isEqualTo("n1");
        assertThat(unwell.text("ready")).isEqualTo("Unknown");
        assertThat(unwell.text("cause")).isEqualTo("NodeStatusUnknown: Kubelet stopped posting node status.");
        assertThat(unwell.text("since")).startsWith("2015-01-01T12:00:50");
        assertThat(status.number("ready")).contains(1L);
        assertThat(status.number("unknown")).contains(1L);
        JsonObject zone = only(status, "zones");
        assertThat(zone.text("state")).isEqualTo("Normal");
        assertThat(zone.number("nodes")).contains(2L);
        assertThat(zone.number("notReady")).contains(1L);
    }

    /** What the web page draws: a row changes with the state, not with each heartbeat. */
    @Test
    void eachNodeIsARowThatChangesWithItsState() {
        follow("n1", "n2");
        cluster.advanceTo("10S");
        JsonObject before = fleet();
        cluster.renew("n2", B.plusSeconds(10));
        cluster.advanceTo("11S");
        assertThat(fleet().array("rows")).isEqualTo(before.array("rows"));
        assertThat(rows(before)).containsExactly("n1 ready ", "n2 ready ");

        for (int second = 20; second <= 60; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n2", B.plusSeconds(second));
        }
        cluster.advanceTo("61S");

        assertThat(rows(fleet()))
                .containsExactly("n1 unknown NodeStatusUnknown: Kubelet stopped posting node status.", "n2 ready ");
        assertThat(fleet().number("nodes")).contains(2L);
    }

    private JsonObject fleet() {
        CompletableFuture<JsonObject> page = cluster.controller.view().fleet();
        cluster.advance(Duration.ZERO);
        return page.join();
    }

    /** Name, state and reason of each row. */
    private static List<String> rows(JsonObject fleet) {
        return fleet.array("rows").items().stream()
                .map(row -> ((JsonArray) row).strings().toList())
                .map(row -> row.get(0) + " " + row.get(2) + " " + row.get(3))
                .sorted()
                .toList();
    }

    @Test
    void blindControllerSaysSo() {
        follow("n1");
        cluster.advanceTo("10S");

        cluster.down = true;
        cluster.advanceTo("70S");

        JsonObject sight = status().object("sight");
        assertThat(sight.bool("sees")).isFalse();
        assertThat(sight.text("blindness")).contains("the API server does not answer");
    }

    private void follow(String... names) {
        for (String name : names) {
            cluster.addNode(name, K, ready("True", B));
            cluster.renew(name, B);
        }
        cluster.start();
    }

    private JsonObject status() {
        CompletableFuture<JsonObject> page = cluster.controller.view().status();
        cluster.advance(Duration.ZERO);
        return page.join();
    }

    private static List<String> names(JsonObject status, String list) {
        return status.array(list).objects().map(node -> node.text("name")).toList();
    }

    private static JsonObject only(JsonObject status, String list) {
        Stream<JsonObject> all = status.array(list).objects();
        List<JsonObject> found = all.toList();
        assertThat(found).as(list).hasSize(1);
        return found.getFirst();
    }
}
