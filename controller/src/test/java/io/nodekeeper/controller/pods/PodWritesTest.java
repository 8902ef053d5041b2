package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.client.Reply;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The exact writes to a pod, and the meaning of each refusal. The pod is {@code web}, UID {@code u1}, version 7. */
class PodWritesTest {
    private static final String POD = "/api/v1/namespaces/default/pods/web";
    private static final String SAME = "{\"metadata\":{\"name\":\"web\",\"uid\":\"u1\",\"resourceVersion\":\"9\"}}";
    private static final String OTHER = "{\"metadata\":{\"name\":\"web\",\"uid\":\"u2\",\"resourceVersion\":\"9\"}}";
    private static final String RUNNING =
            "{\"metadata\":{\"uid\":\"u1\",\"resourceVersion\":\"8\"},\"status\":{\"phase\":\"Running\"}}";
    private static final String DISRUPTION = "{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
            + "\"DeletionByTaintManager\",\"message\":\"Taint manager: deleting due to NoExecute taint\","
            + "\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}";

    private final VirtualTime time = new VirtualTime(Instant.parse("2020-01-01T00:00:00Z"));
    private final FakeTransport server = new FakeTransport();
    private final PodWrites writes =
            new PodWrites(new KubeClient(server, time.loop("controller"), Duration.ofSeconds(2)));
    private final TrackedPod pod = new TrackedPod("default", "web", "u1", new HostNode("n1"));
    /** Answers in their order. */
    private final List<Reply> answers = new ArrayList<>();

    PodWritesTest() {
        pod.version = "7";
        server.answer(call -> Optional.of(answers.removeFirst()));
    }

    @Test
    void markIsForTheVeryPodAsItWasSeen() {
        answers.add(ok(SAME));

        assertThat(ended(writes.markNotReady(pod)).join()).isEqualTo(PodParts.of(Json.parseObject(SAME)));

        assertThat(calls())
                .containsExactly("PATCH " + POD + "/status {\"metadata\":{\"uid\":\"u1\",\"resourceVersion\":\"7\"},"
                        + "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\","
                        + "\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}]}}");
        assertThat(server.calls().getFirst().contentType()).isEqualTo("application/strategic-merge-patch+json");
    }

    // The reference's mark.

    @Test
    void referenceWritesTheWholePodWithOneConditionChanged() {
        answers.add(
                ok(
                        "{\"metadata\":{\"uid\":\"u1\"},\"status\":{\"phase\":\"Running\",\"conditions\":["
                                + "{\"type\":\"Initialized\",\"status\":\"True\"},"
                                + "{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Fine\",\"lastTransitionTime\":\"2019-01-01T00:00:00Z\"}]}}"));
        answers.add(ok(SAME));

        assertThat(ended(writes.markNotReadyAsReference(pod)).join()).isTrue();

        assertThat(calls())
                .containsExactly(
                        "GET " + POD,
                        "PUT " + POD
                                + "/status {\"metadata\":{\"uid\":\"u1\"},\"status\":{\"phase\":\"Running\",\"conditions\":["
                                + "{\"type\":\"Initialized\",\"status\":\"True\"},"
                                + "{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"Fine\","
                                + "\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}]}}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "[{\"type\":\"Ready\",\"status\":\"False\"}]"})
    void referenceLeavesAPodAloneThatIsNotReadyOrDoesNotSay(String conditions) {
        answers.add(ok("{\"status\":{\"conditions\":" + conditions + "}}"));

        assertThat(ended(writes.markNotReadyAsReference(pod)).join()).isFalse();

        assertThat(calls()).containsExactly("GET " + POD);
    }

    // Telling the pod why.

    @Test
    void podHasAConditionBeforeItsEviction() {
        answers.add(ok(SAME));

        assertThat(ended(writes.disrupt(pod, JsonObject.EMPTY)).join()).isTrue();

        assertThat(calls())
                .containsExactly("PATCH " + POD + "/status {\"metadata\":{\"uid\":\"u1\"},\"status\":{\"conditions\":["
                        + DISRUPTION + "]}}");
    }

    @Test
    void podWithTheConditionGetsItOnlyOnce() {
        JsonObject live = Json.parseObject("{\"status\":{\"conditions\":[" + DISRUPTION + "]}}");

        assertThat(ended(writes.disrupt(pod, live)).join()).isTrue();

        assertThat(calls()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"False, DeletionByTaintManager", "True, PreemptionByScheduler"})
    void podWithAnotherConditionGetsThisOne(String status, String reason) {
        answers.add(ok(SAME));
        JsonObject live = Json.parseObject("{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\""
                + status + "\",\"reason\":\"" + reason + "\"}]}}");

        assertThat(ended(writes.disrupt(pod, live)).join()).isTrue();

        assertThat(calls()).hasSize(1);
    }

    @Test
    void podThatIsDeletedGetsNoCondition() {
        answers.add(refusal(404));

        assertThat(ended(writes.disrupt(pod, JsonObject.EMPTY)).join()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 422})
    void statusThatIsRefusedForGoodDoesNotKeepThePod(int code) {
        LogLines log = LogLines.of(PodWrites.class);
        answers.add(refusal(code));
        answers.add(ok(SAME));

        assertThat(ended(writes.disrupt(pod, Json.parseObject(RUNNING))).join()).isTrue();

        assertThat(log.warnings())
                .containsExactly("Pod default/web: writing its status before its deletion failed: no");
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 429, 500})
    void statusThatCannotBeWrittenNowIsAFailure(int code) {
        answers.add(refusal(code));

        assertThatThrownBy(() -> ended(writes.disrupt(pod, JsonObject.EMPTY)).join())
                .cause()
                .isInstanceOfSatisfying(
                        ApiException.class,
                        refused -> assertThat(refused.code()).isEqualTo(code));
        assertThat(calls()).hasSize(1);
    }

    // Deleting.

    @Test
    void deletionIsForTheVeryPodWithItsOwnGrace() {
        answers.add(ok(SAME));

        assertThat(ended(writes.delete(pod)).join()).isTrue();

        assertThat(calls()).containsExactly("DELETE " + POD + " {\"preconditions\":{\"uid\":\"u1\"}}");
    }

    @Test
    void podThatIsNotThereIsGone() {
        answers.add(refusal(404));

        assertThat(ended(writes.delete(pod)).join()).isFalse();
        assertThat(calls()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {409, 422})
    void conflictMeansThatThePodIsGoneIfAnotherOneHasItsName(int code) {
        answers.add(refusal(code));
        answers.add(ok(OTHER));

        assertThat(ended(writes.delete(pod)).join()).isFalse();
        assertThat(calls()).last().isEqualTo("GET " + POD);
    }

    @ParameterizedTest
    @ValueSource(ints = {409, 422})
    void conflictMeansThatThePodIsGoneIfNoneHasItsName(int code) {
        answers.add(refusal(code));
        answers.add(refusal(404));

        assertThat(ended(writes.delete(pod)).join()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"409, 200", "422, 200", "409, 500", "422, 403"})
    void conflictOverThePodItselfOrAnUnknownOneIsAFailure(int code, int read) {
        answers.add(refusal(code));
        answers.add(read == 200 ? ok(SAME) : refusal(read));

        assertThatThrownBy(() -> ended(writes.delete(pod)).join())
                .cause()
                .isInstanceOfSatisfying(
                        ApiException.class,
                        refused -> assertThat(refused.code()).isEqualTo(code));
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 429, 500})
    void otherRefusalIsAFailureAndNothingIsRead(int code) {
        answers.add(refusal(code));

        assertThatThrownBy(() -> ended(writes.delete(pod)).join()).hasCauseInstanceOf(ApiException.class);
        assertThat(calls()).hasSize(1);
    }

    // The reference's eviction.

    @Test
    void referenceEvictsWhicheverPodHasTheName() {
        answers.addAll(List.of(ok(OTHER), ok(OTHER), ok(OTHER)));

        assertThat(ended(writes.evictAsReference(pod)).join()).isTrue();

        assertThat(calls())
                .containsExactly(
                        "GET " + POD,
                        "PATCH " + POD + "/status {\"metadata\":{\"uid\":\"u2\"},\"status\":{\"conditions\":["
                                + DISRUPTION + "]}}",
                        "DELETE " + POD + " {}");
    }

    @Test
    void referenceDoesNotSetTheConditionAgain() {
        answers.add(ok("{\"metadata\":{\"uid\":\"u1\"},\"status\":{\"conditions\":[" + DISRUPTION + "]}}"));
        answers.add(ok(SAME));

        assertThat(ended(writes.evictAsReference(pod)).join()).isTrue();

        assertThat(calls()).containsExactly("GET " + POD, "DELETE " + POD + " {}");
    }

    @Test
    void absenceOfThePodIsAFailureForTheReference() {
        answers.add(refusal(404));

        assertThatThrownBy(() -> ended(writes.evictAsReference(pod)).join()).hasCauseInstanceOf(ApiException.class);
    }

    // Looking.

    @Test
    void liveReadReturnsThePodUnlessItIsDeletedOrReplaced() {
        answers.addAll(List.of(ok(SAME), ok(OTHER), refusal(404)));

        assertThat(ended(writes.live(pod)).join()).contains(PodParts.of(Json.parseObject(SAME)));
        assertThat(ended(writes.live(pod)).join()).isEmpty();
        assertThat(ended(writes.live(pod)).join()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 500})
    void liveLookThatIsRefusedIsAFailure(int code) {
        answers.add(refusal(code));

        assertThatThrownBy(() -> ended(writes.live(pod)).join())
                .cause()
                .isInstanceOfSatisfying(
                        ApiException.class,
                        refused -> assertThat(refused.code()).isEqualTo(code));
    }

    // Forcing out.

    @Test
    void podIsFailedAndThenDeletedAsTheWriteLeftIt() {
        answers.add(ok(SAME));
        answers.add(ok(SAME));

        assertThat(ended(writes.forceDelete(pod, Json.parseObject(RUNNING), Optional.empty()))
                        .join())
                .isTrue();

        assertThat(calls())
                .containsExactly(
                        "PATCH " + POD + "/status {\"metadata\":{\"uid\":\"u1\",\"resourceVersion\":\"8\"},"
                                + "\"status\":{\"phase\":\"Failed\"}}",
                        "DELETE " + POD + " {\"gracePeriodSeconds\":0,"
                                + "\"preconditions\":{\"uid\":\"u1\",\"resourceVersion\":\"9\"}}");
    }

    @Test
    void podHasAConditionBeforeItsForcedDeletion() {
        answers.add(ok(SAME));
        answers.add(ok(SAME));
        JsonObject why = writes.disruption("DeletionByPodGC", "PodGC: node no longer exists");

        ended(writes.forceDelete(pod, Json.parseObject(RUNNING), Optional.of(why)))
                .join();

        assertThat(calls())
                .first()
                .asString()
                .endsWith(
                        "\"status\":{\"phase\":\"Failed\",\"conditions\":[{\"type\":\"DisruptionTarget\","
                                + "\"status\":\"True\",\"reason\":\"DeletionByPodGC\","
                                + "\"message\":\"PodGC: node no longer exists\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}]}}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Succeeded", "Failed"})
    void podThatRanToItsEndIsDeletedAsItWasReadWithoutAnotherStatus(String phase) {
        answers.add(ok(SAME));
        JsonObject live = Json.parseObject(RUNNING.replace("Running", phase));

        assertThat(ended(writes.forceDelete(pod, live, Optional.empty())).join())
                .isTrue();

        assertThat(calls())
                .containsExactly("DELETE " + POD + " {\"gracePeriodSeconds\":0,"
                        + "\"preconditions\":{\"uid\":\"u1\",\"resourceVersion\":\"8\"}}");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void podThatWasNotReadIsDeletedInWhicheverVersion(boolean finished) {
        pod.finished = finished;
        if (!finished) {
            answers.add(ok(SAME));
        }
        answers.add(ok(SAME));

        assertThat(ended(writes.forceDelete(pod, JsonObject.EMPTY, Optional.empty()))
                        .join())
                .isTrue();

        assertThat(calls()).hasSize(finished ? 1 : 2);
        assertThat(calls())
                .last()
                .isEqualTo("DELETE " + POD + " {\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"u1\"}}");
    }

    @Test
    void podThatIsGoneBeforeItsStatusIsWrittenIsNotDeleted() {
        answers.add(refusal(404));

        assertThat(ended(writes.forceDelete(pod, Json.parseObject(RUNNING), Optional.empty()))
                        .join())
                .isFalse();

        assertThat(calls()).hasSize(1);
    }

    @Test
    void podWhoseStatusIsRefusedPermanentlyIsDeletedAsItWasRead() {
        answers.addAll(List.of(refusal(403), ok(SAME)));

        assertThat(ended(writes.forceDelete(pod, Json.parseObject(RUNNING), Optional.empty()))
                        .join())
                .isTrue();

        assertThat(calls())
                .last()
                .isEqualTo("DELETE " + POD + " {\"gracePeriodSeconds\":0,"
                        + "\"preconditions\":{\"uid\":\"u1\",\"resourceVersion\":\"8\"}}");
    }

    @Test
    void podWhoseKubeletWroteMeanwhileIsNotDeleted() {
        answers.addAll(List.of(refusal(409), ok(SAME)));

        assertThatThrownBy(() -> ended(writes.forceDelete(pod, Json.parseObject(RUNNING), Optional.empty()))
                        .join())
                .hasCauseInstanceOf(ApiException.class);
        assertThat(calls()).noneMatch(call -> call.startsWith("DELETE"));
    }

    private <T> CompletableFuture<T> ended(CompletableFuture<T> write) {
        time.advance(Duration.ZERO);
        assertThat(write).isDone();
        return write;
    }

    /** The calls with their bodies. */
    private List<String> calls() {
        return server.calls().stream()
                .map((Call call) ->
                        call + (call.body().length == 0 ? "" : " " + Json.write(Json.parseObject(call.body()))))
                .toList();
    }

    private static Reply ok(String json) {
        return FakeTransport.reply(200, Json.parseObject(json));
    }

    private static Reply refusal(int code) {
        return FakeTransport.refusal(new ApiException(code, "Refused", "no"));
    }
}
