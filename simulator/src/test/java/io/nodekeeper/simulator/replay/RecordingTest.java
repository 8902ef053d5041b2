package io.nodekeeper.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.time.Randoms;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.random.RandomGenerator;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Recordings are read as they were written, and what is none is refused with its line and what was expected. */
class RecordingTest {
    private static final String HEAD =
            "{\"kind\":\"nodekeeper.io/Recording\",\"version\":1,\"begin\":\"2026-11-30T06:00:00Z\"}";

    @TempDir
    Path directory;

    private Path file;

    @BeforeEach
    void name() {
        file = directory.resolve("test.rec");
    }

    private void lines(String... lines) throws IOException {
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void whatWasWrittenIsRead() throws IOException {
        Tape tape = new Tape()
                .node(0.25, "a", "uid", Condition.TRUE, 0)
                .renews("a", 1, 31)
                .blind(12, 20.5)
                .gone(40, "a");

        Recording recording = tape.write(file, 60);

        assertThat(recording.begin()).isEqualTo(Tape.BEGIN);
        assertThat(recording.duration()).isEqualTo(Duration.ofSeconds(60));
        assertThat(recording.nodes()).isEqualTo(1);
        assertThat(recording.renewals()).isEqualTo(4);
        assertThat(recording.gaps())
                .containsExactly(new Recording.Gap(Duration.ofSeconds(12), Duration.ofMillis(20_500)));
        assertThat(recording.cut()).isFalse();
        try (RecordingReader reader = new RecordingReader(file)) {
            assertThat(reader.next().orElseThrow()).isInstanceOf(RecordedChange.NodeSeen.class);
            assertThat(reader.next())
                    .contains(new RecordedChange.Renewed(Duration.ofSeconds(1), "a", "2026-11-30T06:00:01.000000Z"));
        }
    }

    @Test
    void theFileOfAKilledRecorderHasWhatWasFlushed() throws IOException {
        RecordingWriter writer = new RecordingWriter(Files.newOutputStream(file), Tape.BEGIN);
        writer.write(new RecordedChange.Renewed(Duration.ofSeconds(1), "a", "2026-11-30T06:00:01Z"));
        writer.flush();
        writer.write(new RecordedChange.Renewed(Duration.ofSeconds(2), "a", "2026-11-30T06:00:02Z"));

        Recording recording = Recording.read(file);

        assertThat(recording.renewals()).isEqualTo(1);
        assertThat(recording.duration()).isEqualTo(Duration.ofSeconds(1));
        assertThat(recording.cut()).isTrue();
        writer.close();
    }

    @Test
    void sightThatIsLostAtTheEndIsAGapUntilThen() throws IOException {
        lines(
                HEAD,
                "{\"at\":9,\"sightLostSince\":3}",
                "{\"at\":12,\"lease\":\"a\",\"renewTime\":\"2026-11-30T06:00:12Z\"}");

        assertThat(Recording.read(file).gaps())
                .containsExactly(new Recording.Gap(Duration.ofSeconds(3), Duration.ofSeconds(12)));
    }

    @Test
    void gapsDoNotOverlap() throws IOException {
        lines(
                HEAD,
                "{\"at\":9,\"sightLostSince\":3}",
                "{\"at\":12,\"sightFound\":true}",
                "{\"at\":20,\"sightLostSince\":1}",
                "{\"at\":21,\"sightLostSince\":2}",
                "{\"at\":22,\"sightFound\":true}",
                "{\"at\":23,\"sightFound\":true}");

        assertThat(Recording.read(file).gaps())
                .containsExactly(
                        new Recording.Gap(Duration.ofSeconds(3), Duration.ofSeconds(12)),
                        new Recording.Gap(Duration.ofSeconds(12), Duration.ofSeconds(22)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"at\":1,\"lease\":\"a b\"} | line 2 has lease \"a b\"; expected a node's name (RFC 1123)",
                "{\"at\":1,\"lease\":\"\"} | line 2 has lease \"\"; expected a node's name (RFC 1123)",
                "{\"at\":1,\"lease\":\"a\"} | line 2 has renewTime \"\"; expected a time (RFC 3339)",
                "{\"at\":1,\"gone\":\"../x\"} | line 2 has gone \"../x\"; expected a node's name (RFC 1123)",
                "{\"at\":1,\"node\":{}} | line 2 has name \"\"; expected a node's name (RFC 1123)",
                "{\"at\":-1,\"end\":true} | line 2 has at -1; expected seconds, 0 to 34560000",
                "{\"at\":1e99,\"end\":true} | line 2 has at 1e99; expected seconds, 0 to 34560000",
                "{\"at\":34560001,\"end\":true} | line 2 has at 34560001; expected seconds, 0 to 34560000",
                "{\"at\":\"1\",\"end\":true} | line 2 has at \"1\"; expected seconds, 0 to 34560000",
                "{\"end\":true} | line 2 has at {}; expected seconds, 0 to 34560000",
                "{\"at\":1,\"sightLostSince\":2} | line 2 has a sightLostSince after its time",
                "{\"at\":1} | line 2 has none of node, gone, lease, sightLostSince, sightFound and end",
                "[] | line 2 is not JSON: ",
                "nonsense | line 2 is not JSON: "
            })
    void aWrongLineIsNamed(String line, String message) throws IOException {
        lines(HEAD, line);

        assertThatThrownBy(() -> Recording.read(file))
                .isInstanceOf(RecordingException.class)
                .hasMessageStartingWith(file + ": " + message);
    }

    @Test
    void timeMustNotGoBack() throws IOException {
        lines(HEAD, "{\"at\":2,\"gone\":\"a\"}", "{\"at\":1,\"gone\":\"a\"}");

        assertThatThrownBy(() -> Recording.read(file))
                .hasMessage(file + ": line 3 is of an earlier time than the line before it");
    }

    @Test
    void otherFilesAreRefused() throws IOException {
        Files.writeString(file, HEAD);
        assertThatThrownBy(() -> Recording.read(file)).hasMessageContaining("is not a recording; expected a file that");

        Files.write(file, new byte[0]);
        assertThatThrownBy(() -> Recording.read(file)).hasMessageContaining("is not a recording; expected a file that");

        lines("{\"kind\":\"List\"}");
        assertThatThrownBy(() -> Recording.read(file)).hasMessageContaining("line 1 is not the head of a recording");

        lines(HEAD.replace("1,", "2,"));
        assertThatThrownBy(() -> Recording.read(file)).hasMessageContaining("line 1 has version 2; expected 1");

        lines(HEAD.replace("2026-11-30T06:00:00Z", "soon"));
        assertThatThrownBy(() -> Recording.read(file))
                .hasMessageContaining("line 1 has begin \"soon\"; expected a time");
    }

    @Test
    void aNodeIsRecordedWithoutMessagesAndInvalidTimes() {
        Node node = new Node(Json.parseObject("""
                {"metadata":{"name":"a","uid":"u","labels":{"zone":"z"},"annotations":{"secret":"s"}},
                 "status":{"addresses":[{"address":"10.0.0.1"}],"conditions":[
                   {"type":"Ready","status":"True","lastHeartbeatTime":"2026-11-30T06:00:00Z",
                    "lastTransitionTime":"10000-01-01T00:00:00Z","reason":"KubeletReady","message":"secret"}]}}"""));

        assertThat(RecordedNode.of(node)).isEqualTo(Json.parseObject("""
                {"metadata":{"name":"a","uid":"u","labels":{"zone":"z"}},
                 "status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady",
                   "lastHeartbeatTime":"2026-11-30T06:00:00Z"}]}}"""));
    }

    /** Whatever a node writes, its line can be read; or it alone would make the recording useless. */
    @Test
    void everyNodeThatIsRecordedCanBeRead() throws IOException {
        String escaped = "\u0001".repeat(2_000_000);
        JsonObject hostile = JsonObject.EMPTY
                .with("type", "\u0001".repeat(128))
                .with("status", escaped)
                .with("reason", escaped)
                .with("message", escaped)
                .with("lastHeartbeatTime", escaped);
        JsonObject.Builder labels = JsonObject.builder();
        for (int i = 0; i < 1_000; i++) {
            labels.put(i + "\u0001".repeat(300), "\u0001".repeat(63));
        }
        JsonObject node = JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.EMPTY.with("name", "a").with("uid", escaped).with("labels", labels.build()))
                .with(
                        "status",
                        JsonObject.EMPTY.with(
                                "conditions", new JsonArray(Collections.<JsonValue>nCopies(1_000, hostile))));
        try (RecordingWriter writer = new RecordingWriter(Files.newOutputStream(file), Tape.BEGIN)) {
            writer.write(new RecordedChange.NodeSeen(Duration.ofSeconds(1), RecordedNode.of(new Node(node))));
            writer.write(new RecordedChange.End(Duration.ofSeconds(2)));
        }

        assertThat(Recording.read(file).nodes()).isEqualTo(1);
    }

    @Test
    void aLineHasALimit() throws IOException {
        lines(HEAD, "{\"at\":1,\"gone\":\"" + "x".repeat(1 << 20) + "\"}");

        assertThatThrownBy(() -> Recording.read(file)).hasMessage(file + ": line 2 is longer than 1048576 bytes");
    }

    @Test
    void damagedFilesAreReadUpToTheDamageOrRefused() throws IOException {
        new Tape().node(0, "a", "uid", Condition.TRUE, 0).renews("a", 1, 1_000).write(file, 1_001);
        byte[] whole = Files.readAllBytes(file);
        RandomGenerator random = Randoms.seeded(5);
        for (int i = 0; i < 500; i++) {
            byte[] damaged = Arrays.copyOf(whole, random.nextInt(whole.length) + 1);
            for (int flips = random.nextInt(4); flips > 0; flips--) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            }
            Files.write(file, damaged);
            try {
                assertThat(Recording.read(file).renewals()).isBetween(0L, 100L);
            } catch (RecordingException e) {
                assertThat(e).hasMessageStartingWith(file.toString());
            }
        }
    }
}
