package io.nodekeeper.agent.pods.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.volumes.VolumeNeed;
import io.nodekeeper.agent.pods.volumes.VolumeObjects;
import io.nodekeeper.agent.pods.volumes.VolumeRoom;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What the volumes of pods may take while they are made. */
class VolumeReadsTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final KubeClient client = new KubeClient(transport, time.loop("agent"), Duration.ofSeconds(10));
    private final ObjectCache cache = new ObjectCache(client, 4 << 20);
    private final PodTokens tokens = new PodTokens(client);

    /** A pod with volumes of these sources. */
    private static Pod pod(String sources) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
                 "spec": {"serviceAccountName": "web", "volumes": [{"name": "v", "projected": {"sources": [%s]}}]}}
                """.formatted(sources)));
    }

    private static Pod maps(int count) {
        return pod(IntStream.range(0, count)
                .mapToObj(i -> "{\"configMap\": {\"name\": \"m" + i + "\"}}")
                .collect(Collectors.joining(",")));
    }

    private CompletableFuture<VolumeObjects> read(Pod pod, VolumeRoom.Claim claim) {
        CompletableFuture<VolumeObjects> read = VolumeReads.of(pod, cache, tokens, ObjectCache.NEW, claim);
        time.advance(Duration.ofMillis(1));
        return read;
    }

    private void answer(JsonObject object) {
        transport.answer(call -> Optional.of(FakeTransport.reply(200, object)));
    }

    private static Pod tokens(int count) {
        return pod(IntStream.range(0, count)
                .mapToObj(i -> "{\"serviceAccountToken\": {\"path\": \"t" + i + "\", \"audience\": \"a" + i + "\"}}")
                .collect(Collectors.joining(",")));
    }

    @Test
    void shouldRequestFourTokensAtATime() {
        transport.answer(call -> Optional.empty());
        Pod pod = tokens(60);

        CompletableFuture<VolumeObjects> read = read(pod, cache.room().claim());
        assertThat(transport.log()).hasSize(4);

        answer(Json.parseObject("{\"status\": {\"token\": \"t\", \"expirationTimestamp\": \"2026-01-01T01:00:00Z\"}}"));
        time.advance(Duration.ofSeconds(11));
        assertThat(read.join().found()).hasSize(56);
        assertThat(read.join().errors()).hasSize(4);
    }

    /** They are kept as long as the pod is on the node. */
    @Test
    void shouldRequestSixtyFourTokensOfAPodAtMost() {
        answer(Json.parseObject("{\"status\": {\"token\": \"t\"}}"));

        VolumeObjects read = read(tokens(100), cache.room().claim()).join();

        assertThat(transport.log()).hasSize(64);
        assertThat(read.found()).hasSize(64);
        assertThat(read.errors().values())
                .hasSize(36)
                .containsOnly("failed to fetch token: the pod's volumes ask for more than 64 tokens");
    }

    @Test
    void shouldReadNothingMoreOnceThereIsNoMemory() {
        answer(JsonObject.EMPTY.with("data", JsonObject.EMPTY.with("a", "x".repeat(1_000_000))));

        VolumeObjects read = read(maps(20), cache.room().claim()).join();

        // Those that were under way are read to their end.
        assertThat(transport.log()).hasSizeLessThanOrEqualTo(6);
        assertThat(read.found()).hasSize(2);
        assertThat(read.errors().values())
                .hasSize(18)
                .containsOnly("the objects of the pod's volumes take more than 2097152 bytes of the agent's memory");
    }

    @Test
    void shouldNameTheObjectsForWhichThereIsNoMemoryUntilOtherPodsHaveTheirVolumes() {
        answer(JsonObject.builder()
                .put(
                        "data",
                        JsonObject.builder().put("a", "x".repeat(1_000_000)).build())
                .build());
        VolumeRoom.Claim first = cache.room().claim();
        assertThat(read(maps(2), first).join().found()).hasSize(2);
        assertThat(read(maps(2), cache.room().claim()).join().found()).hasSize(2);

        VolumeRoom.Claim third = cache.room().claim();
        VolumeObjects refused = read(maps(2), third).join();
        assertThat(refused.found()).isEmpty();
        assertThat(refused.errors().get(new VolumeNeed.ConfigMap("m1")))
                .startsWith("no memory in the agent: objects of other pods' volumes take 400")
                .endsWith("of 4194304 bytes");

        first.release();
        assertThat(read(maps(2), third).join().found()).hasSize(2);

        // what each pod needs is small, and always granted
        time.advance(Duration.ofSeconds(2));
        answer(Json.parseObject("{\"data\": {\"a\": \"1\"}}"));
        assertThat(read(maps(2), cache.room().claim()).join().found()).hasSize(2);
    }

    @Test
    void shouldSayThatThePodItselfNeedsTooMuch() {
        answer(JsonObject.builder()
                .put(
                        "data",
                        JsonObject.builder().put("a", "x".repeat(1_000_000)).build())
                .build());

        VolumeObjects refused = read(maps(5), cache.room().claim()).join();

        assertThat(refused.errors().values())
                .hasSize(3)
                .containsOnly("the objects of the pod's volumes take more than 2097152 bytes of the agent's memory");
    }

    /** Of an object only that is kept which becomes files. */
    @Test
    void shouldNotKeepMetadata() {
        answer(Json.parseObject(
                "{\"metadata\": {\"name\": \"m0\", \"managedFields\": [{}]}, \"data\": {\"a\": \"1\"}}"));

        assertThat(read(maps(1), cache.room().claim()).join().found())
                .containsEntry(new VolumeNeed.ConfigMap("m0"), Json.parseObject("{\"data\": {\"a\": \"1\"}}"));
    }
}
