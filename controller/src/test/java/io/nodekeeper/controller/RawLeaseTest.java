package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Renewals have the same effect whether they are read from the bytes of the watch or by the full parser. */
class RawLeaseTest {
    /** The same event in other words. */
    enum Form {
        AS_IT_IS(true, line -> line),
        OTHER_ORDER(true, line -> {
            JsonObject event = Json.parseObject(line);
            JsonObject lease = event.object("object");
            JsonObject metadata = lease.object("metadata");
            return "{\"object\":{\"spec\":" + Json.write(lease.object("spec")) + ",\"metadata\":{\"resourceVersion\":\""
                    + metadata.text("resourceVersion") + "\",\"namespace\":\"kube-node-lease\",\"name\":\""
                    + metadata.text("name") + "\"}},\"type\":\"" + event.text("type") + "\"}";
        }),
        UNKNOWN_FIELDS(
                true,
                line -> line.replace(
                        "\"metadata\":{",
                        "\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"managedFields\":"
                                + "[{\"fieldsV1\":{\"f:spec\":{\"f:renewTime\":{}}}}],\"generation\":17,")),
        SPACES(true, line -> line.replace("\":", "\" :  ").replace(",\"", " , \"")),
        ESCAPED_NAME(false, line -> line.replace("\"name\":\"n1\"", "\"name\":\"n\\u0031\"")),
        ESCAPED_FIELD(false, line -> line.replace("\"renewTime\"", "\"renew\\u0054ime\"")),
        TIME_WITH_OFFSET(false, line -> line.replaceAll("(renewTime\":\"[0-9T:.-]*)Z", "$1+00:00"));

        private final boolean raw;
        private final UnaryOperator<String> wire;

        Form(boolean raw, UnaryOperator<String> wire) {
            this.raw = raw;
            this.wire = wire;
        }
    }

    @ParameterizedTest
    @EnumSource
    void theFormOfAnEventMakesNoDifference(Form form) {
        TestCluster plain = new TestCluster();
        live(plain);
        TestCluster cluster = new TestCluster();
        LeaseLine scanner = new LeaseLine();
        int[] read = new int[2];
        cluster.wire = line -> {
            String formed =
                    line.contains("\"name\":\"n1\"") && line.contains("renewTime") ? form.wire.apply(line) : line;
            if (formed.contains("kube-node-lease")) {
                byte[] bytes = formed.getBytes(StandardCharsets.UTF_8);
                read[scanner.scan(bytes, 0, bytes.length) ? 1 : 0]++;
            }
            return formed;
        };

        live(cluster);

        assertThat(read).as("by the parser, from bytes").isEqualTo(form.raw ? new int[] {0, 10} : new int[] {10, 0});
        assertThat(cluster.decisions).isEqualTo(plain.decisions);
        assertThat(cluster.events).isEqualTo(plain.events);
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.node("n1").ready().orElseThrow().json().text("lastTransitionTime"))
                .isEqualTo("2015-01-01T12:02:30Z");
    }

    @Test
    void versionsThatAreNoNumbersAreLeftToTheParser() {
        TestCluster cluster = new TestCluster();
        cluster.versionPrefix = "v";

        live(cluster);

        assertThat(cluster.events("Suspect")).hasSize(1);
        assertThat(cluster.node("n1").ready().orElseThrow().json().text("lastTransitionTime"))
                .isEqualTo("2015-01-01T12:02:30Z");
        assertThat(cluster.metric("nodekeeper_verdicts_total{verdict=\"Unknown\"}"))
                .isEqualTo("1.0");
    }

    @Test
    void canaryIsSeenAmongRawRenewals() {
        TestCluster cluster = new TestCluster();
        cluster.wire = line -> line.replace(
                "\"name\":\"nodekeeper-canary\"", "\"name\":\"nodekeeper-canary\",\"namespace\":\"kube-node-lease\"");

        live(cluster);

        assertThat(cluster.events("ObserverBlind")).isEmpty();
        assertThat(cluster.metric("nodekeeper_canary_age_seconds")).isEqualTo("1.0");
        // One each second from the start on, one for the suspicion and one for the verdict.
        assertThat(cluster.metric("nodekeeper_heartbeat_lag_seconds_count{hop=\"canary_round_trip\"}"))
                .isEqualTo("156");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L14")
    void renewalBySomebodyElseIsNoSignOfLife() {
        TestCluster cluster = new TestCluster();
        follow(cluster);
        for (int second = 10; second <= 100; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second), second <= 50 ? "n1" : "somebody");
        }

        assertThat(cluster.ready("n1")).isEqualTo("True");
        cluster.advanceTo("100.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        cluster.advanceTo("110S");
        cluster.renew("n1", B.plusSeconds(110), "somebody");
        cluster.advanceTo("120S");
        assertThat(cluster.decisions("Returned")).isEmpty();
        cluster.renew("n1", B.plusSeconds(120), "n1");
        cluster.advance(Duration.ofMillis(1));
        assertThat(cluster.decisions("Returned"))
                .containsExactly("2015-01-01T12:02:00Z n1: new heartbeat by lease after 1m10s");
    }

    @Test
    @Tag("L14")
    void renewalBySomebodyElseCountsForTheReference() {
        TestCluster cluster = new TestCluster(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.CLOCK_IMMUNITY)));
        follow(cluster);
        for (int second = 10; second <= 200; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second), second <= 50 ? "n1" : "somebody");
        }

        assertThat(cluster.ready("n1")).isEqualTo("True");
    }

    @Test
    void leaseOfANodeThatIsNotKnownYetIsKept() {
        TestCluster cluster = new TestCluster();
        cluster.start();
        for (int second = 10; second <= 100; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second));
        }
        cluster.addNode("n1", B.plusSeconds(100), ready("True", B.plusSeconds(100)));
        cluster.advanceTo("110S");
        cluster.renew("n1", B.plusSeconds(110));

        assertThat(cluster.facts("n1").text("leaseRenewTime")).isEqualTo("2015-01-01T12:01:50.000000Z");
        cluster.advanceTo("160S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        cluster.advanceTo("160.010S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    /** Renewed from 10 s to 100 s, then silent; until 153.5 s. */
    private static void live(TestCluster cluster) {
        follow(cluster);
        for (int second = 10; second <= 100; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second), "n1");
        }
        cluster.advanceTo("153.5S");
    }

    private static void follow(TestCluster cluster) {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B, "n1");
        cluster.start();
    }

    @Test
    @Tag("L14")
    void leaseThatAnotherClientCreatesIsNoHeartbeat() {
        TestCluster cluster = new TestCluster();
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("40S");

        cluster.renew("n1", B.plusSeconds(40), "somebody");
        cluster.advanceTo("50.010S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }
}
