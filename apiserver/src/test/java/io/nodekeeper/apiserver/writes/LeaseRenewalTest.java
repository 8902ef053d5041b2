package io.nodekeeper.apiserver.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The short path of lease renewals, alone and against the general path. */
class LeaseRenewalTest {
    private static final String STORED = "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{"
            + "\"name\":\"n1\",\"namespace\":\"kube-node-lease\",\"uid\":\"u1\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},"
            + "\"spec\":{\"holderIdentity\":\"n1\",\"leaseDurationSeconds\":40,\"renewTime\":\"2026-01-01T00:00:00.000000Z\"}}";

    private static final String LATER = "2026-01-01T00:00:10.123456Z";

    private static String renewed(String stored, String body) {
        return LeaseRenewal.renewed(bytes(stored), 7, bytes(body))
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                .orElse("");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String renewal(String before, String after) {
        return STORED.replace("2026-01-01T00:00:00.000000Z", LATER).replace(before, after);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"resourceVersion\":\"7\",\"name\":\"n1\",",
                "{\"name\":\"n1\",\"resourceVersion\":\"7\",",
            })
    void versionMayBeAnywhereInTheMetadata(String place) {
        String body = renewal("{\"name\":\"n1\",", place);

        assertThat(renewed(STORED, body)).isEqualTo(renewal("", ""));
        assertThat(renewed(STORED, body + "\n")).isEqualTo(renewal("", ""));
    }

    @Test
    void versionMayBeTheLastFieldOfTheMetadata() {
        String body = renewal("00Z\"},", "00Z\",\"resourceVersion\":\"7\"},");

        assertThat(renewed(STORED, body)).isEqualTo(renewal("", ""));
    }

    @Test
    void kindAndApiVersionMayBeInEitherOrder() {
        String body = renewal("{\"name\"", "{\"resourceVersion\":\"7\",\"name\"")
                .replace(
                        "\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\"",
                        "\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\"");

        assertThat(renewed(STORED, body)).isEqualTo(renewal("", ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"resourceVersion\":\"8\",\"name\":\"n1\"",
                "\"resourceVersion\":\"07\",\"name\":\"n\"",
                "\"resourceVersion\":\"7\",\"name\":\"n2\"",
                "\"name\":\"n1\"",
            })
    void otherMetadataIsLeftToTheGeneralPath(String metadata) {
        assertThat(renewed(STORED, renewal("\"name\":\"n1\"", metadata))).isEmpty();
    }

    @Test
    void versionOutsideTheMetadataIsLeftToTheGeneralPath() {
        assertThat(renewed(STORED, renewal("\"spec\":{", "\"spec\":{\"resourceVersion\":\"7\",")))
                .isEmpty();
        String owned = STORED.replace(
                "\"},\"spec\"",
                "\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u2\"}]},\"spec\"");
        String body = owned.replace("00.000000Z", "10.000000Z");
        assertThat(renewed(owned, body.replace("\"uid\":\"u1\"", "\"resourceVersion\":\"7\",\"uid\":\"u1\"")))
                .isEqualTo(body);
        assertThat(renewed(owned, body.replace("\"uid\":\"u2\"", "\"resourceVersion\":\"7\",\"uid\":\"u2\"")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-01-01T00:00:00.000000Z",
                "2026-02-30T00:00:00.000000Z",
                "2026-01-01T24:00:00.000000Z",
                "2026-01-01T00:00:00.00000zZ",
                "2026-01-01T00:00:00.00+01:0",
            })
    void timesThatAreTheSameOrNoneAreLeftToTheGeneralPath(String time) {
        String body = renewal("{\"name\"", "{\"resourceVersion\":\"7\",\"name\"");

        assertThat(renewed(STORED, body)).isNotEmpty();
        assertThat(renewed(STORED, body.replace(LATER, time))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"labels\":{\"a\":\"b\"}",
                "\"managedFields\":[]",
                "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"",
                "\"finalizers\":[\"example.com/a\"]",
                "\"unknown\":\"x\"",
            })
    void leasesWithOtherFieldsAreLeftToTheGeneralPath(String field) {
        String stored = STORED.replace("\"uid\":\"u1\"", "\"uid\":\"u1\"," + field);
        String body =
                stored.replace("00.000000Z", "10.000000Z").replace("{\"name\"", "{\"resourceVersion\":\"7\",\"name\"");

        assertThat(renewed(stored, body)).isEmpty();
    }

    @Test
    void bothPathsGiveTheSameAnswerToUpdatesOfAllKinds() {
        compare(10, 1_000);
    }

    /** Takes 40 s of processor time. Each pair has another seed, so more pairs compare more. */
    @Test
    @Tag("long")
    void bothPathsGiveTheSameAnswerToTwoHundredThousandUpdates() {
        compare(100, 2_000);
    }

    private static void compare(int pairs, int steps) {
        long recognized = 0;
        long messages = 0;
        long accepted = 0;
        for (int seed = 1; seed <= pairs; seed++) {
            LeaseRenewalPair pair = new LeaseRenewalPair(Randoms.seeded(seed));
            for (int i = 0; i < steps; i++) {
                pair.step();
            }
            recognized += pair.recognized;
            messages += pair.messages;
            accepted += pair.accepted;
        }
        // The comparison means something only if many updates take the short path, and many others do not.
        assertThat(recognized).isGreaterThan(pairs * (long) steps / 10);
        assertThat(messages).isGreaterThan(pairs * (long) steps / 50);
        assertThat(accepted).isGreaterThan(pairs * (long) steps / 5);
    }
}
