package io.nodekeeper.client.shadow;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which shadows of withheld writes remain after their objects were deleted while no watch was open. */
class ShadowTransportTest {
    private static final String PODS = "/api/v1/namespaces/default/pods/";

    /** The pods of the server, by path. */
    private final Map<String, JsonObject> pods = new TreeMap<>();

    private final FakeTransport server = new FakeTransport();
    private final ShadowTransport shadow = new ShadowTransport(
            server, new VirtualTime(Instant.EPOCH).loop("test").clock(), new Unconcerned());
    /** The answer to the next lists; by default all pods as of revision 100. */
    private Optional<JsonObject> list = Optional.empty();

    private static final class Unconcerned implements ShadowTransport.Witness {
        @Override
        public void kept(Call call, String plural, JsonObject before, JsonObject after) {}

        @Override
        public void happened(String type, String plural, JsonObject object) {}
    }

    @BeforeEach
    void serve() {
        server.answer(call -> {
            if (ShadowTarget.of(call.target()).name().isEmpty()) {
                return Optional.of(FakeTransport.reply(200, list.orElseGet(() -> page(100, "", names()))));
            }
            return Optional.of(Optional.ofNullable(pods.get(call.target()))
                    .map(pod -> FakeTransport.reply(200, pod))
                    .orElseGet(() -> FakeTransport.reply(404, JsonObject.EMPTY)));
        });
        for (int i = 1; i <= 3; i++) {
            create("default", "p" + i, 10 + i);
        }
        create("other", "p1", 20);
    }

    private void create(String namespace, String name, long version) {
        pods.put(
                "/api/v1/namespaces/" + namespace + "/pods/" + name,
                JsonObject.EMPTY.with(
                        "metadata",
                        JsonObject.builder()
                                .put("namespace", namespace)
                                .put("name", name)
                                .put("uid", "uid of " + namespace + "/" + name)
                                .put("resourceVersion", Long.toString(version))
                                .build()));
    }

    private List<String> names() {
        return List.copyOf(pods.keySet());
    }

    /** A page of a list as of {@code version} with these pods; {@code token} is that of the next page. */
    private JsonObject page(long version, String token, List<String> paths) {
        List<JsonValue> items = paths.stream().<JsonValue>map(pods::get).toList();
        return JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.builder()
                                .put("resourceVersion", Long.toString(version))
                                .put("continue", token)
                                .build())
                .with("items", new JsonArray(items));
    }

    private Reply write(String method, String path) {
        byte[] body = "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}".getBytes(StandardCharsets.UTF_8);
        return shadow.send(new Call(method, path, PatchType.MERGE.mediaType(), body))
                .join();
    }

    /** Labels each pod, which the server never hears of. */
    private void labelAll() {
        names().forEach(path -> assertThat(write("PATCH", path).status()).isEqualTo(200));
    }

    private Reply get(String target) {
        return shadow.send(Call.get(target)).join();
    }

    private String label(String path) {
        return Json.parseObject(get(path).body())
                .object("metadata")
                .object("labels")
                .text("a");
    }

    @Test
    void listForgetsShadowsOfPodsThatItDoesNotContain() {
        labelAll();
        assertThat(shadow.shadows()).isEqualTo(4);

        // when two pods are deleted while no watch is open, and the pods are listed again
        pods.remove(PODS + "p1");
        pods.remove("/api/v1/namespaces/other/pods/p1");
        get("/api/v1/pods");

        assertThat(shadow.shadows()).isEqualTo(2);
        assertThat(label(PODS + "p2")).isEqualTo("b");
        assertThat(label(PODS + "p3")).isEqualTo("b");
    }

    @Test
    void listOfANamespaceSaysNothingOfOtherNamespaces() {
        labelAll();
        pods.remove(PODS + "p1");
        list = Optional.of(page(100, "", List.of(PODS + "p2", PODS + "p3")));

        get("/api/v1/namespaces/default/pods");

        assertThat(shadow.shadows()).isEqualTo(3);
        assertThat(label("/api/v1/namespaces/other/pods/p1")).isEqualTo("b");
    }

    @Test
    void listWithASelectorSaysNothingOfWhatItDoesNotContain() {
        labelAll();
        list = Optional.of(page(100, "", List.of()));

        get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1");
        get("/api/v1/pods?labelSelector=a%3Db&limit=500");

        assertThat(shadow.shadows()).isEqualTo(4);
    }

    @Test
    void listThatIsOlderThanAPodSaysNothingOfIt() {
        labelAll();
        // given a list as of the revision at which the second pod was created
        list = Optional.of(page(12, "", List.of()));

        get("/api/v1/pods");

        // then only the first two pods are known to be gone
        assertThat(shadow.shadows()).isEqualTo(2);
        assertThat(label(PODS + "p3")).isEqualTo("b");
    }

    @Test
    void shadowsAreForgottenAfterTheLastPage() {
        labelAll();
        list = Optional.of(page(100, "next/1", List.of(PODS + "p2")));
        get("/api/v1/pods?limit=1");
        assertThat(shadow.shadows()).isEqualTo(4);
        list = Optional.of(page(100, "next/2", List.of(PODS + "p3")));
        get("/api/v1/pods?limit=1&continue=next%2F1");
        assertThat(shadow.shadows()).isEqualTo(4);

        list = Optional.of(page(100, "", List.of("/api/v1/namespaces/other/pods/p1")));
        get("/api/v1/pods?limit=1&continue=next%2F2");

        assertThat(shadow.shadows()).isEqualTo(3);
        pods.keySet().stream()
                .filter(path -> !path.equals(PODS + "p1"))
                .forEach(path -> assertThat(label(path)).isEqualTo("b"));
    }

    @Test
    void podThatIsWrittenBetweenTwoPagesKeepsItsShadow() {
        labelAll();
        list = Optional.of(page(100, "next", List.of()));
        get("/api/v1/pods?limit=1");
        write("DELETE", PODS + "p1");

        list = Optional.of(page(100, "", List.of()));
        get("/api/v1/pods?limit=1&continue=next");

        assertThat(shadow.shadows()).isEqualTo(1);
    }

    @Test
    void unfinishedListsAreBounded() {
        labelAll();
        for (int i = 0; i < 17; i++) {
            list = Optional.of(page(100, "next" + i, List.of()));
            get("/api/v1/pods?limit=1");
        }
        // when the first one of 17 ends, it is no longer known
        list = Optional.of(page(100, "", List.of()));
        get("/api/v1/pods?limit=1&continue=next0");
        assertThat(shadow.shadows()).isEqualTo(4);

        get("/api/v1/pods?limit=1&continue=next1");
        assertThat(shadow.shadows()).isZero();
    }

    @Test
    void watchResumesAfterTheLastRealEventAndNotAfterAWithheldWrite() {
        List<String> lines = new ArrayList<>();
        shadow.open(Call.get("/api/v1/pods?watch=true&resourceVersion=90"), new Transport.StreamHandler() {
            @Override
            public void onOpen() {}

            @Override
            public void onLine(byte[] line) {
                JsonObject event = Json.parseObject(line);
                lines.add(event.text("type") + " "
                        + event.object("object").object("metadata").text("resourceVersion"));
            }

            @Override
            public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {}
        });

        // given a pod that changed at revision 95, of which the watch has not sent the event yet
        create("default", "p1", 95);
        write("PATCH", PODS + "p1");
        server.watches().getFirst().event("MODIFIED", Objects.requireNonNull(pods.get(PODS + "p2")));
        write("DELETE", PODS + "p1");

        assertThat(lines).containsExactly("MODIFIED 95", "BOOKMARK 90", "MODIFIED 12", "DELETED 95", "BOOKMARK 12");
    }

    @Test
    void readOfAPodThatIsGoneForgetsItsShadow() {
        labelAll();
        pods.remove(PODS + "p1");
        pods.remove(PODS + "p2");

        assertThat(get(PODS + "p1").status()).isEqualTo(404);
        assertThat(shadow.shadows()).isEqualTo(3);
        // and so does the read before a write
        assertThat(write("PATCH", PODS + "p2").status()).isEqualTo(404);
        assertThat(shadow.shadows()).isEqualTo(2);
    }
}
