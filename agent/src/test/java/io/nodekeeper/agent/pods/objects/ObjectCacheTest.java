package io.nodekeeper.agent.pods.objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** How often objects are read. */
class ObjectCacheTest {
    private static final String PATH = "GET /api/v1/namespaces/shop/configmaps/settings";

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final ObjectCache cache =
            new ObjectCache(new KubeClient(transport, time.loop("agent"), Duration.ofSeconds(10)), 16 << 20);

    @Test
    void shouldReadOnceForAllWhoAskWithinTheAge() {
        answer("1");

        assertThat(get(ObjectCache.NEW)).contains("1");
        assertThat(get(ObjectCache.NEW)).contains("1");
        answer("2");
        time.advance(Duration.ofSeconds(2));
        assertThat(get(ObjectCache.RECENT)).contains("1");
        assertThat(get(ObjectCache.NEW)).contains("2");

        assertThat(transport.log()).containsExactly(PATH, PATH);
    }

    @Test
    void shouldShareAReadThatIsUnderWay() {
        transport.answer(call -> Optional.empty());

        ask(ObjectCache.NEW);
        ask(ObjectCache.NEW);
        time.advance(Duration.ofMillis(1));

        assertThat(transport.log()).containsExactly(PATH);
    }

    /** Of many pods that start together, each with many large objects, few are in memory at the same time. */
    @Test
    void shouldReadTwoObjectsAtATime() {
        transport.answer(call -> Optional.empty());
        for (int i = 0; i < 100; i++) {
            cache.get(ResourceType.CONFIG_MAPS, "shop", "m" + i, ObjectCache.NEW);
        }
        time.advance(Duration.ofMillis(1));
        assertThat(transport.log()).hasSize(2);

        answer("1");
        time.advance(Duration.ofSeconds(10));
        assertThat(transport.log()).hasSize(100);
    }

    /** If the server does not answer, no read waits longer than two deadlines, however many reads wait. */
    @Test
    void shouldGiveUpReadsThatWaitForOthersThatHang() {
        transport.answer(call -> Optional.empty());
        List<CompletableFuture<?>> asked = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            asked.add(cache.get(ResourceType.CONFIG_MAPS, "shop", "m" + i, ObjectCache.NEW));
        }

        time.advance(Duration.ofSeconds(21));

        assertThat(asked).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(transport.log().size()).isLessThanOrEqualTo(4);
    }

    @Test
    void shouldShareAReadThatWaitsHoweverLong() {
        transport.answer(call -> Optional.empty());
        cache.get(ResourceType.CONFIG_MAPS, "shop", "a", ObjectCache.NEW);
        cache.get(ResourceType.CONFIG_MAPS, "shop", "b", ObjectCache.NEW);
        ask(ObjectCache.NEW);
        time.advance(Duration.ofSeconds(5));
        CompletableFuture<Optional<JsonObject>> later = ask(ObjectCache.NEW);

        answer("1");
        time.advance(Duration.ofSeconds(6));

        assertThat(later).isCompleted();
        assertThat(transport.log()).filteredOn(PATH::equals).hasSize(1);
    }

    @Test
    void shouldNotRememberThatAnObjectIsAbsentOrCannotBeRead() {
        transport.answer(call -> Optional.of(FakeTransport.reply(404, JsonObject.EMPTY)));
        assertThat(get(ObjectCache.RECENT)).isEmpty();
        transport.answer(call -> Optional.of(FakeTransport.reply(500, JsonObject.EMPTY)));
        CompletableFuture<Optional<JsonObject>> failed = ask(ObjectCache.RECENT);
        time.advance(Duration.ofMillis(1));
        assertThat(failed).isCompletedExceptionally();

        answer("1");
        assertThat(get(ObjectCache.RECENT)).contains("1");
    }

    @Test
    void shouldKeepABoundedNumberOfBytes() {
        String large = "x".repeat(3 << 20);
        answer(large);
        for (String name : new String[] {"a", "b", "c"}) {
            cache.get(ResourceType.CONFIG_MAPS, "shop", name, ObjectCache.RECENT);
            time.advance(Duration.ofMillis(1));
        }

        cache.get(ResourceType.CONFIG_MAPS, "shop", "c", ObjectCache.RECENT);
        assertThat(transport.log()).hasSize(3);
        cache.get(ResourceType.CONFIG_MAPS, "shop", "a", ObjectCache.RECENT);
        assertThat(transport.log()).hasSize(4);
    }

    @Test
    void shouldRefuseANameThatLeadsToAnotherObject() {
        assertThatThrownBy(
                        () -> cache.get(ResourceType.CONFIG_MAPS, "shop", "../../other/secrets/keys", ObjectCache.NEW)
                                .join())
                .hasRootCauseInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ConfigMap name must be one of Kubernetes, got \"../../other/secrets/keys\"");
        assertThat(transport.log()).isEmpty();
    }

    private void answer(String text) {
        transport.answer(call ->
                Optional.of(FakeTransport.reply(200, Json.parseObject("{\"data\": {\"a\": \"%s\"}}".formatted(text)))));
    }

    private CompletableFuture<Optional<JsonObject>> ask(Duration age) {
        return cache.get(ResourceType.CONFIG_MAPS, "shop", "settings", age);
    }

    private Optional<String> get(Duration age) {
        CompletableFuture<Optional<JsonObject>> read = ask(age);
        time.advance(Duration.ofMillis(1));
        return read.join().map(object -> object.object("data").text("a"));
    }
}
