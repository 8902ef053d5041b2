package io.nodekeeper.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.simulator.replay.RecordingWriter;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a recorder writes about what it sees, in virtual time. */
class RecorderTest {
    private static final Instant BEGIN = Instant.parse("2026-11-30T06:00:00Z");

    private final VirtualTime time = new VirtualTime(BEGIN);
    private final FakeTransport transport = new FakeTransport();
    private final ByteArrayOutputStream file = new ByteArrayOutputStream();
    private Recorder recorder;

    /** What the API server stores. */
    private long revision = 10;

    private final List<JsonObject> nodes = new ArrayList<>();
    private final List<JsonObject> leases = new ArrayList<>();
    private Set<String> unanswered = Set.of();

    RecorderTest() throws IOException {
        recorder = recorder(file);
    }

    private Recorder recorder(OutputStream out) throws IOException {
        KubeClient client = new KubeClient(transport, time.loop("record"), Duration.ofSeconds(30));
        return new Recorder(client, Randoms.seeded(1), new RecordingWriter(out, BEGIN));
    }

    @BeforeEach
    void aClusterOfOneNode() {
        nodes.add(node("a", 8, "True"));
        leases.add(lease("a", 9, "06:00:00"));
        transport.answer(this::answer);
        recorder.start();
        time.advance(Duration.ofMillis(500));
    }

    private Optional<Reply> answer(Call call) {
        String resource = call.toString().contains("/nodes") ? "nodes" : "leases";
        if (unanswered.contains(resource)) {
            return Optional.empty();
        }
        List<JsonObject> items = resource.equals("nodes") ? List.copyOf(nodes) : List.copyOf(leases);
        JsonObject metadata = JsonObject.EMPTY.with("resourceVersion", Long.toString(revision));
        return Optional.of(FakeTransport.reply(
                200,
                JsonObject.EMPTY
                        .with("metadata", metadata)
                        .with("items", new JsonArray(List.<JsonValue>copyOf(items)))));
    }

    private static JsonObject lease(String name, long version, String time) {
        return JsonObject.EMPTY
                .with("metadata", metadata(name, version))
                .with("spec", JsonObject.EMPTY.with("renewTime", "2026-11-30T" + time + "Z"));
    }

    private static JsonObject node(String name, long version, String ready) {
        JsonObject condition = JsonObject.EMPTY.with("type", "Ready").with("status", ready);
        return JsonObject.EMPTY
                .with("metadata", metadata(name, version).with("annotations", JsonObject.EMPTY.with("secret", "s")))
                .with("status", JsonObject.EMPTY.with("conditions", JsonArray.of(condition)));
    }

    private static JsonObject metadata(String name, long version) {
        return JsonObject.EMPTY
                .with("name", name)
                .with("uid", "uid-" + name)
                .with("resourceVersion", Long.toString(version));
    }

    private FakeTransport.Watch watch(String resource) {
        return transport.watches().stream()
                .filter(watch -> watch.call().toString().contains("/" + resource))
                .toList()
                .getLast();
    }

    /** How many watches of that resource were opened so far. */
    private long watchesOf(String resource) {
        return transport.watches().stream()
                .filter(watch -> watch.call().toString().contains("/" + resource))
                .count();
    }

    /** The node renews; the watch shows it if it works. */
    private void renew(String time, boolean seen) {
        JsonObject lease = lease("a", ++revision, time);
        leases.set(0, lease);
        if (seen) {
            watch("leases").event("MODIFIED", lease);
        }
    }

    private List<String> lines() throws IOException {
        return lines(file);
    }

    private List<String> lines(ByteArrayOutputStream file) throws IOException {
        recorder.end();
        time.advance(Duration.ofMillis(1));
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(file.toByteArray()))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .skip(1)
                    .toList();
        }
    }

    @Test
    void renewalsAndChangesOfNodesAreWrittenWithTheirTimes() throws IOException {
        time.advance(Duration.ofMillis(9_750));
        renew("06:00:10", true);
        // The canary of a controller, a lease that was not renewed, and a node of which only an annotation changed.
        watch("leases")
                .event(
                        "MODIFIED",
                        lease("nodekeeper-canary", ++revision, "06:00:10")
                                .update(
                                        "metadata",
                                        metadata -> metadata.with(
                                                "labels", JsonObject.EMPTY.with("nodekeeper.io/canary", "true"))));
        watch("leases").event("MODIFIED", lease("a", ++revision, "06:00:10"));
        watch("nodes").event("MODIFIED", node("a", ++revision, "True"));
        time.advance(Duration.ofSeconds(1));
        watch("nodes").event("MODIFIED", node("a", ++revision, "Unknown"));
        watch("nodes").event("DELETED", node("a", ++revision, "Unknown"));

        assertThat(lines())
                .containsExactly(
                        "{\"at\":0.000000,\"node\":{\"metadata\":{\"name\":\"a\",\"uid\":\"uid-a\",\"labels\":{}},"
                                + "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}}",
                        "{\"at\":0.000000,\"lease\":\"a\",\"renewTime\":\"2026-11-30T06:00:00Z\"}",
                        "{\"at\":10.250000,\"lease\":\"a\",\"renewTime\":\"2026-11-30T06:00:10Z\"}",
                        "{\"at\":11.250000,\"node\":{\"metadata\":{\"name\":\"a\",\"uid\":\"uid-a\",\"labels\":{}},"
                                + "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}}",
                        "{\"at\":11.250000,\"gone\":\"a\"}",
                        "{\"at\":11.250000,\"end\":true}");
    }

    @Test
    void aClusterInWhichNothingHappensIsSeen() throws IOException {
        time.advance(Duration.ofMinutes(1));

        assertThat(recorder.gaps()).isZero();
        assertThat(lines()).noneMatch(line -> line.contains("sight"));
    }

    @Test
    void aWatchThatStallsLosesSightUntilItsChangesCome() throws IOException {
        time.advance(Duration.ofMillis(9_500));
        renew("06:00:10", false);
        time.advance(Duration.ofSeconds(10));
        assertThat(recorder.gaps()).isEqualTo(1);

        watch("leases").event("MODIFIED", leases.getFirst());
        time.advance(Duration.ofSeconds(3));

        assertThat(lines())
                .filteredOn(line -> !line.contains("node"))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("{\"at\":0.000000,\"lease\""),
                        // The last proof was of the second before the renewal.
                        line -> assertThat(line).matches("\\{\"at\":1[3-6]\\.\\d+,\"sightLostSince\":(8|9|10)\\.\\d+}"),
                        line -> assertThat(line).startsWith("{\"at\":20.000000,\"lease\""),
                        line -> assertThat(line).matches("\\{\"at\":2[0-2]\\.\\d+,\"sightFound\":true}"),
                        line -> assertThat(line).contains("end"));
    }

    @Test
    void anApiServerThatDoesNotAnswerIsAGap() throws IOException {
        unanswered = Set.of("nodes", "leases");
        time.advance(Duration.ofSeconds(20));
        assertThat(recorder.gaps()).isEqualTo(1);

        unanswered = Set.of();
        time.advance(Duration.ofSeconds(10));

        assertThat(recorder.gaps()).isEqualTo(1);
        assertThat(lines()).filteredOn(line -> line.contains("sight")).hasSize(2);
    }

    @Test
    void aStalledWatchOfNodesIsAGapToo() throws IOException {
        time.advance(Duration.ofSeconds(30));
        // A node is deleted, and no event reports it.
        nodes.clear();
        revision += 5;
        time.advance(Duration.ofSeconds(40));
        assertThat(recorder.gaps()).isEqualTo(1);
        assertThat(watch("nodes").cancelled()).as("the watch was opened again").isFalse();
        assertThat(watchesOf("nodes")).isGreaterThan(1);

        watch("nodes").event("DELETED", node("a", revision, "True"));
        time.advance(Duration.ofSeconds(15));

        assertThat(lines())
                .filteredOn(line -> line.contains("sight") || line.contains("gone"))
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("{\"at\":57.000000,\"sightLostSince\":26.000000}"),
                        line -> assertThat(line).contains("gone"),
                        line -> assertThat(line).contains("sightFound"));
    }

    @Test
    void aWatchThatStallsWhileTheOtherOneDoesIsOpenedAgainToo() {
        // Given a watch of leases that stalls, so that there is no sight,
        unanswered = Set.of("leases");
        time.advance(Duration.ofSeconds(25));
        assertThat(recorder.gaps()).isEqualTo(1);
        long before = watchesOf("nodes");

        // when that of nodes stalls
        nodes.clear();
        revision += 5;
        time.advance(Duration.ofSeconds(45));

        // then it is opened again, although the gap is the same one
        assertThat(recorder.gaps()).isEqualTo(1);
        assertThat(watchesOf("nodes")).isGreaterThan(before);
    }

    @Test
    void whatIsNotListedYetIsAGapFromTheBeginning() throws IOException {
        ByteArrayOutputStream late = new ByteArrayOutputStream();
        recorder = recorder(late);
        unanswered = Set.of("leases");
        recorder.start();
        time.advance(Duration.ofSeconds(25));
        assertThat(recorder.hasBegun()).isFalse();

        unanswered = Set.of();
        transport.release();
        time.advance(Duration.ofSeconds(15));

        assertThat(recorder.hasBegun()).isTrue();
        assertThat(lines(late))
                .filteredOn(line -> line.contains("sight"))
                .satisfiesExactly(
                        line -> assertThat(line).endsWith("\"sightLostSince\":0.000000}"),
                        line -> assertThat(line).contains("sightFound"));
    }

    @Test
    void renewalsByOthersAndLeasesWithoutATimeAreNone() throws IOException {
        JsonObject other = lease("a", ++revision, "06:00:10");
        watch("leases").event("MODIFIED", other.update("spec", spec -> spec.with("holderIdentity", "another-machine")));
        watch("leases").event("ADDED", lease("b", ++revision, "06:00:10").without("spec"));
        // An API server that was told 23:59:59-01:00 of the last day of the year 9999 stores this.
        watch("leases")
                .event(
                        "ADDED",
                        lease("c", ++revision, "06:00:10")
                                .update("spec", spec -> spec.with("renewTime", "10000-01-01T00:59:59.000000Z")));

        assertThat(lines()).filteredOn(line -> line.contains("lease")).hasSize(1);
    }

    @Test
    void aFileThatCannotBeWrittenIsReported() throws IOException {
        recorder = recorder(new OutputStream() {
            private int written;

            @Override
            public void write(int b) throws IOException {
                // The head of gzip.
                if (++written > 10) {
                    throw new IOException("no space left on device");
                }
            }
        });
        recorder.start();

        time.advance(Duration.ofSeconds(2));

        assertThat(recorder.failed()).isCompletedExceptionally();
        assertThat(recorder.failed().exceptionNow()).hasMessage("no space left on device");
    }
}
