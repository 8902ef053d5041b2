package io.nodekeeper.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The textual forms of times, names and whole objects. */
class FormsTest {

    @ParameterizedTest
    @Tag("W26")
    @CsvSource({
        "2026-11-21T07:43:36Z, 2026-11-21T07:43:36Z, 2026-11-21T07:43:36.000000Z",
        "2026-11-21T07:43:36.5Z, 2026-11-21T07:43:36Z, 2026-11-21T07:43:36.500000Z",
        "2026-11-21T07:43:36.123456789Z, 2026-11-21T07:43:36Z, 2026-11-21T07:43:36.123456Z",
        "2026-11-21T09:43:36+02:00, 2026-11-21T07:43:36Z, 2026-11-21T07:43:36.000000Z",
        "0001-01-01T00:00:00Z, 0001-01-01T00:00:00Z, 0001-01-01T00:00:00.000000Z",
        "9999-12-31T23:59:59.999999Z, 9999-12-31T23:59:59Z, 9999-12-31T23:59:59.999999Z"
    })
    void readsRfc3339AndWritesItInUtc(String text, String time, String micro) {
        Instant read = KubeTime.parse(text).orElseThrow();
        assertThat(KubeTime.format(read)).isEqualTo(time);
        assertThat(KubeTime.formatMicro(read)).isEqualTo(micro);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "2026-11-21",
                "2026-11-21T07:43:36",
                "2026-11-21T07:43Z",
                "2026-11-21 07:43:36Z",
                "2026-02-30T00:00:00Z",
                "2026-11-21T24:00:00Z",
                "2026-11-21T07:43:60Z",
                "+999999-12-31T00:00:00Z",
                "0000-12-31T23:59:59Z",
                "0001-01-01T00:00:00+01:00",
                "9999-12-31T23:59:59-01:00",
                "1700000000"
            })
    void refusesOtherTimes(String text) {
        assertThat(KubeTime.parse(text)).isEmpty();
    }

    @Property
    void readsBackEveryTimeItWrote(
            @ForAll @LongRange(min = -62_135_596_800_000_000L, max = 253_402_300_799_999_999L) long micros) {
        Instant time = Instant.EPOCH
                .plusSeconds(Math.floorDiv(micros, 1_000_000))
                .plusNanos(Math.floorMod(micros, 1_000_000) * 1_000L);
        assertThat(KubeTime.formatMicro(time)).hasSize(27);
        assertThat(KubeTime.parse(KubeTime.formatMicro(time))).contains(time);
        assertThat(KubeTime.parse(KubeTime.format(time))).contains(Instant.ofEpochSecond(time.getEpochSecond()));
    }

    @Property
    void noTextMakesTheTimeReaderFail(@ForAll String text) {
        KubeTime.parse(text)
                .ifPresent(time ->
                        assertThat(KubeTime.parse(KubeTime.format(time))).isPresent());
    }

    @ParameterizedTest
    @Tag("W17")
    @ValueSource(strings = {"a", "a-b.c-d", "1", "n1.example.com", "xn--80ak6aa92e"})
    void takesSubdomains(String name) {
        assertThat(Names.subdomainFault(name)).isEmpty();
    }

    @ParameterizedTest
    @Tag("W17")
    @ValueSource(strings = {"", "Bad_Name", "-a", "a-", "a..b", ".a", "a.", "a/b", "ä", "a b", "a\n"})
    void refusesOtherSubdomains(String name) {
        assertThat(Names.subdomainFault(name))
                .contains("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
                        + " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used"
                        + " for validation is"
                        + " '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    }

    @Test
    void boundsTheLengthOfNames() {
        assertThat(Names.subdomainFault("a".repeat(253))).isEmpty();
        assertThat(Names.subdomainFault("a".repeat(254))).contains("must be no more than 253 characters");
        assertThat(Names.labelFault("a".repeat(63))).isEmpty();
        assertThat(Names.labelFault("a".repeat(64))).contains("must be no more than 63 characters");
        assertThat(Names.labelFault("a.b")).isPresent();
        assertThat(Names.labelValueFault("a".repeat(64))).contains("must be no more than 63 characters");
        assertThat(Names.qualifiedFault("x/" + "a".repeat(64)))
                .contains("name part must be no more than 63 characters");
    }

    @ParameterizedTest
    @CsvSource({
        "a, ''",
        "example.com/Role_1.x, ''",
        "/a, prefix part must be non-empty",
        "a/, name part must be non-empty",
        "'', name part must be non-empty"
    })
    void checksQualifiedNames(String key, String fault) {
        assertThat(Names.qualifiedFault(key).orElse("")).isEqualTo(fault);
    }

    @ParameterizedTest
    @ValueSource(strings = {"A_/b", "a/b/c", "-a", "a b", "é"})
    void refusesOtherQualifiedNames(String key) {
        assertThat(Names.qualifiedFault(key)).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "A_b.c-1", "0"})
    void takesLabelValues(String value) {
        assertThat(Names.labelValueFault(value)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-a", "a-", "a b", "a/b", "é"})
    void refusesOtherLabelValues(String value) {
        assertThat(Names.labelValueFault(value)).isPresent();
    }
}
