package io.nodekeeper.apiserver.watches;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.apiserver.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Watchers of one form of answer get the same bytes, so that many of them cost as much as one. */
class SharedLinesTest {
    private static final String TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
    private static final String METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

    private static final String PROTOBUF = "application/vnd.kubernetes.protobuf";

    private final TestServer server = new TestServer();

    /** The bytes themselves. */
    private static final class Bytes implements StreamSink {
        private final List<byte[]> lines = new ArrayList<>();
        /** The numbers of lines that were written together. */
        private final List<Integer> together = new ArrayList<>();

        @Override
        public void writeFirst(byte[] bytes) {
            lines.add(bytes);
        }

        @Override
        public void write(byte[] bytes) {
            lines.add(bytes);
        }

        @Override
        public void write(List<byte[]> parts) {
            together.add(parts.size());
            lines.addAll(parts);
        }

        @Override
        public void end() {}

        @Override
        public void onClose(Runnable action) {}

        private String text(int index) {
            return new String(lines.get(index), StandardCharsets.UTF_8);
        }
    }

    private Bytes watch(String accept, String selector) {
        return watchOf("/api/v1/namespaces/default/configmaps?watch=true" + selector, accept);
    }

    private Bytes watchOf(String uri, String accept) {
        ApiResponse answer = server.send(TestServer.ADMIN, "GET", uri, Map.of("accept", accept), "")
                .join();
        Bytes bytes = new Bytes();
        ((ApiResponse.Streamed) answer).start().accept(bytes);
        server.settle();
        assertThat(bytes.lines).isEmpty();
        return bytes;
    }

    /** Their watchers stand in one list, in the order in which they came. */
    @Test
    void watchersOfEachApiOfEventsShareTheBytes() {
        String older = "/api/v1/namespaces/default/events?watch=true";
        String newer = "/apis/events.k8s.io/v1/namespaces/default/events?watch=true";
        Bytes first = watchOf(older, "application/json");
        Bytes second = watchOf(newer, "application/json");
        Bytes third = watchOf(older, "application/json");
        Bytes fourth = watchOf(newer, "application/json");

        TestServer.Answer created = server.post(
                "/api/v1/namespaces/default/events",
                "{\"metadata\":{\"name\":\"e1\",\"namespace\":\"default\"},\"involvedObject\":{\"namespace\":\"default\"}}");

        assertThat(created.status()).as(created.text()).isEqualTo(201);
        assertThat(first.text(0)).contains("\"apiVersion\":\"v1\"");
        assertThat(second.text(0)).contains("\"apiVersion\":\"events.k8s.io/v1\"");
        assertThat(third.lines.get(0)).isSameAs(first.lines.get(0));
        assertThat(fourth.lines.get(0)).isSameAs(second.lines.get(0));
    }

    private void create(String name) {
        server.post(
                "/api/v1/namespaces/default/configmaps",
                "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{\"a\":\"b\"}}}");
    }

    @ParameterizedTest
    @ValueSource(strings = {TABLE, METADATA, PROTOBUF})
    void watchersOfOneFormShareTheBytes(String form) {
        Bytes first = watch(form, "");
        Bytes second = watch(form, "");
        create("c1");
        create("c2");

        assertThat(first.lines).hasSize(2);
        assertThat(second.lines.get(0)).isSameAs(first.lines.get(0));
        assertThat(second.lines.get(1)).isSameAs(first.lines.get(1));
    }

    /** Changes that are committed together reach each watcher together, and are converted before that, once for all. */
    @Test
    void watchersInProtobufShareTheFramesOfChangesThatComeTogether() {
        List<Bytes> watchers = List.of(watch(PROTOBUF, ""), watch(PROTOBUF, ""), watch(PROTOBUF, ""));
        for (String name : List.of("c1", "c2", "c3")) {
            server.send(
                    TestServer.ADMIN,
                    "POST",
                    "/api/v1/namespaces/default/configmaps",
                    Map.of(),
                    "{\"metadata\":{\"name\":\"" + name + "\"}}");
        }
        server.settle();

        for (Bytes watcher : watchers) {
            assertThat(watcher.together).containsExactly(3);
            assertThat(watcher.lines)
                    .hasSize(3)
                    .usingElementComparator((a, b) -> a == b ? 0 : 1)
                    .isEqualTo(watchers.getFirst().lines);
        }
    }

    @Test
    void columnsAreOnlyInTheFirstLineOfEachWatcher() {
        Bytes early = watch(TABLE, "");
        create("c1");
        // given a watcher that has had its columns, and one that begins after them
        Bytes late = watch(TABLE, "&resourceVersion=" + server.store.revision());
        create("c2");

        assertThat(early.text(0)).contains("\"columnDefinitions\":[{");
        assertThat(early.text(1)).doesNotContain("\"columnDefinitions\":[{").contains("c2");
        assertThat(late.text(0)).contains("\"columnDefinitions\":[{").contains("c2");
    }

    /** The one with a selection is told last. */
    @Test
    void watchersWithAndWithoutASelectionShareTheLinesOfWholeObjects() {
        Bytes some = watch("application/json", "&labelSelector=a%3Db");
        Bytes all = watch("application/json", "");
        create("c1");
        server.delete("/api/v1/namespaces/default/configmaps/c1", "");

        assertThat(all.text(0)).startsWith("{\"type\":\"ADDED\"");
        assertThat(all.text(1)).startsWith("{\"type\":\"DELETED\"");
        assertThat(some.lines).hasSize(2);
        assertThat(some.lines.get(0)).isSameAs(all.lines.get(0));
        assertThat(some.lines.get(1)).isSameAs(all.lines.get(1));
    }

    @Test
    void watchersWhoseSelectionAnObjectEntersOrLeavesShareItsLines() {
        Bytes first = watch("application/json", "&labelSelector=a%3Db");
        Bytes second = watch("application/json", "&labelSelector=a");
        create("c1");
        server.patch(
                TestServer.MERGE,
                "/api/v1/namespaces/default/configmaps/c1",
                "{\"metadata\":{\"labels\":{\"a\":null}}}");

        assertThat(first.text(1)).startsWith("{\"type\":\"DELETED\"");
        assertThat(second.lines.get(1)).isSameAs(first.lines.get(1));
    }
}
