package io.nodekeeper.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Stories from an API whose user may read less than everything. */
class ApiStoryTest {
    private static final String NODE = """
            {"metadata":{"name":"n1","uid":"uid-1","managedFields":[
               {"manager":"kubectl","time":"2026-11-30T11:58:00Z","fieldsV1":{"f:spec":{"f:unschedulable":{}}}}]},
             "spec":{"unschedulable":true},
             "status":{"conditions":[{"type":"Ready","status":"True"}]}}""";

    private static final String REFUSAL = """
            {"kind":"Status","code":403,"reason":"Forbidden","message":"events is forbidden"}""";

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-30T12:00:00Z"));

    /** An API server with the node and its lease. It refuses requests whose target starts with {@code refused}. */
    private record Refusing(String refused) implements Transport {
        @Override
        public CompletableFuture<Reply> send(Call call) {
            String target = call.target();
            return CompletableFuture.completedFuture(
                    target.startsWith(refused)
                            ? reply(403, REFUSAL)
                            : target.startsWith("/api/v1/nodes/n1") ? reply(200, NODE) : reply(200, "{}"));
        }

        private static Reply reply(int status, String body) {
            return new Reply(status, body.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            throw new AssertionError("opened: " + call);
        }

        @Override
        public void close() {}
    }

    private Story read(String refused, List<String> notes) {
        KubeClient client = new KubeClient(new Refusing(refused), time.loop("why"), Duration.ofSeconds(10));
        CompletableFuture<Story> story = ApiStory.read(client, "n1", notes);
        time.advance(Duration.ofSeconds(1));
        return story.join();
    }

    @Test
    void refusedListOfEventsCostsOnlyTheEvents() {
        Story story = read("/api/v1/events", List.of("The controller was not asked."));

        assertThat(story.facts().text("ready")).isEqualTo("True");
        assertThat(story.decisions()).extracting(Decision::kind).containsExactly("Cordoned");
        assertThat(story.notes())
                .containsExactly("The controller was not asked.", "Events are missing: events is forbidden.");
    }

    @Test
    void refusedReadOfTheLeaseCostsOnlyTheLease() {
        Story story = read("/apis/coordination.k8s.io", List.of());

        assertThat(story.facts().text("ready")).isEqualTo("True");
        assertThat(story.facts().has("lastLeaseByItsClock")).isFalse();
        assertThat(story.decisions()).extracting(Decision::kind).containsExactly("Cordoned");
        assertThat(story.notes()).containsExactly("The lease is missing: events is forbidden.");
    }

    @Test
    void controllersStorySaysWhatTheApiDidNotTell() {
        // given the story of a controller, which knows no cordons
        JsonObject facts = JsonObject.EMPTY.with("ready", "True").with("silentFor", "2s");
        Story told = new Story("n1", "the controller", List.of("It does not work now."), facts, List.of());

        // when what the API has is added
        Story story = told.withApi(read("/api/v1/events", List.of()));

        // then cordons are there, and a note says that events are not
        assertThat(story.facts().text("cordoned")).isEqualTo("cordoned by kubectl: no new pods");
        assertThat(story.notes()).containsExactly("It does not work now.", "Events are missing: events is forbidden.");
    }
}
