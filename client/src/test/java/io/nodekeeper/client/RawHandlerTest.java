package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A reflector whose handler reads leases from their bytes. */
class RawHandlerTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final KubeClient client = new KubeClient(transport, time.loop("reflector"), Duration.ofSeconds(10));
    private final List<String> heard = new ArrayList<>();
    private boolean failing;

    private final class Leases implements Reflector.RawHandler {
        private final LeaseLine line = new LeaseLine();

        @Override
        public long onRawEvent(byte[] bytes, int from, int to) {
            if (!line.scan(bytes, from, to)) {
                return NOT_TAKEN;
            }
            heard.add((line.isDeletion() ? "raw deleted " : "raw ") + line.name());
            if (failing) {
                throw new IllegalStateException("on purpose: " + line.name());
            }
            return line.resourceVersion();
        }

        @Override
        public void onReplace(List<JsonObject> objects) {
            heard.add("all " + objects.size());
        }

        @Override
        public void onChange(JsonObject object) {
            heard.add("parsed " + new Lease(object).name());
        }

        @Override
        public void onDelete(JsonObject object) {
            heard.add("parsed deleted " + new Lease(object).name());
        }
    }

    @BeforeEach
    void listAndWatch() {
        transport.answer(call -> Optional.of(FakeTransport.reply(
                200,
                JsonObject.builder()
                        .put(
                                "metadata",
                                JsonObject.builder()
                                        .put("resourceVersion", "100")
                                        .build())
                        .put("items", JsonArray.EMPTY)
                        .build())));
        new Reflector(
                        client,
                        Selection.inNamespace(ResourceType.LEASES, Lease.NODE_NAMESPACE),
                        Randoms.seeded(1),
                        new Leases())
                .start();
        settle();
        heard.clear();
    }

    @Test
    void getsEventsAsBytesAndTheOthersParsed() {
        watch().event("MODIFIED", lease("a", "101"));
        watch().event("MODIFIED", lease("ä", "102"));
        watch().event("DELETED", lease("a", "103"));
        settle();

        assertThat(heard).containsExactly("raw a", "parsed ä", "raw deleted a");
    }

    @Test
    void theReflectorResumesFromTheLastRawEvent() {
        watch().event("MODIFIED", lease("a", "107"));
        watch().breakOff();
        time.advance(Duration.ofMillis(100));

        assertThat(watch().call().target()).contains("&resourceVersion=107&");
    }

    @Test
    void aBookmarkOrParsedEventAfterARawOneCounts() {
        watch().event("MODIFIED", lease("a", "107"));
        watch().event("BOOKMARK", lease("", "250"));
        watch().breakOff();
        time.advance(Duration.ofMillis(100));

        assertThat(watch().call().target()).contains("&resourceVersion=250&");
    }

    @Test
    void anErrorAfterRawEventsListsAgain() {
        watch().event("MODIFIED", lease("a", "107"));
        watch().line("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}");
        settle();

        assertThat(heard).containsExactly("raw a", "all 0");
        assertThat(transport.log()).as("lists").hasSize(2);
    }

    @Test
    void aLineThatFailsTakesNoOtherWithIt() {
        failing = true;
        Lines lines = new Lines();
        byte[] bytes = ("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}}\n"
                        + "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"2\"}}}")
                .getBytes(StandardCharsets.UTF_8);
        int cut = new String(bytes, StandardCharsets.UTF_8).indexOf('\n');
        lines.reset(bytes);
        lines.add(0, cut);
        lines.add(cut + 1, bytes.length);

        watch().lines(lines);

        assertThatThrownBy(this::settle)
                .hasMessage("on purpose: a")
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(heard).containsExactly("raw a", "raw b");
    }

    private void settle() {
        time.advance(Duration.ofMillis(1));
    }

    private FakeTransport.Watch watch() {
        return transport.watches().getLast();
    }

    private static JsonObject lease(String name, String version) {
        return JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", name)
                                .put("resourceVersion", version)
                                .build())
                .build();
    }
}
