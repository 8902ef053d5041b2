package io.nodekeeper.controller.canary;

import static io.nodekeeper.controller.observer.ProofKind.LIST;
import static io.nodekeeper.controller.observer.ProofKind.RENEWALS;
import static io.nodekeeper.controller.observer.ProofKind.WATCH;
import static io.nodekeeper.controller.observer.ProofKind.WRITES;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.heartbeats.NodeStates;
import io.nodekeeper.controller.heartbeats.Signal;
import io.nodekeeper.controller.observer.CanaryLease;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.ProofKind;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Which leases are read while the controller is blind, and what they prove. Canaries are sent at 0, 1, 2, ... s and
 * never return through the watch, so the controller is blind from the tick at 4 s on. The tolerance is 3 s, the grace
 * 50 s.
 */
@Tag("W1")
class LeasePollsTest {
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String FIRST_PAGE = "GET " + LEASES + "?limit=500";
    private static final long SECOND = 1_000_000_000L;

    /** Counts the proofs that the canary reported, and the times that polls asked waiting nodes to check again. */
    private int proven;

    private int looked;

    private final VirtualTime time = new VirtualTime(START);
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final FakeTransport server = new FakeTransport();
    private final KubeClient client = new KubeClient(server, loop, Duration.ofSeconds(2));
    private final ObserverGuard guard = ObserverGuard.watching(Duration.ofSeconds(1), Duration.ofSeconds(3));
    private final Heartbeats heartbeats = new Heartbeats(ControllerConfig.DEFAULT, guard, new DeadlineWheel<>());
    private final Canary canary = new Canary(
            client,
            guard,
            Duration.ofSeconds(1),
            "nodekeeper-1",
            true,
            loop::nanoTime,
            new Canary.SeenLeases() {
                @Override
                public Optional<String> any() {
                    return Optional.empty();
                }

                @Override
                public long version(String lease) {
                    return 0;
                }
            },
            event -> {
                if (event instanceof Canary.Event.Proven) {
                    proven++;
                } else if (event instanceof Canary.Event.Ticked) {
                    polls().ticked();
                }
            });
    private final LeasePolls polls = new LeasePolls(
            client,
            ControllerConfig.DEFAULT,
            guard,
            canary,
            heartbeats,
            new NodeStates() {
                @Override
                public void saw(NodeHealth health, Node node, Heartbeats.Source source) {
                    heartbeats.saw(health, node, source, loop.nanoTime());
                }

                @Override
                public void saw(Lease lease, Heartbeats.Source source) {
                    heartbeats.saw(lease, source, loop.nanoTime());
                }
            },
            Randoms.seeded(1),
            loop::nanoTime,
            () -> looked++);
    /** What the server has, by name. */
    private final Map<String, JsonObject> stored = new TreeMap<>();
    /** Answers instead of the server. */
    private Function<Call, Optional<Reply>> instead = call -> Optional.empty();

    private boolean hung;

    private LeasePolls polls() {
        return polls;
    }

    @BeforeEach
    void serve() {
        server.answer(call -> {
            Optional<Reply> other = instead.apply(call);
            if (other.isPresent() || hung && call.target().startsWith(LEASES + "?")) {
                return other;
            }
            if (call.method().equals("PATCH")) {
                return refusal(403);
            }
            if (call.target().startsWith(LEASES + "?")) {
                return ok(list(List.copyOf(stored.values()), ""));
            }
            if (call.target().startsWith(LEASES + "/")) {
                JsonObject lease = stored.get(call.target().substring(LEASES.length() + 1));
                return lease == null ? refusal(404) : ok(lease);
            }
            return ok(JsonObject.EMPTY);
        });
    }

    // When.

    @Test
    void leasesAreListedOnlyWhileTheControllerIsBlindAndEveryTwoSeconds() {
        begin();
        advance(3_900);
        assertThat(lists()).isEmpty();

        advance(100);
        assertThat(lists()).containsExactly(FIRST_PAGE);
        advance(1_900);
        assertThat(lists()).hasSize(1);
        advance(100);
        assertThat(lists()).hasSize(2);
        advance(4_000);
        assertThat(lists()).hasSize(4);
        assertThat(looked).isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource({"5000, 4", "5001, 3", "10000, 2", "10001, 2"})
    void noMoreThan2500LeasesASecondAreListed(int leases, int listsFrom4To10) {
        for (int i = 0; i < leases; i++) {
            stored.put("n" + i, lease("n" + i, 1));
        }
        begin();
        advance(10_900);

        assertThat(lists()).hasSize(listsFrom4To10);
    }

    @Test
    void onlyOneListIsUnderWayAndAFailedOneIsRepeated() {
        hung = true;
        begin();
        // The first one fails at 14 s, after the deadline of a page.
        advance(14_900);
        assertThat(lists()).hasSize(1);

        advance(100);
        assertThat(lists()).hasSize(2);
        hung = false;
        advance(11_000);
        assertThat(lists()).hasSize(3);
        assertThat(looked).isEqualTo(1);
    }

    @Test
    void nothingIsReadOnceItIsStopped() {
        begin();
        advance(3_000);

        polls.stop();
        advance(10_000);

        assertThat(lists()).isEmpty();
    }

    @Test
    void listThatIsUnderWayWhenItIsStoppedIsNotFinished() {
        node("a", 1);
        stored.put("a", lease("a", 2));
        instead = call -> {
            if (!call.target().startsWith(LEASES + "?")) {
                return Optional.empty();
            }
            polls.stop();
            return ok(list(List.copyOf(stored.values()), "more"));
        };
        begin();
        advance(10_000);

        assertThat(lists()).containsExactly(FIRST_PAGE);
        assertThat(looked).isZero();
        assertThat(heartbeats.leaseVersion("a")).isEqualTo(1);
    }

    // What is read.

    @Test
    void listIsReadInPagesAndAllOfThemCount() {
        node("a", 1);
        node("b", 1);
        instead = call -> !call.target().startsWith(LEASES + "?")
                ? Optional.empty()
                : ok(
                        call.target().endsWith("limit=500")
                                ? list(List.of(lease("a", 2)), "a/b+c=")
                                : list(List.of(lease("b", 3)), ""));
        begin();
        advance(4_000);

        assertThat(lists()).containsExactly(FIRST_PAGE, FIRST_PAGE + "&continue=a%2Fb%2Bc%3D");
        assertThat(heartbeats.leaseVersion("a")).isEqualTo(2);
        assertThat(heartbeats.leaseVersion("b")).isEqualTo(3);
        assertThat(looked).isEqualTo(1);
    }

    @Test
    void renewalInAListIsAHeartbeatAndAnOlderVersionIsNot() {
        NodeHealth renewed = node("a", 5);
        NodeHealth older = node("b", 5);
        stored.put("a", lease("a", 6));
        stored.put("b", lease("b", 4));
        begin();
        advance(4_000);

        assertThat(renewed.signal()).isEqualTo(Signal.LEASE);
        assertThat(renewed.arrivedAt()).isEqualTo(4 * SECOND);
        assertThat(older.signal()).isEqualTo(Signal.FIRST_SIGHT);
        assertThat(older.leaseVersion()).isEqualTo(5);
    }

    @Test
    void signThatTheListShowsCountsFromAClockThatRunsAgain() {
        NodeHealth health = node("a", 1);
        stored.put("a", lease("a", 2));
        begin();
        advance(4_000);

        assertThat(health.heardAt()).as("1 s of 4 s is given back").isEqualTo(3 * SECOND);
    }

    @Test
    void sampleOfSixteenLeasesAndTheCanaryAreReadWhereListsAreForbidden() {
        for (int i = 0; i < 20; i++) {
            node("n" + i, 1);
            stored.put("n" + i, lease("n" + i, 2));
        }
        instead = call -> call.target().startsWith(LEASES + "?") ? refusal(403) : Optional.empty();
        begin();
        advance(4_000);

        assertThat(reads()).hasSize(17).doesNotHaveDuplicates().contains("GET " + LEASES + "/nodekeeper-canary");
        assertThat(guard.means()).as("the canary's lease is not there").isEqualTo(RENEWALS);
        assertThat(looked).isEqualTo(1);
    }

    @Test
    void sampleWithoutASingleLeaseShowsNothing() {
        node("a", 1);
        instead = call -> call.target().startsWith(LEASES + "?") ? refusal(403) : Optional.empty();
        begin();
        polls.wrote(7 * SECOND / 2, 7 * SECOND / 2, 2 * SECOND);
        advance(4_500);

        assertThat(reads()).hasSize(2);
        assertThat(looked).isZero();
        assertThat(polls.size())
                .as("the other write is kept for a reading that succeeds")
                .isEqualTo(1);
    }

    @Test
    void pagesBeforeARefusedOneDoNotCountBesideTheSample() {
        // Given the renewals of both nodes on the first page, and reads of a server that lags.
        node("a", 5);
        node("b", 5);
        stored.put("a", lease("a", 5));
        stored.put("b", lease("b", 5));
        instead = call -> {
            if (call.target().contains("&continue=")) {
                return refusal(410);
            }
            return call.target().startsWith(LEASES + "?")
                    ? ok(list(List.of(lease("a", 6), lease("b", 6)), "more"))
                    : Optional.empty();
        };
        begin();
        advance(4_000);

        assertThat(looked).isEqualTo(1);
        assertThat(guard.means()).isEqualTo(WATCH);
    }

    @Test
    void serverThatIsAwayIsNotAskedForASample() {
        node("a", 1);
        instead = call -> {
            if (call.target().startsWith(LEASES + "?")) {
                throw new TransportException("connection refused", null);
            }
            return Optional.empty();
        };
        begin();
        advance(4_000);

        assertThat(lists()).hasSize(1);
        assertThat(reads()).isEmpty();
    }

    // What is proven.

    @ParameterizedTest
    @CsvSource({
        "4, 2, RENEWALS",
        "4, 1, WATCH",
        "3, 2, RENEWALS",
        "3, 1, WATCH",
        "1, 1, RENEWALS",
        "1, 0, WATCH",
        "0, 0, WATCH"
    })
    void renewalsOfAtLeastHalfOfTheNodesProveThatWritesEnd(int nodes, int renewed, ProofKind means) {
        for (int i = 0; i < nodes; i++) {
            node("n" + i, 5);
            stored.put("n" + i, lease("n" + i, i < renewed ? 6 : 5));
        }
        begin();
        advance(4_000);

        assertThat(guard.means()).isEqualTo(means);
        assertThat(looked).isEqualTo(1);
    }

    @Test
    void nodesThatAreUnknownHaveNoVote() {
        for (String name : List.of("a", "b", "c", "d")) {
            node(name, 5, name.compareTo("b") > 0 ? "Unknown" : "True");
            stored.put(name, lease(name, name.equals("a") ? 6 : 5));
        }
        begin();
        advance(4_000);

        assertThat(guard.means()).isEqualTo(RENEWALS);
    }

    @Test
    void leasesThatWereNotKnownAndLeasesWithoutANodeHaveNoVote() {
        for (String name : List.of("a", "b")) {
            node(name, 5);
            stored.put(name, lease(name, 5));
        }
        // Given a node whose lease is new, and leases of no node.
        heartbeats.add(node("c"), 0, Duration.ZERO);
        stored.put("c", lease("c", 9));
        stored.put("d", lease("d", 9));
        stored.put("e", lease("e", 9));
        begin();
        advance(4_000);

        assertThat(guard.means()).isEqualTo(WATCH);
    }

    @Test
    void nodeThatRenewedWithinHalfItsGraceCountsEvenIfTheListIsNotNewer() {
        NodeHealth health = node("a", 5);
        stored.put("a", lease("a", 6));
        begin();
        advance(1_000);
        heartbeats.saw(new Lease(lease("a", 6)), Heartbeats.Source.LATE, SECOND);
        assertThat(health.signal()).isEqualTo(Signal.LEASE);

        // Lists at 4, 6, ..., 26 s: the last one is 25 s after the renewal. 1 s is given back, 6 s are asked for on
        // top.
        advance(25_500);
        assertThat(guard.proves(19 * SECOND - 1)).isTrue();
        advance(10_000);

        assertThat(guard.proves(19 * SECOND)).isFalse();
        assertThat(lists()).hasSizeGreaterThan(15);
    }

    @Test
    void statusThatWasPostedRecentlyIsNoRenewal() {
        NodeHealth health = node("a", 5);
        stored.put("a", lease("a", 5));
        begin();
        advance(3_000);
        heartbeats.saw(health, node("a", "False"), Heartbeats.Source.LIVE, 3 * SECOND);
        assertThat(health.signal()).isEqualTo(Signal.STATUS);

        advance(1_000);

        assertThat(guard.means()).isEqualTo(WATCH);
    }

    @Test
    void canaryThatWasWrittenInTimeProvesByTheList() {
        instead = call -> call.method().equals("PATCH") ? stored(call) : Optional.empty();
        begin();
        advance(4_000);

        assertThat(guard.means()).isEqualTo(LIST);
        assertThat(proven).isEqualTo(1);
        assertThat(heartbeats.sizes()).as("it is no node's lease").containsEntry("nodes and leases", 0);
    }

    @Test
    void otherWriteOfThisProcessBeforeTheListProvesThatWritesEnd() {
        otherWriteAtThreeAndAHalfSeconds(2 * SECOND);
        assertThat(polls.size()).isEqualTo(1);
        advance(300);

        assertThat(guard.means()).isEqualTo(WRITES);
        assertThat(polls.size()).isZero();
        assertThat(guard.nodeTime(100 * SECOND))
                .as("runs on for 3 s after 3.5 s, less 0.5 s that are given back")
                .isEqualTo(6 * SECOND);
    }

    @Test
    void otherWritesReachAsFarAsTheirUsualTimeApart() {
        otherWriteAtThreeAndAHalfSeconds(10 * SECOND);
        advance(300);

        assertThat(guard.nodeTime(100 * SECOND))
                .as("15 s after 3.5 s, less 0.5 s")
                .isEqualTo(18 * SECOND);
    }

    @Test
    void renewalsAndOtherWritesReachAsFarAsTheNextList() {
        for (int i = 0; i < 10_000; i++) {
            stored.put("n" + i, lease("n" + i, 5));
        }
        otherWriteAtThreeAndAHalfSeconds(2 * SECOND);
        advance(300);
        assertThat(guard.nodeTime(100 * SECOND))
                .as("4 s between lists: 6 s after 3.5 s, less 0.5 s")
                .isEqualTo(9 * SECOND);
        node("n0", 4);
        advance(4_000);

        assertThat(guard.means()).isEqualTo(RENEWALS);
        assertThat(guard.nodeTime(100 * SECOND)).as("6 s after 8 s, less 0.5 s").isEqualTo(27 * SECOND / 2);
    }

    @Test
    void otherWriteThatWasSentAfterTheListBeganWaitsForTheNextOne() {
        instead = call -> {
            if (call.target().startsWith(LEASES + "?") && loop.nanoTime() == 4 * SECOND) {
                polls.wrote(4 * SECOND, 4 * SECOND, 2 * SECOND);
                polls.wrote(4 * SECOND + 1, 4 * SECOND + 1, 2 * SECOND);
            }
            return Optional.empty();
        };
        begin();
        advance(4_000);
        assertThat(guard.means()).isEqualTo(WRITES);
        assertThat(polls.size()).isEqualTo(1);

        advance(2_000);
        assertThat(polls.size()).isZero();
    }

    @Test
    void otherWriteThatTookLongerThanTheToleranceIsNotRemembered() {
        polls.wrote(0, 3 * SECOND + 1, 2 * SECOND);
        assertThat(polls.size()).isZero();

        polls.wrote(0, 3 * SECOND, 2 * SECOND);
        assertThat(polls.size()).isEqualTo(1);
    }

    @Test
    void renewalsOfNodesAreABetterProofThanOtherWrites() {
        node("a", 5);
        stored.put("a", lease("a", 6));
        otherWriteAtThreeAndAHalfSeconds(2 * SECOND);
        advance(300);

        assertThat(guard.means()).isEqualTo(RENEWALS);
    }

    // Helpers.

    /** Begins, and advances to 3.7 s: this process wrote another lease at 3.5 s, which it does every {@code period}. */
    private void otherWriteAtThreeAndAHalfSeconds(long period) {
        begin();
        advance(3_700);
        polls.wrote(7 * SECOND / 2, 7 * SECOND / 2 + 1, period);
    }

    private void begin() {
        canary.start();
        canary.begin();
    }

    private void advance(long millis) {
        time.advance(Duration.ofMillis(millis));
    }

    private List<String> lists() {
        return calls(LEASES + "?");
    }

    private List<String> reads() {
        return calls(LEASES + "/");
    }

    private List<String> calls(String target) {
        List<String> found = new ArrayList<>(server.log());
        found.removeIf(call -> !call.startsWith("GET " + target));
        return found;
    }

    /** A node whose lease was seen before it, so that no renewal of it was seen yet. */
    private NodeHealth node(String name, int leaseVersion) {
        return node(name, leaseVersion, "True");
    }

    private NodeHealth node(String name, int leaseVersion, String ready) {
        heartbeats.saw(new Lease(lease(name, leaseVersion)), Heartbeats.Source.LIVE, 0);
        return heartbeats.add(node(name, ready), loop.nanoTime(), Duration.ZERO);
    }

    private static Node node(String name) {
        return node(name, "True");
    }

    private static Node node(String name, String ready) {
        JsonObject metadata =
                JsonObject.EMPTY.with("name", name).with("uid", name + "-uid").with("resourceVersion", "1");
        return new Node(JsonObject.EMPTY.with("metadata", metadata))
                .withConditions(List.of(Condition.of("Ready", ready, "Kubelet", "says so", START, START)));
    }

    /** Each version has a time of its own. */
    private static JsonObject lease(String name, int version) {
        return JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.EMPTY.with("name", name).with("resourceVersion", Integer.toString(version)))
                .with(
                        "spec",
                        JsonObject.EMPTY
                                .with("holderIdentity", name)
                                .with("renewTime", KubeTime.formatMicro(START.plusSeconds(version))));
    }

    /** The canary is stored, and the watch does not tell of it. */
    private Optional<Reply> stored(Call call) {
        stored.put(
                CanaryLease.NAME,
                Json.parseObject(call.body()).update("metadata", metadata -> metadata.with("name", CanaryLease.NAME)));
        return ok(JsonObject.EMPTY);
    }

    private static JsonObject list(List<JsonObject> items, String more) {
        return JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("continue", more))
                .with("items", new JsonArray(List.copyOf(items)));
    }

    private static Optional<Reply> ok(JsonObject body) {
        return Optional.of(FakeTransport.reply(200, body));
    }

    private static Optional<Reply> refusal(int code) {
        return Optional.of(FakeTransport.refusal(new ApiException(code, "Refused", "no")));
    }
}
