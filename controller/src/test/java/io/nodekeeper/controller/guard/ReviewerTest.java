package io.nodekeeper.controller.guard;

import static io.nodekeeper.controller.guard.Reviews.KCM;
import static io.nodekeeper.controller.guard.Reviews.NODE_CONTROLLER;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.GuardMetrics;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whole exchanges in virtual time: an AdmissionReview comes in, the lease is read, the answer goes out. */
class ReviewerTest {
    private static final Instant NOW = Instant.parse("2026-11-23T03:00:00Z");
    private static final String UNREACHABLE = "node.kubernetes.io/unreachable:NoExecute";

    private final VirtualTime time = new VirtualTime(NOW);
    private final VirtualTime.VirtualLoop loop = time.loop("guard");
    private final FakeTransport server = new FakeTransport();
    private final SightFeed sight = new SightFeed();
    private final SwitchState state = new SwitchState();
    private final List<Decision> history = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private final ControllerMetrics metrics = new ControllerMetrics();
    private final GuardMetrics guardMetrics = new GuardMetrics(metrics);
    private Reviewer reviewer = reviewer(true);

    private Reviewer reviewer(boolean enforce) {
        return reviewer(enforce, server);
    }

    private Reviewer reviewer(Transport transport) {
        return reviewer(true, transport);
    }

    private Reviewer reviewer(boolean enforce, Transport transport) {
        return new Reviewer(
                new Guard(Duration.ofSeconds(50), enforce),
                new RefusalBudget(1, Duration.ofMinutes(15)),
                new Reviewer.Ports(
                        loop,
                        new KubeClient(transport, loop, Duration.ofSeconds(10)),
                        Blame.USERS,
                        sight,
                        state,
                        new GuardReport(
                                loop,
                                (about, type, reason, message) -> events.add(about.name() + " " + reason),
                                loop,
                                history::add),
                        guardMetrics));
    }

    @BeforeEach
    void aHealthyGuard() {
        sight.publish(new OwnSight.Sees(20), 0);
        state.read(Optional.empty(), 0);
        lease(Duration.ofSeconds(4));
    }

    private void lease(Duration age) {
        serve(call -> lease(time.wallTime().minus(age)));
    }

    private void serve(Function<Call, Optional<Reply>> leases) {
        server.answer(call ->
                call.target().startsWith("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/")
                        ? leases.apply(call)
                        : Optional.of(FakeTransport.reply(
                                200, Json.parseObject(Reviews.bytes(Reviews.node("Unknown", UNREACHABLE))))));
    }

    private static Optional<Reply> lease(Instant renewTime) {
        return Optional.of(FakeTransport.reply(
                200,
                JsonObject.EMPTY
                        .with("metadata", JsonObject.EMPTY.with("name", "n1"))
                        .with("spec", JsonObject.EMPTY.with("renewTime", renewTime.toString()))));
    }

    private JsonObject response(String review) {
        CompletableFuture<byte[]> answer = reviewer.answer(Reviews.bytes(review));
        time.advance(Duration.ofSeconds(1));
        assertThat(answer).as("the API server waits for one second").isCompleted();
        JsonObject json = Json.parseObject(answer.join());
        assertThat(json.text("apiVersion")).isEqualTo("admission.k8s.io/v1");
        assertThat(json.text("kind")).isEqualTo("AdmissionReview");
        assertThat(json.object("response").text("uid")).isEqualTo("705ab4f5-6393-11e8-b7cc-42010a800002");
        return json.object("response");
    }

    private boolean allowed(String review) {
        return response(review).bool("allowed");
    }

    private static List<String> everyBlame() {
        return List.of(
                Reviews.status(NODE_CONTROLLER, "True", "Unknown"),
                Reviews.tainted(NODE_CONTROLLER, "Unknown", UNREACHABLE),
                Reviews.deleted(NODE_CONTROLLER, true));
    }

    @Test
    void aFreshLeaseRefusesEachKindOfWriteWithItsEvidence() {
        everyBlame().forEach(review -> {
            JsonObject response = response(review);
            assertThat(response.bool("allowed")).isFalse();
            assertThat(response.object("status").number("code")).contains(403L);
            assertThat(response.object("status").text("message"))
                    .isEqualTo("nodekeeper: node n1 renewed its lease 4s ago, within the grace of 50s");
        });
        assertThat(history)
                .extracting(Decision::kind)
                .containsOnly("GuardRefused")
                .hasSize(3);
        assertThat(history.getFirst().text())
                .isEqualTo("Refused: system:serviceaccount:kube-system:node-controller changes Ready from True to"
                        + " Unknown, but node n1 renewed its lease 4s ago, within the grace of 50s");
        assertThat(history.getFirst().details().text("silence")).isEqualTo("4s");
        assertThat(events).containsExactly("n1 GuardRefused", "n1 GuardRefused", "n1 GuardRefused");
    }

    @Test
    void aSilentNodeIsBlamedAsWithoutAGuard() {
        lease(Duration.ofSeconds(51));
        assertThat(everyBlame()).allMatch(this::allowed);
        assertThat(history).isEmpty();
        assertThat(events).isEmpty();
    }

    @Test
    void withoutEnforcementTheApiServerGetsAWarning() {
        reviewer = reviewer(false);
        JsonObject response = response(Reviews.status(NODE_CONTROLLER, "True", "Unknown"));
        assertThat(response.bool("allowed")).isTrue();
        assertThat(response.array("warnings").strings())
                .containsExactly(
                        "nodekeeper would refuse this: node n1 renewed its lease 4s ago, within the grace of 50s");
        assertThat(history).extracting(Decision::kind).containsExactly("GuardWouldRefuse");
    }

    /** Whatever goes wrong here, the write passes, within the second that the API server waits. */
    @Test
    void everyTroubleLetsTheWritePass() {
        List<Function<Call, Optional<Reply>>> troubles = List.of(
                call -> Optional.empty(),
                call -> {
                    throw new TransportException("connection reset", null);
                },
                call -> Optional.of(FakeTransport.refusal(new ApiException(403, "Forbidden", "no"))),
                call -> Optional.of(FakeTransport.refusal(new ApiException(404, "NotFound", "none"))),
                call -> Optional.of(FakeTransport.refusal(new ApiException(429, "TooManyRequests", "busy"))),
                call -> Optional.of(FakeTransport.refusal(new ApiException(500, "InternalError", "etcd"))),
                call -> Optional.of(new Reply(200, "<html>".getBytes(StandardCharsets.UTF_8))),
                call -> Optional.of(FakeTransport.reply(200, JsonObject.EMPTY)),
                call -> lease(Instant.parse("2126-11-23T03:00:00Z")));
        for (Function<Call, Optional<Reply>> trouble : troubles) {
            serve(trouble);
            assertThat(everyBlame()).allMatch(this::allowed);
        }
        assertThat(history).isEmpty();
        assertThat(reviewer.waiting()).isZero();
    }

    @Test
    void episodeThatHasEndedProtectsNoNode() {
        // given a node that is protected
        assertThat(allowed(Reviews.status(NODE_CONTROLLER, "True", "Unknown"))).isFalse();
        assertThat(protectedNodes()).isEqualTo("1.0");

        // when nothing is blamed for more than ten minutes
        time.advance(Duration.ofMinutes(9));
        reviewer.tend();
        time.advance(Duration.ZERO);
        assertThat(protectedNodes()).isEqualTo("1.0");
        time.advance(Duration.ofMinutes(2));
        reviewer.tend();
        time.advance(Duration.ZERO);

        // then the episode is over
        assertThat(protectedNodes()).isEqualTo("0.0");
    }

    private String protectedNodes() {
        return new String(metrics.scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("nodekeeper_guard_protected_nodes "))
                .map(line -> line.split(" ")[1])
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aHangingReadEndsAfter300Milliseconds() {
        serve(call -> Optional.empty());
        CompletableFuture<byte[]> answer =
                reviewer.answer(Reviews.bytes(Reviews.status(NODE_CONTROLLER, "True", "Unknown")));
        time.advance(Duration.ofMillis(299));
        assertThat(answer).isNotDone();
        time.advance(Duration.ofMillis(1));
        assertThat(answer).isCompleted();
    }

    @Test
    void aControllerThatHasNotReportedForAWhileLetsWritesPass() {
        time.advance(Duration.ofMillis(4_000));
        assertThat(allowed(everyBlame().getFirst())).isFalse();
        time.advance(Duration.ofSeconds(1));
        assertThat(allowed(everyBlame().getFirst())).isTrue();
    }

    @Test
    void theSwitchLetsAllWritesPassWithoutARead() {
        state.read(Optional.of("the annotation says so"), 0);
        server.clear();
        assertThat(everyBlame()).allMatch(this::allowed);
        assertThat(server.calls()).isEmpty();
        state.read(Optional.empty(), loop.nanoTime());
        sight.publish(new OwnSight.Sees(20), loop.nanoTime());
        assertThat(allowed(everyBlame().getFirst())).isFalse();
    }

    @Test
    void aSwitchThatCannotBeReadForAMinuteCountsAsOff() {
        time.advance(Duration.ofSeconds(58));
        sight.publish(new OwnSight.Sees(20), loop.nanoTime());
        assertThat(allowed(everyBlame().getFirst())).isFalse();
        time.advance(Duration.ofSeconds(2));
        sight.publish(new OwnSight.Sees(20), loop.nanoTime());
        assertThat(allowed(everyBlame().getFirst())).isTrue();
    }

    @Test
    void otherWritesAreAnsweredAtOnceAndReadNothing() {
        assertThat(reviewer.answer(Reviews.bytes(Reviews.status("system:node:n1", "True", "True"))))
                .isCompleted();
        assertThat(server.calls()).isEmpty();
    }

    @Test
    void aReviewOfANodeThatCannotExistLeavesNothing() {
        String review = Reviews.tainted(KCM, "True", "node.kubernetes.io/unreachable:" + "x".repeat(1 << 20));
        server.clear();
        assertThat(allowed(review.replace("\"name\":\"n1\"", "\"name\":\"n1#1\"")))
                .isTrue();
        assertThat(allowed(review)).isTrue();
        assertThat(allowed(Reviews.tainted(KCM, "True", UNREACHABLE).replace("\"name\":\"n1\"", "\"name\":\"n1#1\"")))
                .isTrue();
        assertThat(history).isEmpty();
        assertThat(events).isEmpty();
        assertThat(server.calls()).isEmpty();
    }

    @Test
    void theLeaseOfAnotherNodeProvesNothing() {
        // given an API server that answers each read with the lease of n1
        String review = Reviews.status(KCM, "True", "Unknown").replace("\"name\":\"n1\"", "\"name\":\"n2\"");
        assertThat(allowed(review)).isTrue();
        String evicted = Reviews.deleted(KCM, true).replace("\"nodeName\":\"n1\"", "\"nodeName\":\"n2\"");
        assertThat(allowed(evicted)).isTrue();
        assertThat(history).isEmpty();
    }

    @Test
    void aFloodOfReviewsReadsWithinALimitAndTheRestPasses() {
        // given an API server that does not answer
        serve(call -> Optional.empty());
        server.clear();
        // when 1,000 reviews about one node arrive together
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            answers.add(reviewer.answer(Reviews.bytes(everyBlame().getFirst())));
        }
        // then 256 wait, the others pass immediately
        assertThat(answers.stream().filter(CompletableFuture::isDone)).hasSize(744);
        assertThat(server.calls()).hasSize(1);
        // and one read serves those that came before it was sent, a second one the others, within their time
        time.advance(Duration.ofMillis(300));
        assertThat(server.calls()).hasSize(2);
        assertThat(answers.stream().filter(CompletableFuture::isDone)).hasSize(745);
        time.advance(Duration.ofMillis(300));
        assertThat(answers).allMatch(CompletableFuture::isDone);
        assertThat(reviewer.waiting()).isZero();
    }

    @Test
    void aReviewIsNotRefusedForALeaseThatWasReadBeforeItArrivedAndIsDeletedSince() {
        // given a review whose read is under way, of a node with a fresh lease
        CompletableFuture<Reply> first = new CompletableFuture<>();
        CompletableFuture<Reply> second = new CompletableFuture<>();
        reviewer = reviewer(new HeldReads(List.of(first, second)));
        Reply fresh = lease(time.wallTime().minusSeconds(4)).orElseThrow();
        CompletableFuture<byte[]> early =
                reviewer.answer(Reviews.bytes(everyBlame().getFirst()));
        // when the lease is deleted, and another review arrives before the first read ends
        CompletableFuture<byte[]> late =
                reviewer.answer(Reviews.bytes(everyBlame().getFirst()));
        first.complete(fresh);
        second.complete(FakeTransport.refusal(new ApiException(404, "NotFound", "none")));
        time.advance(Duration.ofMillis(1));
        // then each is answered as by a read of its own
        assertThat(Json.parseObject(early.join()).object("response").bool("allowed"))
                .isFalse();
        assertThat(Json.parseObject(late.join()).object("response").bool("allowed"))
                .isTrue();
    }

    @Test
    void aReviewThatArrivesDuringAReadOfAnOldLeaseSeesTheRenewalSince() {
        CompletableFuture<Reply> first = new CompletableFuture<>();
        CompletableFuture<Reply> second = new CompletableFuture<>();
        reviewer = reviewer(new HeldReads(List.of(first, second)));
        CompletableFuture<byte[]> early =
                reviewer.answer(Reviews.bytes(everyBlame().getFirst()));
        CompletableFuture<byte[]> late =
                reviewer.answer(Reviews.bytes(everyBlame().getFirst()));
        first.complete(lease(time.wallTime().minusSeconds(60)).orElseThrow());
        second.complete(lease(time.wallTime()).orElseThrow());
        time.advance(Duration.ofMillis(1));
        assertThat(Json.parseObject(early.join()).object("response").bool("allowed"))
                .isTrue();
        assertThat(Json.parseObject(late.join()).object("response").bool("allowed"))
                .isFalse();
    }

    @Test
    void aProofThatBecomesTooOldWhileItIsReadRefusesNothing() {
        // given a lease that was renewed 49.9 s ago when it is read, and a grace of 50 s
        CompletableFuture<Reply> read = new CompletableFuture<>();
        reviewer = reviewer(new HeldReads(List.of(read)));
        Reply old = lease(time.wallTime().minusMillis(49_900)).orElseThrow();
        CompletableFuture<byte[]> answer =
                reviewer.answer(Reviews.bytes(everyBlame().getFirst()));
        // when the answer takes 200 ms
        time.advance(Duration.ofMillis(200));
        read.complete(old);
        time.advance(Duration.ofMillis(1));
        // then the age at the time of the decision counts
        assertThat(Json.parseObject(answer.join()).object("response").bool("allowed"))
                .isTrue();
    }

    /** An API server whose answers come when the test lets them. */
    private static final class HeldReads implements Transport {
        private final Iterator<CompletableFuture<Reply>> replies;

        private HeldReads(List<CompletableFuture<Reply>> replies) {
            this.replies = replies.iterator();
        }

        @Override
        public CompletableFuture<Reply> send(Call call) {
            return replies.next();
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            throw new AssertionError("no watch is expected, got " + call);
        }

        @Override
        public void close() {}
    }

    @Test
    void repetitionsWithinAMinuteAreCountedInsteadOfRecorded() {
        for (int i = 0; i < 30; i++) {
            sight.publish(new OwnSight.Sees(20), loop.nanoTime());
            assertThat(allowed(everyBlame().getFirst())).isFalse();
        }
        assertThat(history).hasSize(1);
        time.advance(Duration.ofSeconds(31));
        state.read(Optional.empty(), loop.nanoTime());
        sight.publish(new OwnSight.Sees(20), loop.nanoTime());
        assertThat(allowed(everyBlame().getFirst())).isFalse();
        assertThat(history).hasSize(2);
        assertThat(history.getLast().text()).endsWith("(and 29 times before)");
    }

    @Test
    void aSpentBudgetIsRecorded() {
        for (int minute = 0; minute <= 16; minute++) {
            state.read(Optional.empty(), loop.nanoTime());
            sight.publish(new OwnSight.Sees(20), loop.nanoTime());
            assertThat(allowed(everyBlame().getFirst())).isEqualTo(minute > 14);
            time.advance(Duration.ofSeconds(60));
        }
        assertThat(history.getLast().kind()).isEqualTo("GuardBudgetSpent");
        assertThat(history.getLast().text())
                .startsWith("Let pass, the budget is spent, though node n1 renewed its lease 4s ago");
    }

    @Test
    void whatIsNoReviewFailsSoThatTheApiServerIgnoresTheGuard() {
        assertThat(reviewer.answer(Reviews.bytes("{}"))).isCompletedExceptionally();
        assertThat(reviewer.answer(Reviews.bytes("[".repeat(5_000)))).isCompletedExceptionally();
    }
}
