package io.nodekeeper.client.leaderelection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LeaderElectorTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration MOMENT = Duration.ofMillis(1);

    private final VirtualTime time = new VirtualTime(START);
    private final LeaseStore store = new LeaseStore();
    private final Candidate a = new Candidate("a", LeaderElectionConfig.defaults());
    private final Candidate b = new Candidate("b", LeaderElectionConfig.defaults());

    /** A process that wants to lead, with a way to the server of its own. */
    private final class Candidate implements LeaderElector.Callbacks {
        private final VirtualTime.VirtualLoop loop;
        private final FakeTransport transport = new FakeTransport();
        private final List<String> heard = new ArrayList<>();
        private final List<String> events = new ArrayList<>();
        private final LeaderElector elector;
        private Duration startedAt = Duration.ZERO;
        private Duration stoppedAt = Duration.ZERO;

        private Candidate(String identity, LeaderElectionConfig config) {
            loop = time.loop(identity);
            transport.answer(store::tryAnswer);
            elector = new LeaderElector(
                    config,
                    identity,
                    new KubeClient(transport, loop, Duration.ofSeconds(30)),
                    (about, type, reason, message) -> events.add(about.kind() + " " + about.namespace() + "/"
                            + about.name() + " " + about.uid() + " " + type + " " + reason + ": " + message),
                    Randoms.seeded(identity.hashCode()),
                    this);
        }

        private void answer(Function<Call, Optional<Reply>> server) {
            transport.answer(server);
        }

        @Override
        public void started() {
            heard.add("started");
            startedAt = time.elapsed();
        }

        @Override
        public void stopped(boolean lost) {
            heard.add(lost ? "lost" : "stopped");
            stoppedAt = time.elapsed();
        }

        @Override
        public void newLeader(String identity) {
            heard.add("leader " + identity);
        }

        @Override
        public void slowPath() {
            heard.add("slow path");
        }
    }

    @Test
    @Tag("L77")
    void theFirstCandidateMakesTheLeaseAndLeads() {
        a.elector.start();
        time.advance(MOMENT);

        assertThat(a.transport.log())
                .containsExactly(
                        "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager",
                        "POST /apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
        assertThat(store.lease().object("metadata").text("name")).isEqualTo("kube-controller-manager");
        assertThat(store.spec())
                .hasToString("{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":15,"
                        + "\"acquireTime\":\"2026-01-01T00:00:00.000000Z\","
                        + "\"renewTime\":\"2026-01-01T00:00:00.000000Z\",\"leaseTransitions\":0}");
        assertThat(a.heard).containsExactly("leader a", "started");
        assertThat(a.events)
                .containsExactly(
                        "Lease kube-system/kube-controller-manager uid-1 Normal LeaderElection: a became leader");
        assertThat(a.elector.leads()).isTrue();
    }

    @Test
    void aLeaderRenewsEachRetryPeriodFromMemory() {
        a.elector.start();
        time.advance(MOMENT);
        a.transport.clear();

        time.advance(Duration.ofSeconds(6));

        assertThat(a.transport.calls()).extracting(Call::method).containsExactly("PUT", "PUT", "PUT");
        assertThat(store.spec().text("renewTime")).isEqualTo("2026-01-01T00:00:06.000000Z");
        assertThat(store.spec().text("acquireTime")).isEqualTo("2026-01-01T00:00:00.000000Z");
        assertThat(store.transitions()).isZero();
    }

    @Test
    @Tag("L77")
    void aFrozenLeaderIsReplacedBetweenTheLeasesEndAndOneMoreTry() {
        a.elector.start();
        time.advance(MOMENT);
        b.elector.start();
        time.advance(Duration.ofSeconds(20));
        Duration lastRenewal = Duration.ofSeconds(20);
        assertThat(b.heard).containsExactly("leader a");

        a.loop.freeze();
        time.advance(Duration.ofSeconds(30));

        assertThat(b.heard).containsExactly("leader a", "leader b", "started");
        // b read the last renewal up to 4.4 s after it was made.
        assertThat(b.startedAt.minus(lastRenewal)).isBetween(Duration.ofSeconds(15), Duration.ofMillis(19_400 + 4_400));
        assertThat(store.transitions()).isEqualTo(1);
        assertThat(store.spec().text("acquireTime")).isEqualTo(KubeTime.formatMicro(START.plus(b.startedAt)));
    }

    @Test
    @Tag("L77")
    void takeoverComesWithinOneTryOfTheEndSinceTheRenewalWasSeen() {
        a.elector.start();
        time.advance(MOMENT);
        b.elector.start();
        time.advance(Duration.ofSeconds(20));
        List<Duration> seen = new ArrayList<>();
        String[] before = {store.spec().text("renewTime")};
        b.answer(call -> {
            if (call.method().equals("GET") && !store.spec().text("renewTime").equals(before[0])) {
                before[0] = store.spec().text("renewTime");
                seen.add(time.elapsed());
            }
            return store.tryAnswer(call);
        });

        time.advance(Duration.ofSeconds(60));
        a.loop.freeze();
        Duration frozenAt = time.elapsed();
        time.advance(Duration.ofSeconds(30));

        Duration lastSeen = seen.stream()
                .filter(at -> at.compareTo(b.startedAt) < 0)
                .reduce((x, y) -> y)
                .orElseThrow();
        assertThat(lastSeen).isBetween(frozenAt.minusSeconds(5), frozenAt.plusSeconds(5));
        assertThat(b.startedAt.minus(lastSeen)).isBetween(Duration.ofSeconds(15), Duration.ofMillis(19_400));
    }

    @Test
    void aThawedLeaderKnowsImmediatelyThatItNoLongerLeads() {
        a.elector.start();
        time.advance(Duration.ofSeconds(3));
        a.loop.freeze();
        time.advance(Duration.ofSeconds(40));
        assertThat(a.elector.leads()).as("before any task of it ran").isFalse();
        assertThat(a.elector.healthy(a.loop.nanoTime()))
                .as("lease ended over 20 s ago")
                .isFalse();
        a.transport.clear();

        a.loop.thaw();
        time.advance(MOMENT);

        assertThat(a.heard).containsExactly("leader a", "started", "lost");
        assertThat(a.transport.log()).as("no write by one that lost").isEmpty();
        assertThat(a.events.getLast()).endsWith("Normal LeaderElection: a stopped leading");
        assertThat(a.elector.healthy(a.loop.nanoTime())).isTrue();
    }

    @Test
    void aLeaderIsCalledUnhealthyTwentySecondsAfterItsLeasesEnd() {
        a.elector.start();
        time.advance(MOMENT);
        a.loop.freeze();

        time.advance(Duration.ofSeconds(35).minus(MOMENT));
        assertThat(a.elector.healthy(a.loop.nanoTime())).isTrue();
        time.advance(MOMENT);
        assertThat(a.elector.healthy(a.loop.nanoTime())).isFalse();
    }

    @Test
    @Tag("L78")
    void aCandidateWithAClockAheadDoesNotTakeTheLease() {
        b.loop.skewWallClock(Duration.ofHours(1));
        a.elector.start();
        time.advance(MOMENT);
        b.elector.start();

        time.advance(Duration.ofMinutes(10));

        assertThat(store.holder()).isEqualTo("a");
        assertThat(b.heard).containsExactly("leader a");
        assertThat(b.transport.calls()).extracting(Call::method).containsOnly("GET");
    }

    @Test
    @Tag("L78")
    void aLeaderWhoseClockIsBehindAndJumpsBackKeepsItsLease() {
        a.loop.skewWallClock(Duration.ofHours(-1));
        a.elector.start();
        time.advance(MOMENT);
        b.elector.start();
        time.advance(Duration.ofMinutes(1));

        a.loop.skewWallClock(Duration.ofHours(-5));
        time.advance(Duration.ofMinutes(10));

        assertThat(store.holder()).isEqualTo("a");
        assertThat(b.heard).containsExactly("leader a");
    }

    @Test
    void aConflictIsResolvedByReadingTheLease() {
        a.elector.start();
        time.advance(MOMENT);
        a.transport.clear();

        store.edit(store.spec().with("strategy", "x"));
        time.advance(Duration.ofSeconds(2));

        assertThat(a.transport.calls()).extracting(Call::method).containsExactly("PUT", "GET", "PUT");
        assertThat(a.heard).containsExactly("leader a", "started", "slow path");
        assertThat(store.spec().text("strategy")).as("foreign fields stay").isEqualTo("x");
        assertThat(store.transitions()).isZero();
        assertThat(store.spec().text("acquireTime")).isEqualTo("2026-01-01T00:00:00.000000Z");
    }

    @Test
    void aLeaderThatFindsAnotherOneInTheLeaseStopsAtOnce() {
        a.elector.start();
        time.advance(MOMENT);

        store.edit(store.spec().with("holderIdentity", "c"));
        time.advance(Duration.ofSeconds(2));

        assertThat(a.heard).containsExactly("leader a", "started", "slow path", "lost");
        assertThat(store.holder()).isEqualTo("c");
    }

    @Test
    void aLeaderWhoseCallsFailGivesUpAtTheRenewDeadline() {
        a.elector.start();
        time.advance(Duration.ofSeconds(4).plus(MOMENT));

        a.answer(call -> Optional.of(FakeTransport.refusal(new ApiException(500, "InternalError", "etcd is away"))));
        time.advance(Duration.ofSeconds(20));

        assertThat(a.heard).startsWith("leader a", "started", "slow path").endsWith("lost");
        assertThat(a.stoppedAt).as("10 s after the renewal at 4 s").isEqualTo(Duration.ofSeconds(14));
    }

    @Test
    void aLeaderWhoseCallsHangGivesUpAtTheRenewDeadline() {
        a.elector.start();
        time.advance(Duration.ofSeconds(4).plus(MOMENT));

        a.answer(call -> Optional.empty());
        time.advance(Duration.ofSeconds(20));

        assertThat(a.heard).endsWith("lost");
        assertThat(a.stoppedAt).isEqualTo(Duration.ofSeconds(14));
    }

    @Test
    void aLostAnswerToARenewalIsNoHarm() {
        a.elector.start();
        time.advance(MOMENT);
        a.transport.clear();

        boolean[] lose = {true};
        a.answer(call -> {
            Reply reply = store.answer(call);
            if (lose[0]) {
                lose[0] = false;
                throw new TransportException("connection reset", null);
            }
            return Optional.of(reply);
        });
        time.advance(Duration.ofSeconds(4));

        assertThat(a.transport.calls()).extracting(Call::method).containsExactly("PUT", "GET", "PUT", "PUT");
        assertThat(a.elector.leads()).isTrue();
        assertThat(store.transitions()).isZero();
    }

    @Test
    void aCandidateFindsThatItWonByAWriteWhoseAnswerWasLost() {
        boolean[] lose = {true};
        a.answer(call -> {
            Reply reply = store.answer(call);
            if (lose[0] && call.method().equals("POST")) {
                lose[0] = false;
                return Optional.empty();
            }
            return Optional.of(reply);
        });
        a.elector.start();
        time.advance(Duration.ofSeconds(1));
        assertThat(store.holder()).isEqualTo("a");
        assertThat(a.elector.leads()).as("it does not know yet").isFalse();

        time.advance(Duration.ofSeconds(5 + 5));

        assertThat(a.elector.leads()).isTrue();
        assertThat(store.transitions()).isZero();
    }

    @Test
    void twoCandidatesThatMakeTheLeaseTogetherHaveOneLeader() {
        a.elector.start();
        b.elector.start();
        time.advance(Duration.ofSeconds(5));

        assertThat(a.elector.leads()).isTrue();
        assertThat(b.elector.leads()).isFalse();
        assertThat(b.heard).containsExactly("leader a");
    }

    @Test
    void theLeasesOwnDurationCountsAndNotThatOfTheConfiguration() {
        a.elector.start();
        time.advance(MOMENT);
        a.loop.freeze();
        store.edit(store.spec().with("leaseDurationSeconds", JsonNumber.of(60)));
        b.elector.start();

        time.advance(Duration.ofSeconds(59));
        assertThat(b.elector.leads()).isFalse();
        time.advance(Duration.ofSeconds(6));
        assertThat(b.elector.leads()).isTrue();
    }

    @Test
    void aStoppedLeaderGivesTheLeaseBackAndTheNextTakesItWithItsNextTry() {
        a.elector.start();
        time.advance(MOMENT);
        b.elector.start();
        time.advance(Duration.ofSeconds(10));
        Duration stoppedAt = time.elapsed();

        CompletableFuture<Void> stopped = a.elector.stop();
        time.advance(MOMENT);

        assertThat(stopped).isCompleted();
        assertThat(a.heard).containsExactly("leader a", "started", "stopped");
        assertThat(store.holder()).isEmpty();
        assertThat(store.spec().number("leaseDurationSeconds")).contains(1L);
        time.advance(Duration.ofSeconds(10));
        assertThat(b.startedAt.minus(stoppedAt)).isLessThan(Duration.ofMillis(4_400));
        assertThat(store.transitions()).isEqualTo(1);
    }

    @Test
    void withoutReleaseTheLeaseRunsOutAsInKubernetes() {
        Candidate reference = new Candidate(
                "r",
                new LeaderElectionConfig(
                        Duration.ofSeconds(15),
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(2),
                        "kube-system",
                        "kube-controller-manager",
                        false));
        reference.elector.start();
        time.advance(MOMENT);
        b.elector.start();
        time.advance(Duration.ofSeconds(10));
        Duration stoppedAt = time.elapsed();

        CompletableFuture<Void> stopped = reference.elector.stop();
        time.advance(Duration.ofSeconds(30));

        assertThat(stopped).isCompleted();
        assertThat(b.startedAt.minus(stoppedAt)).isGreaterThan(Duration.ofSeconds(13));
    }

    @Test
    void aCandidateThatIsStoppedDuringItsWinningTryGivesTheLeaseBack() {
        a.answer(call -> call.method().equals("POST") ? Optional.empty() : store.tryAnswer(call));
        a.elector.start();
        time.advance(MOMENT);
        // The POST arrives, its answer never does.
        store.answer(a.transport.calls().getLast());

        CompletableFuture<Void> stopped = a.elector.stop();
        time.advance(Duration.ofSeconds(6));

        assertThat(stopped).isCompleted();
        assertThat(a.heard).isEmpty();
        assertThat(store.holder()).isEmpty();
    }

    @Test
    void callsHaveHalfOfTheRenewDeadlineAndAtLeastASecond() {
        assertThat(LeaderElectionConfig.defaults().callTimeout()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config(3_000, 1_500, 1_000).callTimeout()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    @Tag("L77")
    void contradictoryTimesAreRejectedInClientGosWords() {
        assertThat(LeaderElectionConfig.defaults().faults()).isEmpty();
        assertThat(config(15_000, 10_000, 8_400).faults())
                .containsExactly("renewDeadline must be greater than retryPeriod*JitterFactor");
        assertThat(config(10_000, 10_000, 2_000).faults())
                .containsExactly("leaseDuration must be greater than renewDeadline");
        assertThat(config(15_000, 10_000, 0).faults()).containsExactly("retryPeriod must be greater than zero");
        assertThatThrownBy(() -> new Candidate("x", config(15_000, 10_000, 8_400)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("renewDeadline must be greater than retryPeriod*JitterFactor");
        assertThatThrownBy(() -> new Candidate("", LeaderElectionConfig.defaults()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the identity of a candidate must not be empty");
    }

    @Test
    void aFractionOfASecondIsWrittenRoundedUp() {
        new Candidate("f", config(15_200, 10_000, 2_000)).elector.start();
        time.advance(MOMENT);

        assertThat(store.spec().number("leaseDurationSeconds")).contains(16L);
    }

    private static LeaderElectionConfig config(long lease, long renew, long retry) {
        return new LeaderElectionConfig(
                Duration.ofMillis(lease),
                Duration.ofMillis(renew),
                Duration.ofMillis(retry),
                "kube-system",
                "kcm",
                true);
    }
}
