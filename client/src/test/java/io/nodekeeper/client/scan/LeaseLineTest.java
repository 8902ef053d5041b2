package io.nodekeeper.client.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.random.RandomGenerator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scanner gives the same result as the full parser, or none. */
class LeaseLineTest {
    private static final String REAL = "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Lease\",\"apiVersion\":"
            + "\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"node-1\",\"namespace\":\"kube-node-lease\","
            + "\"uid\":\"6d0a6f1c-7a53-4b0e-9c7d-0d7e6b1a2f33\",\"resourceVersion\":\"10452\","
            + "\"creationTimestamp\":\"2026-01-31T12:00:00Z\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
            + "\"Node\",\"name\":\"other\",\"uid\":\"u\"}],\"managedFields\":[{\"manager\":\"kubelet\",\"fieldsV1\":"
            + "{\"f:metadata\":{\"f:ownerReferences\":{\"k:{\\\"uid\\\":\\\"u\\\"}\":{}}},\"f:spec\":"
            + "{\"f:renewTime\":{}}}}]},\"spec\":{\"holderIdentity\":\"node-1\",\"leaseDurationSeconds\":40,"
            + "\"renewTime\":\"2026-01-31T23:59:59.123456Z\"}}}";

    private final LeaseLine line = new LeaseLine();

    @Test
    void readsWhatMattersOfARealLease() {
        assertThat(scan(REAL)).isTrue();

        assertThat(line.isDeletion()).isFalse();
        assertThat(line.name()).isEqualTo("node-1");
        assertThat(line.nameHash()).isEqualTo("node-1".hashCode());
        assertThat(line.isIn("kube-node-lease")).isTrue();
        assertThat(line.isIn("kube-system")).isFalse();
        assertThat(line.uid()).isEqualTo("6d0a6f1c-7a53-4b0e-9c7d-0d7e6b1a2f33");
        assertThat(line.resourceVersion()).isEqualTo(10_452);
        assertThat(line.isHeldBy("node-1")).isTrue();
        assertThat(line.renewMicros()).isEqualTo(1_769_903_999_123_456L);
    }

    @Test
    void aLeaseThatWasNeverRenewedHasNoTime() {
        assertThat(scan("{\"object\":{\"spec\":null,\"metadata\":{\"resourceVersion\":\"7\",\"name\":\"n\"}},"
                        + "\"type\":\"DELETED\"}"))
                .isTrue();

        assertThat(line.isDeletion()).isTrue();
        assertThat(line.renewMicros()).isEqualTo(LeaseLine.NO_TIME);
        assertThat(line.holder()).isEmpty();
        assertThat(line.uid()).isEmpty();
        assertThat(line.isIn("")).isTrue();
    }

    @Test
    void readsOnlyItsRangeAndForgetsTheLineBefore() {
        assertThat(scan(REAL)).isTrue();
        byte[] bytes = ("#" + event("{\"name\":\"b\",\"resourceVersion\":\"8\"}", "{}") + "#")
                .getBytes(StandardCharsets.UTF_8);

        assertThat(line.scan(bytes, 1, bytes.length - 1)).isTrue();
        assertThat(line.name()).isEqualTo("b");
        assertThat(line.uid()).isEmpty();
        assertThat(line.renewMicros()).isEqualTo(LeaseLine.NO_TIME);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "[]",
                "null",
                "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"8\"}}}",
                "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"n\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"\",\"resourceVersion\":\"8\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\\u0062\",\"resourceVersion\":\"8\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\\/b\",\"resourceVersion\":\"8\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"n\\u0061me\":\"a\",\"resourceVersion\":\"8\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"ä\",\"resourceVersion\":\"8\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":7,\"resourceVersion\":\"8\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"x8\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"08\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"n\",\"name\":\"m\",\"resourceVersion\":\"8\"}}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"8\"}}} x",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"8\"},\"x\":01}}",
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"8\"},\"x\":[1,]}}"
            })
    void leavesTheRestToTheFullParser(String text) {
        assertThat(scan(text)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-02-30T00:00:00Z",
                "2026-01-01T24:00:00Z",
                "2026-01-01T00:00:60Z",
                "2026-01-01T00:00:00.1234567Z",
                "2026-01-01T00:00:00.Z",
                "2026-01-01T00:00:00+00:00",
                "2026-01-01t00:00:00z",
                "0000-01-01T00:00:00Z",
                "20260101T000000Z",
                ""
            })
    void anUnusualTimeIsLeftToTheFullParser(String time) {
        assertThat(scan(event("{\"name\":\"n\",\"resourceVersion\":\"8\"}", "{\"renewTime\":\"" + time + "\"}")))
                .isFalse();
    }

    @Property(tries = 5_000)
    void timesAreThoseOfTheCalendar(@ForAll long seed) {
        RandomGenerator random = Randoms.seeded(seed);
        long micros = random.nextLong(-62_135_596_800L, 253_402_300_800L) * 1_000_000 + random.nextInt(1_000_000);
        Instant time = Instant.EPOCH
                .plusSeconds(Math.floorDiv(micros, 1_000_000L))
                .plusNanos(Math.floorMod(micros, 1_000_000L) * 1_000);
        byte[] text = KubeTime.formatMicro(time).getBytes(StandardCharsets.UTF_8);

        assertThat(MicroTimes.parse(text, 0, text.length)).isEqualTo(micros);
        byte[] shorter = KubeTime.format(time).getBytes(StandardCharsets.UTF_8);
        assertThat(MicroTimes.parse(shorter, 0, shorter.length))
                .isEqualTo(Math.floorDiv(micros, 1_000_000L) * 1_000_000);
    }

    @Property(tries = 20_000)
    void saysTheSameAsTheFullParserOfRandomLeases(@ForAll long seed) {
        String text = randomEvent(Randoms.seeded(seed));

        assertThat(understandsAs(text.getBytes(StandardCharsets.UTF_8)))
                .as(text)
                .isTrue();
    }

    @Property(tries = 30_000)
    void saysTheSameOrNothingOfMutatedLeases(@ForAll long seed) {
        RandomGenerator random = Randoms.seeded(seed);
        byte[] bytes = (random.nextBoolean() ? REAL : randomEvent(random)).getBytes(StandardCharsets.UTF_8);

        understandsAs(mutate(bytes, random));
    }

    @Property(tries = 5_000)
    void neverFailsOnGarbage(@ForAll byte[] garbage) {
        understandsAs(garbage);
    }

    @Test
    void understandsNoUnfinishedLine() {
        byte[] bytes = REAL.getBytes(StandardCharsets.UTF_8);
        for (int length = 0; length < bytes.length; length++) {
            assertThat(line.scan(bytes, 0, length)).as("%d bytes", length).isFalse();
        }
    }

    /** Whether the line is understood; if so, the full parser has to agree. */
    private boolean understandsAs(byte[] bytes) {
        if (!line.scan(bytes, 0, bytes.length)) {
            return false;
        }
        Optional<JsonObject> parsed = parse(bytes);
        if (parsed.isEmpty()) {
            return true;
        }
        Lease lease = new Lease(parsed.get().object("object"));
        assertThat(parsed.get().text("type")).isIn("ADDED", "MODIFIED", "DELETED");
        assertThat(line.isDeletion()).isEqualTo(parsed.get().text("type").equals("DELETED"));
        assertThat(line.name()).isEqualTo(lease.name());
        assertThat(line.nameHash()).isEqualTo(lease.name().hashCode());
        assertThat(line.isIn(lease.namespace())).isTrue();
        assertThat(line.uid()).isEqualTo(lease.uid());
        assertThat(Long.toString(line.resourceVersion())).isEqualTo(lease.resourceVersion());
        assertThat(line.holder()).isEqualTo(lease.holderIdentity());
        assertThat(line.isHeldBy(lease.holderIdentity())).isTrue();
        assertThat(line.renewMicros())
                .isEqualTo(lease.renewTime()
                        .map(time -> time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000)
                        .orElse(LeaseLine.NO_TIME));
        return true;
    }

    /** The result of the full parser; empty if an unused field is repeated, which the scanner accepts. */
    private static Optional<JsonObject> parse(byte[] bytes) {
        try {
            return Optional.of(Json.parseObject(bytes));
        } catch (JsonException e) {
            assertThat(e).hasMessageContaining("duplicate field");
            return Optional.empty();
        }
    }

    private boolean scan(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return line.scan(bytes, 0, bytes.length);
    }

    private static String event(String metadata, String spec) {
        return "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":" + metadata + ",\"spec\":" + spec + "}}";
    }

    private static String randomEvent(RandomGenerator random) {
        List<String> metadata = new ArrayList<>(List.of(
                field("name", quoted(word(random))),
                field("resourceVersion", quoted(Long.toString(random.nextLong(1, 1_000_000_000_000_000L))))));
        maybe(random, metadata, field("namespace", random.nextBoolean() ? quoted("kube-node-lease") : "null"));
        maybe(random, metadata, field("uid", quoted(word(random))));
        maybe(random, metadata, field("labels", value(random, 0)));
        maybe(random, metadata, field("managedFields", value(random, 0)));
        List<String> spec = new ArrayList<>();
        long seconds = random.nextLong(0, 4_000_000_000L);
        maybe(
                random,
                spec,
                field(
                        "renewTime",
                        quoted(KubeTime.formatMicro(Instant.ofEpochSecond(seconds, random.nextInt(1_000_000_000))))));
        maybe(random, spec, field("holderIdentity", quoted(word(random))));
        maybe(random, spec, field("leaseDurationSeconds", "40"));
        maybe(random, spec, field("x", value(random, 0)));
        List<String> object = new ArrayList<>(List.of(field("metadata", object(random, metadata))));
        maybe(random, object, field("spec", object(random, spec)));
        maybe(random, object, field("kind", quoted("Lease")));
        maybe(random, object, field("status", value(random, 0)));
        List<String> event = new ArrayList<>(List.of(
                field("type", quoted(List.of("ADDED", "MODIFIED", "DELETED").get(random.nextInt(3)))),
                field("object", object(random, object))));
        maybe(random, event, field("more", value(random, 0)));
        return object(random, event);
    }

    private static String value(RandomGenerator random, int depth) {
        return switch (random.nextInt(depth > 3 ? 5 : 7)) {
            case 0 -> List.of("0", "-1", "40", "1.5", "2e9", "-0.25E-3").get(random.nextInt(6));
            case 1 -> List.of("true", "false", "null").get(random.nextInt(3));
            case 2, 3 -> quoted(word(random));
            case 4 -> quoted("k:{\\\"" + word(random) + "\\\":\\\\ \\n}");
            case 5 -> {
                List<String> fields = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    fields.add(field("f" + i + word(random), value(random, depth + 1)));
                }
                yield object(random, fields);
            }
            default -> {
                List<String> items = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    items.add(value(random, depth + 1));
                }
                yield "[" + String.join(space(random) + ",", items) + space(random) + "]";
            }
        };
    }

    private static void maybe(RandomGenerator random, List<String> fields, String field) {
        if (random.nextInt(4) > 0) {
            fields.add(field);
        }
    }

    private static String object(RandomGenerator random, List<String> fields) {
        List<String> shuffled = new ArrayList<>(fields);
        Collections.shuffle(shuffled, Random.from(random));
        return space(random) + "{" + space(random) + String.join(space(random) + "," + space(random), shuffled) + "}";
    }

    private static String field(String name, String value) {
        return quoted(name) + ":" + value;
    }

    private static String quoted(String text) {
        return "\"" + text + "\"";
    }

    private static String space(RandomGenerator random) {
        return List.of("", "", "", " ", "\t", "\r ").get(random.nextInt(6));
    }

    private static String word(RandomGenerator random) {
        String alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-.:/ {}[],";
        StringBuilder word = new StringBuilder();
        for (int i = random.nextInt(1, 20); i > 0; i--) {
            word.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return word.toString();
    }

    /** Some bytes are changed, dropped, doubled or swapped with others. */
    private static byte[] mutate(byte[] bytes, RandomGenerator random) {
        byte[] mutated = bytes.clone();
        for (int i = random.nextInt(1, 4); i > 0 && mutated.length > 1; i--) {
            int at = random.nextInt(mutated.length);
            switch (random.nextInt(4)) {
                case 0 -> mutated[at] = (byte) random.nextInt(256);
                case 1 -> mutated[at] = (byte) "{}[]\",:\\0-n.eTZ".charAt(random.nextInt(15));
                case 2 -> mutated = Arrays.copyOf(mutated, at);
                default -> {
                    int from = random.nextInt(mutated.length);
                    int length = Math.min(random.nextInt(1, 30), mutated.length - Math.max(at, from));
                    System.arraycopy(mutated.clone(), from, mutated, at, length);
                }
            }
        }
        return mutated;
    }
}
