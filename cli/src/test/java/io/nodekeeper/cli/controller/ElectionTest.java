package io.nodekeeper.cli.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.client.leaderelection.LeaseStore;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.controller.debug.DebugPages;
import io.nodekeeper.controller.history.MemoryHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a candidate's pages say while it waits, stands by, leads and loses. */
class ElectionTest {
    private static final String LOCK = "kube-system/kube-controller-manager";

    private final VirtualTime time = new VirtualTime(Instant.parse("2015-01-01T12:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final VirtualTime.VirtualLoop electionLoop = time.loop("election");
    private final LeaseStore store = new LeaseStore();
    private final FakeTransport transport = new FakeTransport();
    private final ControllerMetrics metrics = new ControllerMetrics();
    private final Election election = new Election(
            LeaderElectionConfig.defaults(),
            "here_1",
            new KubeClient(transport, electionLoop, Duration.ofSeconds(5)),
            (about, type, reason, message) -> {},
            Randoms.seeded(1),
            metrics);
    private final DebugPages pages = new DebugPages(
            new ProcessView(loop, Optional::empty, Optional.of(election)),
            new MemoryHistory(),
            metrics,
            loop,
            time.loop("pages"));

    @Test
    void untilTheLockIsReadAProcessIsHealthyAndNotReady() {
        transport.answer(call -> Optional.empty());
        election.start();

        assertThat(get("/readyz")).isEqualTo("503: waiting for the lease " + LOCK + "\n");
        assertThat(get("/healthz")).isEqualTo("200: ok\n");
        assertThat(get("/metrics")).contains("leader_election_master_status{name=\"kube-controller-manager\"} 0.0");
    }

    @Test
    @Tag("L77")
    void aStandbyIsReadyAndSaysWhoLeads() {
        transport.answer(store::tryAnswer);
        store.edit(JsonObject.EMPTY.with("holderIdentity", "there_2"));
        election.start();
        time.advance(Duration.ofMillis(1));

        assertThat(get("/readyz")).isEqualTo("200: ok: standing by; there_2 leads\n");
        assertThat(get("/healthz")).isEqualTo("200: ok\n");
        assertThat(get("/debug/nodes")).contains("\"notWorking\" : \"standing by; there_2 leads\"");
        assertThat(get("/metrics")).contains("leader_election_master_status{name=\"kube-controller-manager\"} 0.0");
        assertThat(election.won()).isNotDone();

        time.advance(Duration.ofSeconds(20));

        assertThat(election.won()).as("the other one was silent").isCompleted();
        assertThat(election.standby()).isEmpty();
    }

    @Test
    void aLeaderIsCountedAndSoIsEachRenewalThatTookTheSlowPath() {
        transport.answer(store::tryAnswer);
        election.start();
        time.advance(Duration.ofSeconds(1));
        assertThat(election.leads()).isTrue();

        store.edit(store.spec().with("strategy", "x"));
        time.advance(Duration.ofSeconds(2));

        assertThat(get("/metrics"))
                .contains("leader_election_master_status{name=\"kube-controller-manager\"} 1.0")
                .contains("leader_election_slowpath_total{name=\"kube-controller-manager\"} 1.0");
    }

    @Test
    void aLeaderThatLosesTheLeaseSaysWhy() {
        transport.answer(store::tryAnswer);
        election.start();
        time.advance(Duration.ofSeconds(1));

        transport.answer(call -> Optional.of(FakeTransport.refusal(new ApiException(500, "InternalError", "no etcd"))));
        time.advance(Duration.ofSeconds(8));
        assertThat(election.lost()).isNotDone();
        time.advance(Duration.ofSeconds(2));

        assertThat(election.lost())
                .isCompletedWithValue(
                        "leaderelection lost: the lease " + LOCK + " was taken over or not renewed for 10s");
        assertThat(get("/metrics")).contains("leader_election_master_status{name=\"kube-controller-manager\"} 0.0");
    }

    @Test
    void aLeaderThatDoesNotNoticeThatItsLeaseIsOverIsUnhealthyTwentySecondsLater() {
        transport.answer(store::tryAnswer);
        election.start();
        time.advance(Duration.ofSeconds(1));

        electionLoop.freeze();
        time.advance(Duration.ofSeconds(33));
        assertThat(get("/healthz")).isEqualTo("200: ok\n");
        time.advance(Duration.ofSeconds(1));

        assertThat(get("/healthz")).isEqualTo("503: failed election renewal check on lease " + LOCK + "\n");
    }

    @Test
    void aStopGivesTheLeaseBackAndIsNoLoss() {
        transport.answer(store::tryAnswer);
        election.start();
        time.advance(Duration.ofSeconds(1));

        CompletableFuture<Void> stopped = election.stop();
        time.advance(Duration.ofSeconds(1));

        assertThat(stopped).isCompleted();
        assertThat(store.holder()).isEmpty();
        assertThat(election.leads()).isFalse();
        assertThat(election.lost()).isNotDone();
    }

    @Test
    void identitiesDifferOnTheSameHost() {
        assertThat(Election.identity("host", Randoms.seeded(1)))
                .matches("host_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
                .isNotEqualTo(Election.identity("host", Randoms.seeded(2)));
    }

    private String get(String path) {
        CompletableFuture<Page> page = pages.get(path, "");
        time.advance(Duration.ofMillis(10));
        return page.join().status() + ": " + new String(page.join().body(), StandardCharsets.UTF_8);
    }
}
