package io.nodekeeper.agent.heartbeat;

import static io.nodekeeper.agent.FakeCluster.LEASE;
import static io.nodekeeper.agent.FakeCluster.LEASES;
import static io.nodekeeper.agent.FakeCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.FakeCluster;
import io.nodekeeper.agent.Fixtures;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LeaseRenewerTest {
    private static final String GET = "GET " + LEASE;
    private static final String PUT = "PUT " + LEASE;
    private static final String POST = "POST " + LEASES;
    private static final String OWNER = "GET " + NODE;

    private final FakeCluster cluster = new FakeCluster();

    private LeaseRenewer start() {
        return start(Fixtures.config());
    }

    private LeaseRenewer start(AgentConfig config) {
        LeaseRenewer renewer =
                new LeaseRenewer(config, cluster.client, cluster.random, () -> cluster.repeatedFailures++, () -> {});
        renewer.start();
        return renewer;
    }

    private void nodePresent() {
        cluster.store(new Node(Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"uid\":\"u1\"}}")));
    }

    private void leasePresent(String owners) {
        cluster.lease = Optional.of(new Lease(Json.parseObject("""
                {"metadata":{"name":"n1","resourceVersion":"7"%s},
                 "spec":{"holderIdentity":"n1","leaseDurationSeconds":40,"renewTime":"2025-12-31T23:59:50.000000Z"}}""".formatted(owners))));
    }

    @Test
    @Tag("A65")
    void createsTheLeaseAndThenRenewsItWithOneCallEachInterval() {
        nodePresent();

        start();
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.log()).containsExactly(GET, OWNER, POST);
        assertThat(cluster.body(2)).isEqualTo(Json.parseObject("""
                        {"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"n1",
                          "namespace":"kube-node-lease",
                          "ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":"u1"}]},
                         "spec":{"holderIdentity":"n1","leaseDurationSeconds":40,
                          "renewTime":"2026-01-01T00:00:00.000000Z"}}"""));

        cluster.transport.clear();
        cluster.advance(Duration.ofSeconds(104));
        assertThat(cluster.log()).hasSize(10).containsOnly(PUT);
    }

    @Test
    @Tag("A66")
    void waitsForTheNodeWithoutComplaint() {
        start();
        cluster.advance(Duration.ofSeconds(5));
        assertThat(cluster.log()).containsExactly(GET, OWNER);

        nodePresent();
        cluster.advance(Duration.ofSeconds(6));

        assertThat(cluster.lease).isPresent();
    }

    @Test
    @Tag("A67")
    void ownsAnOrphanAndLeavesForeignOwnersAlone() {
        nodePresent();
        leasePresent("");
        start();
        cluster.advance(Duration.ofSeconds(1));
        assertThat(cluster.log()).containsExactly(GET, OWNER, PUT);
        assertThat(cluster.body(2).object("metadata").array("ownerReferences").objects())
                .containsExactly(
                        Json.parseObject("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u1\"}"));
    }

    @Test
    @Tag("A67")
    void leavesForeignOwnersAlone() {
        nodePresent();
        leasePresent(",\"ownerReferences\":[{\"name\":\"other\"}]");

        start();
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.log()).containsExactly(GET, PUT);
        assertThat(cluster.body(1).object("metadata").array("ownerReferences").objects())
                .containsExactly(Json.parseObject("{\"name\":\"other\"}"));
    }

    @Test
    @Tag("A68")
    void aConflictIsResolvedWithAFreshLease() {
        nodePresent();
        LeaseRenewer renewer = start();
        cluster.advance(Duration.ofSeconds(1));
        cluster.transport.clear();
        cluster.lease = Optional.of(new Lease(cluster.lease
                .orElseThrow()
                .json()
                .update("metadata", metadata -> metadata.with("resourceVersion", "9"))));

        cluster.loop.execute(renewer::renewNow);
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.log()).containsExactly(PUT, GET, PUT);
        assertThat(cluster.body(2).object("metadata").text("resourceVersion")).isEqualTo("9");
        assertThat(cluster.repeatedFailures).isZero();
    }

    @Test
    @Tag("A69")
    void triesTheHeldLeaseThenAFreshOneFiveTimesEach() {
        nodePresent();
        LeaseRenewer renewer = start();
        cluster.advance(Duration.ofSeconds(1));
        cluster.transport.clear();
        cluster.refuse(PUT, 500);

        cluster.loop.execute(renewer::renewNow);
        cluster.advance(Duration.ofSeconds(8));

        assertThat(cluster.log()).containsExactly(PUT, PUT, PUT, PUT, PUT, GET, PUT, PUT, PUT, PUT, PUT);
        assertThat(cluster.repeatedFailures).isEqualTo(8);
    }

    @Test
    @Tag("A69")
    void aFirstRoundLooksForTheLeaseAndTriesFiveTimes() {
        nodePresent();
        leasePresent(",\"ownerReferences\":[{\"name\":\"n1\"}]");
        cluster.refuse(PUT, 500);

        start();
        cluster.advance(Duration.ofSeconds(8));

        assertThat(cluster.log()).containsExactly(GET, PUT, PUT, PUT, PUT, PUT);
        assertThat(cluster.repeatedFailures).isEqualTo(4);
    }

    @Test
    @Tag("A70")
    void looksForTheLeaseEverMoreSlowlyAndNeverGivesUp() {
        cluster.refuse(GET, 500);

        start();
        cluster.advance(Duration.ofSeconds(27));

        assertThat(cluster.timed)
                .isEqualTo(List.of(
                        "0.0 " + GET,
                        "0.2 " + GET,
                        "0.6 " + GET,
                        "1.4 " + GET,
                        "3.0 " + GET,
                        "6.2 " + GET,
                        "12.6 " + GET,
                        "19.6 " + GET,
                        "26.6 " + GET));
    }

    @Test
    @Tag("A71")
    void aChangedDurationReachesAnExistingLease() {
        nodePresent();
        leasePresent(",\"ownerReferences\":[{\"name\":\"n1\"}]");

        start(new AgentConfigBuilder("n1").nodeLeaseDurationSeconds(60).build());
        cluster.advance(Duration.ofSeconds(1));
        assertThat(cluster.lease.orElseThrow().durationSeconds()).contains(60L);

        cluster.transport.clear();
        cluster.advance(Duration.ofSeconds(13));
        assertThat(cluster.log()).isEmpty();
        cluster.advance(Duration.ofSeconds(2));
        assertThat(cluster.log()).containsExactly(PUT);
    }

    /** The controller does not count renewals of a lease that another one holds. */
    @Test
    void renewalTakesALeaseBackWhoseHolderSomebodyChanged() {
        nodePresent();
        cluster.lease = Optional.of(new Lease(Json.parseObject("""
                {"metadata":{"name":"n1","resourceVersion":"7","ownerReferences":[{"name":"n1"}]},
                 "spec":{"holderIdentity":"x","leaseDurationSeconds":40,"renewTime":"2025-12-31T23:59:50.000000Z"}}""")));

        start();
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.lease.orElseThrow().holderIdentity()).isEqualTo("n1");
    }

    @Test
    @Tag("A72")
    void renewalsIncreaseEvenIfTheClockGoesBack() {
        nodePresent();
        start();
        cluster.advance(Duration.ofSeconds(1));
        Instant before = cluster.lease.orElseThrow().renewTime().orElseThrow();

        cluster.loop.skewWallClock(Duration.ofSeconds(-90));
        cluster.advance(Duration.ofSeconds(10));

        assertThat(cluster.lease.orElseThrow().renewTime()).contains(before.plusNanos(1_000));
    }

    @Test
    void aDeletedLeaseIsCreatedAgain() {
        nodePresent();
        LeaseRenewer renewer = start();
        cluster.advance(Duration.ofSeconds(1));
        cluster.transport.clear();
        cluster.lease = Optional.empty();

        cluster.loop.execute(renewer::renewNow);
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.log()).containsExactly(PUT, GET, OWNER, POST);
    }
}
