package io.nodekeeper.agent.pods.objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a namespace's Services cost the agent. */
class ServiceListsTest {
    private static final String PATH = "GET /api/v1/namespaces/shop/services?limit=50";

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final ServiceLists lists =
            new ServiceLists(new KubeClient(transport, time.loop("agent"), Duration.ofSeconds(10)));
    private final List<JsonValue> services = new ArrayList<>();

    @BeforeEach
    void server() {
        transport.answer(this::page);
    }

    /** The Services after the number in {@code continue}. */
    private Optional<Reply> page(Call call) {
        String target = call.toString();
        int from = target.contains("continue=") ? Integer.parseInt(target.replaceFirst(".*continue=", "")) : 0;
        int to = Math.min(services.size(), from + 50);
        JsonObject metadata =
                to < services.size() ? JsonObject.EMPTY.with("continue", Integer.toString(to)) : JsonObject.EMPTY;
        return Optional.of(FakeTransport.reply(
                200,
                JsonObject.EMPTY
                        .with("metadata", metadata)
                        .with("items", new JsonArray(List.copyOf(services.subList(from, to))))));
    }

    private void add(String name, String address, int ports) {
        String all = IntStream.rangeClosed(1, ports)
                .mapToObj(i -> "{\"name\": \"p" + i + "\", \"port\": " + i + ", \"targetPort\": 8080}")
                .collect(Collectors.joining(","));
        services.add(Json.parseObject("""
                {"metadata": {"name": "%s", "managedFields": []},
                 "spec": {"clusterIP": "%s", "selector": {"a": "b"}, "ports": [%s]}}
                """.formatted(name, address, all)));
    }

    private CompletableFuture<Map<String, String>> ask(String namespace) {
        CompletableFuture<Map<String, String>> read = lists.in(namespace);
        time.advance(Duration.ofMillis(1));
        return read;
    }

    @Test
    void shouldReadAllPagesOnceForAllWhoAskWithinASecond() {
        for (int i = 0; i < 120; i++) {
            add("s" + i, "10.0.0.1", 1);
        }

        Map<String, String> first = ask("shop").join();
        Map<String, String> second = ask("shop").join();
        time.advance(Duration.ofSeconds(1));
        ask("shop").join();

        assertThat(first).hasSize(120 * 8).containsEntry("S119_SERVICE_PORT_P1", "1");
        assertThat(second).isSameAs(first);
        assertThat(transport.log())
                .containsExactly(
                        PATH,
                        PATH + "&continue=50",
                        PATH + "&continue=100",
                        PATH,
                        PATH + "&continue=50",
                        PATH + "&continue=100");
    }

    /** Each may have thousands of ports, and containers learn nothing of them. */
    @Test
    void shouldNotCountThePortsOfServicesWithoutAnAddress() {
        for (int i = 0; i < 200; i++) {
            add("headless" + i, "None", 130);
        }
        add("front", "10.0.0.7", 1);

        assertThat(ask("shop").join())
                .containsEntry("FRONT_SERVICE_HOST", "10.0.0.7")
                .hasSize(8);
    }

    @Test
    void shouldStopAtMoreVariablesThanGoIntoAProcess() {
        for (int i = 0; i < 2_000; i++) {
            add("service-" + i, "10.0.0.1", 130);
        }

        CompletableFuture<Map<String, String>> read = ask("shop");

        assertThatThrownBy(read::join)
                .hasMessageContaining("namespace \"shop\" must have at most 5000 services, and 2097152 characters of"
                        + " their variables, for pods with enableServiceLinks, got more");
        // Each has some 28,000 characters.
        assertThat(transport.log()).containsExactly(PATH, PATH + "&continue=50");
    }

    @Test
    void shouldRefuseOneServiceWithMorePortsThanGoIntoAProcess() {
        add("many", "10.0.0.1", 40_000);

        assertThatThrownBy(ask("shop")::join).hasMessageContaining("must have at most 5000 services");
    }

    @Test
    void shouldReadOneNamespaceAtATime() {
        transport.answer(call -> Optional.empty());

        ask("shop");
        CompletableFuture<Map<String, String>> waiting = ask("bank");
        time.advance(Duration.ofSeconds(2));
        assertThat(transport.log()).containsExactly(PATH);

        transport.answer(this::page);
        time.advance(Duration.ofSeconds(9));
        assertThat(waiting).isCompletedWithValue(Map.of());
    }

    /** The server may never answer; containers of static pods, and those that end, do not wait for long. */
    @Test
    void shouldGiveUpAListThatWaitsForOthersThatHang() {
        transport.answer(call -> Optional.empty());
        for (int i = 0; i < 4; i++) {
            ask("n" + i);
        }
        CompletableFuture<Map<String, String>> last = ask("bank");

        time.advance(Duration.ofSeconds(41));

        assertThatThrownBy(last::join)
                .hasMessageContaining("not read, because those of other namespaces took more than 30 s");
        assertThat(transport.log()).hasSize(4);
    }

    @Test
    void shouldReadAgainAfterAFailure() {
        transport.answer(call -> Optional.of(FakeTransport.reply(500, JsonObject.EMPTY)));
        assertThat(ask("shop")).isCompletedExceptionally();

        transport.answer(this::page);
        assertThat(ask("shop")).isCompletedWithValue(Map.of());
    }
}
