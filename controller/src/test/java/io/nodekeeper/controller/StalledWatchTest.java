package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.controller.explain.ObserverReport;
import io.nodekeeper.controller.observer.CanaryLease;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A watch that delivers nothing, although its connection is open, is detected and restarted. */
@Tag("W1")
class StalledWatchTest {
    private static final String BLIND = "nodekeeper_observer_blind{hop=\"%s\"}";

    private final TestCluster cluster = new TestCluster();

    @Test
    void stalledWatchIsRestartedAndSightReturnsWithinSeconds() {
        follow("alive", "dead");
        renewUntil(20, "alive", "dead");
        cluster.stallWatches();
        LogLines log = LogLines.of(ObserverReport.class);

        cluster.advanceTo("23.5S");
        assertThat(cluster.events).noneMatch(event -> event.contains("Observer"));

        // The canary of 20 s was the last one seen: 3 s are tolerated.
        cluster.advanceTo("24.5S");
        String blind = "nothing seen for 4s: writes succeed, but the watch does not send them (watch);"
                + " no node gets a verdict, and the nodes' clock stands still";
        assertThat(cluster.events("ObserverBlind")).containsExactly("Warning ObserverBlind Lease : " + blind);
        assertThat(cluster.events("ObserverSees")).hasSize(1);
        assertThat(cluster.decisions("ObserverBlind")).containsExactly("2015-01-01T12:00:24Z : " + blind);
        assertThat(log.lines()).startsWith(blind).hasSize(2);
        assertThat(cluster.transport.watches().stream()
                        .filter(watch -> watch.call().target().contains("/leases?")))
                .hasSize(2)
                .first()
                .matches(FakeTransport.Watch::cancelled);
        assertThat(cluster.transport.calls().stream()
                        .filter(call -> call.target().contains("/leases?limit=")))
                .as("lists: at the start, and because of the blindness")
                .hasSize(2);

        renewUntil(70, "alive");
        assertThat(cluster.ready("dead")).isEqualTo("True");
        cluster.advanceTo("70.010S");
        assertThat(cluster.ready("dead")).isEqualTo("Unknown");
        renewUntil(200, "alive");
        assertThat(cluster.ready("alive")).isEqualTo("True");
        assertThat(cluster.events("ObserverBlind")).hasSize(1);
    }

    @Test
    void stalledLeaseWatchIsReportedAndRestarted() {
        follow("alive", "dead");
        renewUntil(20, "alive", "dead");
        cluster.leaseWatchFrozen = true;
        renewUntil(80, "alive");
        cluster.advanceTo("84.5S");

        assertThat(cluster.metric(BLIND.formatted("watch"))).isEqualTo("1.0");
        assertThat(cluster.metric(BLIND.formatted("store"))).isEqualTo("0.0");
        assertThat(cluster.metric(BLIND.formatted("api_server"))).isEqualTo("0.0");
        assertThat(cluster.metric(BLIND.formatted("controller"))).isEqualTo("0.0");
        assertThat(cluster.metric("nodekeeper_canary_age_seconds")).isEqualTo("64.0");
        assertThat(cluster.events("ObserverBlind")).hasSize(1);
        // Restarted at 24 s, 34 s and 54 s: a watch that is only slow needs time.
        assertThat(cluster.transport.watches().stream()
                        .filter(watch -> watch.call().target().contains("/leases?")))
                .hasSize(1 + 3);
        // Lists replace it.
        assertThat(cluster.ready("dead")).isEqualTo("Unknown");
        assertThat(cluster.ready("alive")).isEqualTo("True");

        cluster.leaseWatchFrozen = false;
        cluster.advanceTo("85.5S");
        String sees = "has sight again; for 1m5s it had none, because writes succeed, but the watch does not send them"
                + " (watch); nothing was missed";
        assertThat(cluster.events("ObserverSees")).containsExactly("Normal ObserverSees Lease : " + sees);
        assertThat(cluster.metric(BLIND.formatted("watch"))).isEqualTo("0.0");
        assertThat(cluster.metric("nodekeeper_observer_blind_seconds_total{hop=\"watch\"}"))
                .isEqualTo("65.0");
        cluster.advanceTo("86.5S");
        assertThat(condition())
                .isEqualTo("{\"type\":\"ObserverSees\",\"status\":\"True\",\"reason\":\"CanarySeen\",\"hop\":\"watch\","
                        + "\"message\":\"" + sees + "\",\"lastTransitionTime\":\"2015-01-01T12:01:25Z\"}");

        renewUntil(130, "alive");
        assertThat(cluster.ready("alive")).isEqualTo("True");
    }

    @Test
    void conditionOfTheCanarySaysWhatIsWrongWhileItIs() {
        follow("n1");
        cluster.advanceTo("10S");
        cluster.leaseWatchFrozen = true;

        cluster.advanceTo("20S");

        assertThat(condition())
                .isEqualTo(
                        "{\"type\":\"ObserverSees\",\"status\":\"False\",\"reason\":\"CanaryLate\",\"hop\":\"watch\","
                                + "\"message\":\"nothing seen for 4s: writes succeed, but the watch does not send them"
                                + " (watch); no node gets a verdict, and the nodes' clock stands still\","
                                + "\"lastTransitionTime\":\"2015-01-01T12:00:14Z\"}");
    }

    @Test
    void watchesThatWorkAreLeftOpen() {
        follow("n1");
        renewUntil(60, "n1");
        cluster.hung = true;
        cluster.advanceTo("100S");
        cluster.hung = false;
        renewUntil(140, "n1");

        assertThat(cluster.transport.watches()).noneMatch(FakeTransport.Watch::cancelled);
        assertThat(cluster.metric("nodekeeper_observer_blind_seconds_total{hop=\"watch\"}"))
                .isEqualTo("0.0");
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    private void follow(String... names) {
        for (String name : names) {
            cluster.addNode(name, K, ready("True", B));
            cluster.renew(name, B);
        }
        cluster.start();
    }

    private void renewUntil(int end, String... names) {
        for (long second = cluster.time.elapsed().toSeconds() / 10 * 10 + 10; second <= end; second += 10) {
            cluster.advanceTo(second + "S");
            for (String name : names) {
                cluster.renew(name, B.plusSeconds(second));
            }
        }
    }

    /** What the last canary says. */
    private String condition() {
        List<Call> canaries = cluster.transport.calls().stream()
                .filter(call -> call.method().equals("PATCH") && call.target().endsWith("/" + CanaryLease.NAME))
                .toList();
        return Json.parseObject(canaries.getLast().body())
                .object("metadata")
                .object("annotations")
                .text(CanaryLease.CONDITION);
    }

    @Test
    @Tag("W1")
    void sightThatReturnsBeforeAnythingWasLostSaysSo() {
        TestCluster cluster = new TestCluster();
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("20S");

        cluster.stallWatches();
        cluster.advanceTo("25S");

        assertThat(cluster.events("ObserverSees"))
                .singleElement()
                .asString()
                .contains("it had none, because")
                .endsWith("nothing was missed");
    }
}
