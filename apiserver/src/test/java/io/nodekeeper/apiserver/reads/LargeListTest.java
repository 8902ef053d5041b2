package io.nodekeeper.apiserver.reads;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.kubernetes.client.proto.Runtime;
import io.kubernetes.client.proto.V1;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.apiserver.testing.TestServer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Large lists, watches and deletions are processed in small chunks, and are still complete. */
class LargeListTest {
    private static final String MAPS = "/api/v1/namespaces/default/configmaps";

    private final TestServer server = new TestServer();

    private static String body(String name, String label, int size) {
        return "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{\"l\":\"" + label + "\"}},\"data\":{\"d\":\""
                + "x".repeat(size) + "\"}}";
    }

    private void create(String name, String label, int size) {
        TestServer.Answer answer = server.post(MAPS, body(name, label, size));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    private ApiResponse.Chunked list(String query, Map<String, String> headers) {
        CompletableFuture<ApiResponse> response = server.send(TestServer.ADMIN, "GET", MAPS + query, headers, "");
        server.settle();
        assertThat(response.join()).isInstanceOf(ApiResponse.Chunked.class);
        return (ApiResponse.Chunked) response.join();
    }

    private static List<String> names(byte[] list) {
        return Json.parseObject(list)
                .array("items")
                .objects()
                .map(item -> item.object("metadata").text("name"))
                .toList();
    }

    @Test
    @Tag("W71")
    void largeListIsCreatedInChunksOfOneRevision() {
        // given 40 objects of 20 kB, and a reader that has taken the first chunk of their list
        for (int i = 0; i < 40; i++) {
            create("c" + (100 + i), "a", 20_000);
        }
        ApiResponse.Chunked list = list("", Map.of());
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        int chunks = 0;
        for (List<byte[]> chunk = list.chunks().next();
                !chunk.isEmpty();
                chunk = list.chunks().next()) {
            int size = chunk.stream().mapToInt(part -> part.length).sum();
            // no chunk exceeds its limit by more than one object
            assertThat(size).isLessThan(ResponseChunks.SIZE + 21_000);
            chunk.forEach(read::writeBytes);
            chunks++;
            if (chunks == 1) {
                // when one object is deleted, one changed, and one created before the next chunk
                server.delete(MAPS + "/c139", "");
                server.put(MAPS + "/c138", body("c138", "changed", 10));
                create("c140", "a", 10);
            }
        }
        // then the list shows the state of its revision
        JsonObject whole = Json.parseObject(read.toByteArray());
        assertThat(chunks).isEqualTo(10);
        assertThat(whole.text("kind")).isEqualTo("ConfigMapList");
        assertThat(names(read.toByteArray())).hasSize(40).contains("c139").doesNotContain("c140");
        assertThat(whole.array("items")
                        .objects()
                        .filter(item -> item.object("metadata").text("name").equals("c138"))
                        .findFirst()
                        .orElseThrow()
                        .object("data")
                        .text("d"))
                .hasSize(20_000);
    }

    @Test
    void metricsCountTheSizeOfALargeListOnceItHasBeenRead() {
        // given 40 objects of 20 kB, and a list of which nothing was read
        for (int i = 0; i < 40; i++) {
            create("c" + (100 + i), "a", 20_000);
        }
        ApiResponse.Chunked list = list("", Map.of());
        String upTo =
                "apiserver_response_sizes_bucket{component=\"apiserver\",group=\"\",resource=\"configmaps\",scope=\"namespace\","
                        + "subresource=\"\",verb=\"LIST\",version=\"v1\",le=";
        assertThat(server.get("/metrics").text()).doesNotContain(upTo + "\"1000000.0\"} 1\n");

        // when it is read
        list.whole();

        // then it counts as one of 100 kB to 1 MB
        assertThat(server.get("/metrics").text()).contains(upTo + "\"100000.0\"} 0\n", upTo + "\"1000000.0\"} 1\n");
    }

    @Test
    void tablesMetadataSelectionsAndYamlAreChunked() {
        for (int i = 0; i < 30; i++) {
            create("c" + (100 + i), i % 3 == 0 ? "a" : "b", 20_000);
        }
        String table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        JsonObject rows =
                Json.parseObject(list("", Map.of("accept", table)).whole().body());
        assertThat(rows.text("kind")).isEqualTo("Table");
        assertThat(rows.array("columnDefinitions").items()).isNotEmpty();
        assertThat(rows.array("rows").items()).hasSize(30);
        String partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
        JsonObject metadata =
                Json.parseObject(list("", Map.of("accept", partial)).whole().body());
        assertThat(metadata.text("kind")).isEqualTo("PartialObjectMetadataList");
        assertThat(metadata.array("items").items()).hasSize(30);
        assertThat(names(list("?labelSelector=l%3Da", Map.of()).whole().body()))
                .containsExactly("c100", "c103", "c106", "c109", "c112", "c115", "c118", "c121", "c124", "c127");
        ApiResponse.Full yaml = list("", Map.of("accept", "application/yaml")).whole();
        assertThat(yaml.headers()).containsEntry("content-type", "application/yaml");
        assertThat(Yaml.parse(yaml.body(), fault -> {}).array("items").items()).hasSize(30);
    }

    @Test
    void chunkedProtobufListIsKubernetesMessage() throws Exception {
        // given 40 objects of 20 kB, 10 of them selected, and a client that accepts only protobuf
        for (int i = 0; i < 40; i++) {
            create("c" + (100 + i), i % 4 == 0 ? "a" : "b", 20_000);
        }
        ApiResponse.Chunked list =
                list("?labelSelector=l%3Da", Map.of("accept", "application/vnd.kubernetes.protobuf"));
        // when the list is read
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        for (List<byte[]> chunk = list.chunks().next();
                !chunk.isEmpty();
                chunk = list.chunks().next()) {
            int size = chunk.stream().mapToInt(part -> part.length).sum();
            assertThat(size).isLessThan(ResponseChunks.SIZE + 21_000);
            chunk.forEach(read::writeBytes);
        }
        // then Kubernetes' own classes can read the envelope and the list
        assertThat(list.headers()).containsEntry("content-type", "application/vnd.kubernetes.protobuf");
        assertThat(read.toString(StandardCharsets.ISO_8859_1)).startsWith("k8s\0");
        Runtime.Unknown envelope = Runtime.Unknown.parseFrom(
                ByteString.copyFrom(read.toByteArray()).substring(4));
        assertThat(envelope.getTypeMeta().getKind()).isEqualTo("ConfigMapList");
        V1.ConfigMapList maps = V1.ConfigMapList.parseFrom(envelope.getRaw());
        assertThat(maps.getMetadata().getResourceVersion())
                .isEqualTo(server.get(MAPS).version());
        assertThat(maps.getItemsList())
                .extracting(map -> map.getMetadata().getName())
                .containsExactly("c100", "c104", "c108", "c112", "c116", "c120", "c124", "c128", "c132", "c136");
        assertThat(maps.getItems(9).getDataOrThrow("d")).hasSize(20_000);
    }

    @Test
    void unselectedObjectsCountForTheSizeOfAChunk() {
        // given 6 MB of objects, none of them selected
        for (int i = 0; i < 30; i++) {
            create("c" + (100 + i), "a", 200_000);
        }
        for (String accept : List.of("application/json", "application/vnd.kubernetes.protobuf")) {
            ApiResponse.Chunked list = list("?labelSelector=l%3Dnone", Map.of("accept", accept));
            // when the list is read
            int empty = 0;
            for (List<byte[]> chunk = list.chunks().next();
                    !chunk.isEmpty();
                    chunk = list.chunks().next()) {
                empty += chunk == ResponseChunks.NOTHING_YET ? 1 : 0;
            }
            // then a chunk ends after each MiB, which is 6 objects (the first and last chunks contain the list's frame)
            assertThat(empty).as(accept).isBetween(3, 10);
        }
    }

    @Test
    void pageWithASelectorReadsAtMostSixteenMebibytes() {
        // given 24 MB of objects; only the last one is selected
        for (int i = 0; i < 24; i++) {
            create("c" + (100 + i), i == 23 ? "a" : "b", 1_000_000);
        }
        // when pages of 500 are requested
        JsonObject first = Json.parseObject(
                server.get(MAPS + "?limit=500&labelSelector=l%3Da").text().getBytes(StandardCharsets.UTF_8));
        String token = first.object("metadata").text("continue");
        // then the first one is empty with a continue token, and the second one has the object
        assertThat(first.array("items").items()).isEmpty();
        assertThat(token).isNotEmpty();
        TestServer.Answer second = server.get(MAPS + "?limit=500&labelSelector=l%3Da&continue=" + token);
        assertThat(second.names()).containsExactly("c123");
        assertThat(second.text()).doesNotContain("\"continue\"");
    }

    @Property(tries = 40)
    void aListIsTheStateAtItsRevisionWhateverIsWrittenMeanwhile(
            @ForAll @Size(min = 8, max = 20) List<@IntRange(min = 20_000, max = 60_000) Integer> sizes,
            @ForAll @Size(max = 12) List<@IntRange(min = 0, max = 25) Integer> writes) {
        new LargeListTest().checkList(sizes, writes);
    }

    private void checkList(List<Integer> sizes, List<Integer> writes) {
        for (int i = 0; i < sizes.size(); i++) {
            create("c" + (100 + i), "a", sizes.get(i));
        }
        ApiResponse.Chunked list = list("", Map.of());
        byte[] expected = list("", Map.of()).whole().body();
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        int next = 0;
        for (List<byte[]> chunk = list.chunks().next();
                !chunk.isEmpty();
                chunk = list.chunks().next()) {
            chunk.forEach(read::writeBytes);
            if (next < writes.size()) {
                String name = "c" + (100 + writes.get(next++));
                if (next % 3 == 0) {
                    server.delete(MAPS + "/" + name, "");
                } else if (server.put(MAPS + "/" + name, body(name, "b", 30)).status() == 404) {
                    create(name, "b", 30);
                }
            }
        }
        assertThat(new String(read.toByteArray(), StandardCharsets.UTF_8))
                .isEqualTo(new String(expected, StandardCharsets.UTF_8));
    }

    @Test
    void collectionIsDeletedInBatches() {
        for (int i = 0; i < 100; i++) {
            create("c" + (100 + i), i % 2 == 0 ? "a" : "b", 100);
        }
        long before = server.store.revision();
        // when half of it is deleted
        CompletableFuture<ApiResponse> deleted =
                server.send(TestServer.ADMIN, "DELETE", MAPS + "?labelSelector=l%3Da", Map.of(), "");
        server.settle();
        // then each object was deleted once
        assertThat(TestServer.answer(deleted).status()).isEqualTo(200);
        assertThat(server.store.revision()).isEqualTo(before + 50);
        assertThat(server.get(MAPS).names()).hasSize(50).allMatch(name -> Integer.parseInt(name.substring(1)) % 2 == 1);
    }

    @Test
    @Tag("W64")
    void watchReadsPastChangesInChunksAndThenContinues() {
        // given a watch that starts with 30 large objects and 300 past changes
        String version = server.get(MAPS).version();
        for (int i = 0; i < 30; i++) {
            create("c" + (100 + i), "a", 20_000);
        }
        for (int i = 0; i < 300; i++) {
            server.put(MAPS + "/c100", body("c100", "v" + i, 10));
        }
        CompletableFuture<ApiResponse> response =
                server.send(TestServer.ADMIN, "GET", MAPS + "?watch=1&resourceVersion=" + version, Map.of(), "");
        server.settle();
        Taken reader = new Taken();
        ((ApiResponse.Streamed) response.join()).start().accept(reader);
        // when it takes chunks, while more changes happen
        List<byte[]> chunk = reader.chunks().next();
        assertThat(chunk.stream().mapToInt(line -> line.length).sum()).isLessThan(ResponseChunks.SIZE + 21_000);
        server.put(MAPS + "/c101", body("c101", "new", 10));
        int lines = 0;
        while (!chunk.isEmpty()) {
            lines += chunk.size();
            chunk = reader.chunks().next();
        }
        server.settle();
        // then it has received all of them, and receives new ones
        assertThat(lines).isEqualTo(331);
        assertThat(reader.news).isZero();
        server.put(MAPS + "/c102", body("c102", "newer", 10));
        assertThat(reader.news).isEqualTo(1);
    }

    /** A reader that takes chunks on request. */
    private static final class Taken implements StreamSink {
        private List<ResponseChunks> given = List.of();
        private int news;

        private ResponseChunks chunks() {
            return given.getFirst();
        }

        @Override
        public void writeFirst(ResponseChunks chunks) {
            given = List.of(chunks);
        }

        @Override
        public void writeFirst(byte[] bytes) {
            throw new AssertionError("expected pieces");
        }

        @Override
        public void write(byte[] bytes) {
            news++;
        }

        @Override
        public void end() {}

        @Override
        public void onClose(Runnable action) {}
    }
}
