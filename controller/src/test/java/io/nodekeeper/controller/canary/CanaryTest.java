package io.nodekeeper.controller.canary;

import static io.nodekeeper.controller.observer.ProofKind.LIST;
import static io.nodekeeper.controller.observer.ProofKind.RENEWALS;
import static io.nodekeeper.controller.observer.ProofKind.WATCH;
import static io.nodekeeper.controller.observer.ProofKind.WRITES;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.observer.CanaryLease;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.ProofKind;
import io.nodekeeper.controller.observer.StalledHop;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * When canaries are sent, what they contain, and what their responses and events prove. The period is 1 s, the
 * tolerance 3 s.
 */
@Tag("W1")
class CanaryTest {
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String PATCH = "PATCH " + LEASES + "/nodekeeper-canary";
    private static final String CREATE = "POST " + LEASES;
    private static final String IDENTITY = "nodekeeper-1";

    private final VirtualTime time = new VirtualTime(Instant.parse("2020-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final FakeTransport server = new FakeTransport();
    private final ObserverGuard guard = ObserverGuard.watching(Duration.ofSeconds(1), Duration.ofSeconds(3));
    private final List<String> events = new ArrayList<>();
    private Canary canary = canary(true);
    private Optional<String> anyLease = Optional.empty();
    private long versionSeen;

    private Canary canary(boolean mayWrite) {
        return new Canary(
                new KubeClient(server, loop, Duration.ofSeconds(10)),
                guard,
                Duration.ofSeconds(1),
                IDENTITY,
                mayWrite,
                loop::nanoTime,
                new Canary.SeenLeases() {
                    @Override
                    public Optional<String> any() {
                        return anyLease;
                    }

                    @Override
                    public long version(String lease) {
                        return versionSeen;
                    }
                },
                this::record);
    }

    private void record(Canary.Event event) {
        events.add(
                switch (event) {
                    case Canary.Event.Proven proven -> "proven";
                    case Canary.Event.SightChanged changed ->
                        changed.change().getClass().getSimpleName();
                    case Canary.Event.Took(Hop hop, long nanos) -> hop + " " + nanos / 1_000_000 + " ms";
                    case Canary.Event.Ticked ticked -> "ticked";
                });
    }

    // Sending.

    @Test
    void canaryIsSentAtOnceAndThenEveryPeriod() {
        answer(call -> ok());

        canary.start();
        advance("2.5S");
        assertThat(server.log()).as("before the leases are followed").containsOnly("GET /version");
        server.clear();
        canary.begin();
        advance("0S");
        assertThat(server.log()).containsExactly(PATCH);
        advance("3S");

        assertThat(server.log()).filteredOn(PATCH::equals).hasSize(4);
    }

    @Test
    void leaseThatIsWrittenNamesItsWriterItsNumberAndTheConditionOfSight() {
        answer(call -> ok());
        canary.condition("{\"type\":\"ObserverSees\"}");
        begin();
        advance("1S");

        Call second = server.calls().getLast();
        assertThat(second.contentType()).isEqualTo("application/merge-patch+json");
        assertThat(Json.parseObject(second.body()).toString())
                .isEqualTo("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                        + "\"labels\":{\"nodekeeper.io/canary\":\"true\"},\"annotations\":{"
                        + "\"nodekeeper.io/canary-sequence\":\"2\","
                        + "\"nodekeeper.io/sight\":\"{\\\"type\\\":\\\"ObserverSees\\\"}\"}},\"spec\":{"
                        + "\"holderIdentity\":\"nodekeeper-1\",\"renewTime\":\"2020-01-01T00:00:01.000000Z\"}}");
    }

    @Test
    void leaseThatIsNotThereIsCreatedUnderItsName() {
        answer(call -> call.method().equals("PATCH") ? refusal(404, "NotFound", "no such lease") : ok());

        begin();
        advance("0S");

        assertThat(server.log()).containsExactly(PATCH, CREATE);
        JsonObject metadata = Json.parseObject(server.calls().getLast().body()).object("metadata");
        assertThat(metadata.text("name")).isEqualTo("nodekeeper-canary");
        assertThat(metadata.text("namespace")).isEqualTo("kube-node-lease");
        assertThat(metadata.object("annotations").text("nodekeeper.io/canary-sequence"))
                .isEqualTo("1");
        assertThat(events).contains("CANARY_WRITE 0 ms");
    }

    @Test
    void leaseIsNotCreatedAfterAnotherFailure() {
        answer(call -> refusal(403, "Forbidden", "no"));

        begin();
        advance("0S");

        assertThat(server.log()).containsExactly(PATCH);
    }

    @Test
    void noMoreThanThreeAreUnderWayAndThoseThatFailedMakeRoom() {
        hang();
        begin();

        // Each fails after the deadline of a call, 2 s.
        advance("1.9S");
        assertThat(sent()).isEqualTo(2);
        canary.demand(1_100_000_000);
        advance("0S");
        assertThat(sent()).isEqualTo(3);
        advance("0.05S");
        canary.demand(loop.nanoTime() - 1);
        assertThat(sent()).as("a fourth one has to wait").isEqualTo(3);
        advance("0.1S");
        assertThat(sent()).as("until the first one has failed, at 2 s").isEqualTo(4);
        advance("1.95S");

        assertThat(sent()).as("at 4 s, when two more had failed").isEqualTo(5);
    }

    @Test
    void proofThatIsWantedIsAskedForOnceItsMomentHasPassed() {
        answer(call -> ok());
        canary.start();
        canary.demand(-1);
        assertThat(server.log()).as("not before the leases are followed").isEmpty();
        canary.begin();
        advance("0.5S");
        long sentAt = 0;
        long now = 500_000_000;
        assertThat(sent()).isEqualTo(1);

        canary.demand(sentAt - 1);
        assertThat(sent()).as("the last one was sent after that").isEqualTo(1);
        canary.demand(now);
        assertThat(sent()).as("that has not passed yet").isEqualTo(1);
        canary.demand(now - 1);
        assertThat(sent()).isEqualTo(2);
        canary.demand(now - 1);
        assertThat(sent()).as("the last one was sent after that").isEqualTo(2);

        advance("0.1S");
        canary.demand(now);
        assertThat(sent())
                .as("the last one was sent at that moment, so it proves less")
                .isEqualTo(3);
    }

    @Test
    void nothingIsSentOnceItIsStopped() {
        answer(call -> ok());
        begin();
        advance("0.5S");

        canary.stop();
        canary.demand(loop.nanoTime() - 1);
        long executed = time.executed();
        advance("3600S");

        assertThat(sent()).isEqualTo(1);
        assertThat(time.executed()).as("no timer is left").isEqualTo(executed);
        assertThat(events).doesNotContain("Blind");
    }

    @Test
    void canaryThatIsStoppedBeforeItBeginsSendsNothing() {
        canary.stop();
        canary.begin();
        advance("10S");

        assertThat(server.log()).isEmpty();
    }

    @Test
    void everyPeriodAndBlindnessAreReported() {
        hang();
        begin();
        advance("4S");

        assertThat(events).containsExactly("ticked", "ticked", "ticked", "ticked", "Blind", "ticked");
    }

    @Test
    void serverIsAskedForItsVersionWhileCanariesAreLate() {
        answer(call -> ok());
        begin();
        advance("1S");
        assertThat(server.log()).doesNotContain("GET /version");
        advance("1S");
        assertThat(server.log()).filteredOn("GET /version"::equals).hasSize(1);
        advance("2S");

        // The server answers it, so it is not the one that stalls.
        assertThat(server.log()).filteredOn("GET /version"::equals).hasSize(3);
    }

    @Test
    void canaryThatIsAPeriodAndAHalfOldIsNotLateYet() {
        answer(call -> ok());
        begin();
        advance("0.5S");
        canary.demand(loop.nanoTime() - 1);
        advance("0.5S");
        // Given the canary that was sent at 0.5 s, which is seen at 1 s.
        see(2, WATCH);
        server.clear();
        advance("1S");
        assertThat(server.log()).as("at 2 s it is 1.5 s old").containsExactly(PATCH);

        advance("1S");
        assertThat(server.log()).as("at 3 s it is 2.5 s old").contains("GET /version");
    }

    @Test
    void answerToTheProbeDistinguishesAStalledStoreFromADeadServer() {
        answer(call -> call.target().equals("/version") ? ok() : Optional.empty());
        begin();
        advance("10S");
        assertThat(guard.hop()).isEqualTo(StalledHop.STORE);

        server.answer(call -> {
            throw new TransportException("connection refused", null);
        });
        advance("10S");
        assertThat(guard.hop()).isEqualTo(StalledHop.API_SERVER);
    }

    // Seeing.

    @Test
    void otherLeasesAreNoCanary() {
        assertThat(canary.saw(lease("node-1", IDENTITY, "1"), WATCH)).isFalse();
    }

    @Test
    void canaryOfAnotherProcessOrOfANumberThatWasNeverSentProvesNothing() {
        answer(call -> ok());
        begin();
        advance("0.2S");
        events.clear();

        assertThat(canary.saw(lease(CanaryLease.NAME, "nodekeeper-2", "1"), WATCH))
                .isTrue();
        assertThat(canary.saw(lease(CanaryLease.NAME, IDENTITY, "7"), WATCH)).isTrue();
        assertThat(canary.saw(lease(CanaryLease.NAME, IDENTITY, "one"), WATCH)).isTrue();
        assertThat(canary.saw(
                        new Lease(JsonObject.EMPTY.with("metadata", JsonObject.EMPTY.with("name", CanaryLease.NAME))),
                        WATCH))
                .isTrue();
        canary.settle();

        assertThat(events).isEmpty();
        assertThat(guard.canaryAge(loop.nanoTime())).isEqualTo(200_000_000);
        assertThat(canary.size()).isEqualTo(1);
    }

    @Test
    void canaryThatTheWatchDeliversProvesSightOnceAndIsForgotten() {
        answer(call -> ok());
        begin();
        advance("0.3S");
        events.clear();

        see(1, WATCH);

        assertThat(events).containsExactly("CANARY_ROUND_TRIP 300 ms", "proven");
        assertThat(canary.size()).isZero();
        see(1, WATCH);
        canary.settle();
        assertThat(events).hasSize(2);
    }

    @Test
    void canaryThatAListShowsIsKeptForTheWatch() {
        answer(call -> ok());
        begin();
        advance("4.5S");
        events.clear();

        see(5, LIST);

        assertThat(events).containsExactly("proven");
        assertThat(canary.size()).isEqualTo(5);
        assertThat(guard.means()).isEqualTo(LIST);
        see(5, WATCH);
        assertThat(events).contains("CANARY_ROUND_TRIP 500 ms", "Sees");
        assertThat(canary.size()).isZero();
    }

    @Test
    void canaryProvesThoseThatWereWrittenInTimeBeforeItAndLeavesLaterOnes() {
        answer(call -> ok());
        begin();
        advance("2.5S");
        events.clear();

        see(2, WATCH);

        assertThat(events).containsExactly("CANARY_ROUND_TRIP 2500 ms", "CANARY_ROUND_TRIP 1500 ms", "proven");
        assertThat(canary.size()).isEqualTo(1);
        assertThat(guard.canaryAge(loop.nanoTime())).isEqualTo(1_500_000_000);
    }

    @Test
    void earlierCanaryWhoseWriteIsNotKnownToHaveEndedIsNotProvenByALaterOne() {
        hang();
        begin();
        advance("0.5S");
        answer(call -> ok());
        advance("1S");
        events.clear();

        see(2, WATCH);

        assertThat(events).containsExactly("CANARY_ROUND_TRIP 500 ms", "proven");
        assertThat(canary.size()).as("neither will come out of the watch again").isZero();
    }

    @ParameterizedTest
    @CsvSource({"3000, LIST", "3001, WATCH"})
    void writeThatTookNoLongerThanTheToleranceIsAProofHoweverLateItIsSeen(long millis, ProofKind means) {
        answer(call -> ok());
        begin();
        advance("0.5S");
        events.clear();
        // Given a second canary at 0.5 s, whose answer waits while this process stands still.
        canary.demand(loop.nanoTime() - 1);
        loop.freeze();
        advance(millis + "MS");
        hang();
        loop.thaw();
        advance("0S");
        assertThat(events).contains("CANARY_WRITE " + millis + " ms");

        advance("20S");
        see(2, LIST);

        assertThat(guard.means()).isEqualTo(means);
    }

    @Test
    void noMoreThan256SendingsAreRemembered() {
        hang();
        begin();
        advance("600S");

        assertThat(canary.size()).isEqualTo(256);
    }

    // Refusals.

    /** The words are those of Kubernetes' API server. */
    @ParameterizedTest(name = "{0} {1}: {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                // No right, a full quota or a namespace that ends: canaries alone are concerned, as nodes' leases are
                // there.
                "403 | Forbidden | leases.coordination.k8s.io \"nodekeeper-canary\" is forbidden: User \"me\" cannot"
                        + " patch resource \"leases\" in API group \"coordination.k8s.io\" in the namespace"
                        + " \"kube-node-lease\" | false",
                "403 | Forbidden | leases.coordination.k8s.io \"nodekeeper-canary\" is forbidden: exceeded quota:"
                        + " leases, requested: count/leases.coordination.k8s.io=1, used:"
                        + " count/leases.coordination.k8s.io=10, limited: count/leases.coordination.k8s.io=10 | false",
                "403 | Forbidden | leases.coordination.k8s.io \"nodekeeper-canary\" is forbidden: unable to create new"
                        + " content in namespace kube-node-lease because it is being terminated | false",
                "400 | BadRequest | the body of the request was in an unknown format | false",
                "401 | Unauthorized | Unauthorized | false",
                "409 | Conflict | the object has been modified; please apply your changes to the latest version |"
                        + " false",
                "413 | RequestEntityTooLarge | limit is 3145728 | false",
                "422 | Invalid | Lease.coordination.k8s.io \"nodekeeper-canary\" is invalid: spec: Invalid value |"
                        + " false",
                // A webhook or a policy is asked about the nodes' renewals, too.
                "400 | | admission webhook \"leases.example.com\" denied the request: not today | true",
                "403 | Forbidden | admission webhook \"leases.example.com\" denied the request without explanation |"
                        + " true",
                "422 | Invalid | leases.coordination.k8s.io \"nodekeeper-canary\" is forbidden:"
                        + " ValidatingAdmissionPolicy 'leases.example.com' with binding 'all' denied request: failed"
                        + " expression: false | true",
                "403 | Forbidden | leases.coordination.k8s.io \"nodekeeper-canary\" is forbidden:"
                        + " ValidatingAdmissionPolicy 'leases.example.com' denied request: failed to configure policy |"
                        + " true",
                "500 | InternalError | Internal error occurred: failed calling webhook \"leases.example.com\": failed"
                        + " to call webhook: Post \"https://hooks.example.com/\": context deadline exceeded | true",
                // Overload and errors of the server hold up everything.
                "429 | TooManyRequests | too many requests, please try again later | true",
                "500 | InternalError | etcdserver: no leader | true",
                "503 | ServiceUnavailable | apiserver not ready | true",
                "504 | Timeout | Timeout: request did not complete within requested timeout | true",
            })
    void refusalsTellWhetherNodesMayBeRefusedForTheSameReason(int code, String reason, String message, boolean nodes) {
        answer(call -> call.target().equals("/version") ? ok() : refusal(code, reason == null ? "" : reason, message));
        begin();
        advance("5.5S");

        // Then another write of this process proves that writes end only if nodes can hardly be refused as the canary
        // is.
        guard.otherWrite(loop.nanoTime() - 1, 2_000_000_000L, loop.nanoTime());
        assertThat(guard.means()).isEqualTo(nodes ? WATCH : WRITES);

        // And the nodes' own renewals prove it in any case, as a refusal is an answer.
        guard.renewalsRead(loop.nanoTime(), 2_000_000_000L, loop.nanoTime());
        assertThat(guard.means()).isEqualTo(RENEWALS);
    }

    @Test
    void requestThatNoServerAnsweredIsNoRefusal() {
        server.answer(call -> {
            throw new TransportException("admission webhook cannot be reached", null);
        });
        LogLines log = LogLines.of(Canary.class);
        begin();
        advance("5.5S");

        guard.renewalsRead(loop.nanoTime(), 2_000_000_000L, loop.nanoTime());

        assertThat(guard.means()).as("nothing was answered").isEqualTo(WATCH);
        assertThat(log.warnings()).isEmpty();
        assertThat(canary.size()).as("it may have been stored all the same").isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 403, 429, 499})
    void canaryThatWasRefusedIsNotStoredAndThereforeForgotten(int code) {
        answer(call -> refusal(code, "Refused", "no"));
        begin();
        advance("5S");

        assertThat(canary.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 504})
    void canaryThatFailedMayBeStoredAndIsRemembered(int code) {
        answer(call -> refusal(code, "Failed", "no"));
        begin();
        advance("0.5S");
        events.clear();

        see(1, WATCH);

        assertThat(events).containsExactly("CANARY_ROUND_TRIP 500 ms", "proven");
    }

    @Test
    void refusalIsLoggedOnce() {
        LogLines log = LogLines.of(Canary.class);
        answer(call -> refusal(403, "Forbidden", "not you"));
        begin();
        advance("60S");

        assertThat(log.warnings())
                .singleElement()
                .asString()
                .startsWith("no permission to write lease kube-node-lease/nodekeeper-canary")
                .endsWith(": not you");
    }

    // Borrowing.

    @Test
    void controllerThatMayNotWriteReadsALeaseOfANodeInstead() {
        readOnlyController();
        begin();
        advance("0S");
        assertThat(server.log()).containsExactly("GET " + LEASES + "/node-1");
        events.clear();

        versionSeen = 6;
        canary.settle();
        assertThat(events)
                .as("the watch has not yet delivered the version that was read")
                .isEmpty();
        assertThat(canary.size()).isEqualTo(1);

        advance("0.4S");
        versionSeen = 7;
        canary.settle();
        assertThat(events).containsExactly("CANARY_ROUND_TRIP 400 ms", "proven");
        assertThat(canary.size()).isZero();
        canary.settle();
        assertThat(events).hasSize(2);
    }

    @Test
    void newestBorrowedLeaseThatTheWatchHasReachedCountsAndOlderOnesAreForgotten() {
        canary = canary(false);
        anyLease = Optional.of("node-1");
        int[] version = {10};
        answer(call -> call.target().equals("/version") ? ok() : leaseAt(Integer.toString(version[0]++)));
        begin();
        advance("2.5S");
        assertThat(canary.size()).as("read at 0, 1 and 2 s").isEqualTo(3);
        events.clear();

        versionSeen = 11;
        canary.settle();

        assertThat(events).containsExactly("CANARY_ROUND_TRIP 1500 ms", "proven");
        assertThat(canary.size()).isEqualTo(1);
    }

    @Test
    void leaseThatTheWatchHasReachedAlreadyIsAProofAtOnce() {
        readOnlyController();
        versionSeen = 7;

        begin();
        advance("0S");

        assertThat(events).containsExactly("ticked", "CANARY_ROUND_TRIP 0 ms", "proven");
    }

    @Test
    void withoutAnyLeaseAListOfOneIsTheProof() {
        canary = canary(false);
        answer(call -> ok());

        begin();
        advance("0S");

        assertThat(server.log()).containsExactly("GET " + LEASES + "?limit=1");
        assertThat(events).containsExactly("ticked", "CANARY_ROUND_TRIP 0 ms", "proven");
        assertThat(canary.size()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"3000, true", "3001, false"})
    void readThatTookLongerThanTheToleranceIsNoProof(long millis, boolean proves) {
        canary = canary(false);
        answer(call -> ok());
        begin();
        advance("0.5S");
        canary.demand(loop.nanoTime() - 1);
        loop.freeze();
        advance(millis + "MS");
        hang();
        loop.thaw();
        advance("0S");

        assertThat(guard.proves(400_000_000)).isEqualTo(proves);
    }

    @Test
    void refusedReadIsAnAnswerAndAFailedOneIsNone() {
        canary = canary(false);
        answer(call -> refusal(403, "Forbidden", "no"));
        begin();
        advance("4.5S");
        guard.renewalsRead(loop.nanoTime(), 2_000_000_000L, loop.nanoTime());
        assertThat(guard.means()).isEqualTo(RENEWALS);

        CanaryTest failed = new CanaryTest();
        failed.canary = failed.canary(false);
        failed.hang();
        failed.begin();
        failed.advance("4.5S");
        failed.guard.renewalsRead(failed.loop.nanoTime(), 2_000_000_000L, failed.loop.nanoTime());
        assertThat(failed.guard.means()).isEqualTo(WATCH);
    }

    @Test
    void readThatSucceedsIsAnAnswer() {
        readOnlyController();
        begin();
        advance("4.5S");

        guard.renewalsRead(loop.nanoTime(), 2_000_000_000L, loop.nanoTime());

        assertThat(guard.means()).isEqualTo(RENEWALS);
    }

    @Test
    void noMoreThan256BorrowedLeasesAreRemembered() {
        readOnlyController();
        begin();
        advance("600S");

        assertThat(canary.size()).isEqualTo(256);
    }

    // Helpers.

    /** A canary that may not write and reads the lease of node-1 instead, which has version 7. */
    private void readOnlyController() {
        canary = canary(false);
        anyLease = Optional.of("node-1");
        answer(call -> leaseAt("7"));
    }

    private void begin() {
        canary.start();
        canary.begin();
    }

    private void advance(String duration) {
        time.advance(
                duration.endsWith("MS")
                        ? Duration.ofMillis(Long.parseLong(duration.substring(0, duration.length() - 2)))
                        : Duration.parse("PT" + duration));
    }

    private void answer(Function<Call, Optional<Reply>> server) {
        this.server.answer(server);
    }

    private void hang() {
        answer(call -> Optional.empty());
    }

    private void see(int sequence, ProofKind by) {
        canary.saw(lease(CanaryLease.NAME, IDENTITY, Integer.toString(sequence)), by);
        canary.settle();
    }

    private long sent() {
        return server.log().stream().filter(PATCH::equals).count();
    }

    private static Optional<Reply> ok() {
        return Optional.of(FakeTransport.reply(200, JsonObject.EMPTY));
    }

    private static Optional<Reply> leaseAt(String version) {
        return Optional.of(FakeTransport.reply(
                200, JsonObject.EMPTY.with("metadata", JsonObject.EMPTY.with("resourceVersion", version))));
    }

    private static Optional<Reply> refusal(int code, String reason, String message) {
        return Optional.of(FakeTransport.refusal(new ApiException(code, reason, message)));
    }

    private static Lease lease(String name, String holder, String sequence) {
        return new Lease(JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.EMPTY
                                .with("name", name)
                                .with("annotations", JsonObject.EMPTY.with("nodekeeper.io/canary-sequence", sequence)))
                .with("spec", JsonObject.EMPTY.with("holderIdentity", holder)));
    }
}
