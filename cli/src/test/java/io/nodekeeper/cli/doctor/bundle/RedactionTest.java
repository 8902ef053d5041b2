package io.nodekeeper.cli.doctor.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.Randoms;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each way to write a secret down, in texts of each form. */
class RedactionTest {
    /** Where a secret may stand; {@code %s} is the secret. */
    static final List<String> PLACES = List.of(
            "{\"token\": \"%s\"}",
            "{\"clientToken\":\"%s\",\"x\":1}",
            "{\"spec\":\"{\\\"password\\\":\\\"%s\\\",\\\"a\\\":1}\"}",
            "{\"a\":\"{\\\"b\\\":\\\"{\\\\\\\"secret\\\\\\\":\\\\\\\"%s\\\\\\\"}\\\"}\"}",
            "{\"env\":[{\"name\":\"A\",\"value\":\"%s\"}]}",
            "{\"tokens\": [\"x\", \"%s\"], \"b\": 1}",
            "{\"credentials\": {\"user\": \"u\", \"pin\": \"%s\"}}",
            "{\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":\"{\\\"spec\\\":{\\\"a\\\":\\\"%s\\\"}}\\n\"}}",
            "{\"password\": \"quote \\\" and %s\"}",
            "users:\n- user:\n    client-key-data: %s\n    token: '%s'\n",
            "secret: |\n  line one\n  %s\nnext: x\n",
            "Authorization: Bearer %s\nHost: x\n",
            "authorization: Basic %s\r\n",
            "curl -H 'Authorization: Bearer %s' https://h",
            "I1123 token=%s refused",
            "kubelet --token %s --v=2",
            "kubelet --bootstrap-token=%s --v=2",
            "[\"--password\",\"%s\"]",
            "MYSQL_ROOT=%s /usr/bin/mysqld",
            "proxy http://user:%s@proxy:3128/",
            "Set-Cookie: %s; Path=/",
            "secretAccessKey: \"%s\"",
            "password = '%s'",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n%s\n-----END RSA PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----\nMIIE\n%s",
            "{\"token\":\"%s",
            "{\"x\":\"{\\\"token\\\":\\\"%s");

    static List<String> places() {
        return PLACES;
    }

    /** Those whose secret has an end. */
    static List<String> closed() {
        return PLACES.stream().filter(place -> !place.endsWith("%s")).toList();
    }

    @ParameterizedTest
    @MethodSource("places")
    void secretIsRemovedWhereverItStands(String place) {
        String secret = "hunter2Xq9";

        String redacted = Redaction.of("before\n" + place.replace("%s", secret) + "\nafter it\n");

        assertThat(redacted).doesNotContain(secret).contains(Redaction.MARK).startsWith("before\n");
    }

    @ParameterizedTest
    @MethodSource("closed")
    void whatStandsBehindASecretIsNotLost(String place) {
        String redacted = Redaction.of(place.replace("%s", "hunter2Xq9") + "\nthe next line\n");

        assertThat(redacted).endsWith("\nthe next line\n");
    }

    @Test
    void tokensAndKeysAreKnownByTheirForm() {
        for (String secret : List.of(
                "eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl",
                "abcdef.0123456789abcdef",
                "AKIAIOSFODNN7EXAMPLE",
                "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=")) {
            assertThat(Redaction.of("x " + secret + " y")).isEqualTo("x " + Redaction.MARK + " y");
        }
    }

    /** {@code |} stands for NUL. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "app|--password|a b&c|-v| > app --password [redacted] -v",
                "app|--password=a b&c|-v| > app --password=[redacted] -v",
                "app|--password a b&c|-v| > app --password [redacted] -v",
                "app|--token|-k3y_Base64|-v| > app --token [redacted] -v",
                "app|--token|--password|x y| > app --token [redacted] [redacted]",
                "curl|-H|Authorization: Bearer ab;c d|url| > curl -H Authorization: [redacted] url",
                "env|DB_PASS=a b;c|sh| > env DB_PASS=[redacted] sh",
                "app|--clientSecret|{a b}|rest > app --clientSecret [redacted] rest",
            })
    void valueInACommandLineEndsWithItsArgument(String commandLine, String redacted) {
        assertThat(Redaction.ofArguments(commandLine.strip().replace('|', '\0')))
                .isEqualTo(redacted);
    }

    @Test
    void commandLineWithoutSecretsStays() {
        assertThat(Redaction.ofArguments(
                        "/usr/bin/containerd-shim-runc-v2\0-namespace\0k8s.io\0-id\0005b5b\0-address\0/run/c.sock\0"))
                .isEqualTo("/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id 5b5b -address /run/c.sock");
        assertThat(Redaction.ofArguments("")).isEmpty();
    }

    @Test
    void evidenceStays() {
        for (String evidence : List.of(
                "the shim containerd-shim-runc-v2 (pid 4711) of pod shop/web has been stopped (state T)",
                "{\"pid\":4711,\"state\":\"T\",\"pod\":\"shop/web\",\"sandbox\":\"5a5a5a\"}",
                "kubelet_pleg_last_seen_seconds{instance=\"n1\"} 1.7e+09",
                "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue",
                "/var/lib/kubelet/pods/77aa/volumes/kubernetes.io~secret/certs rw,relatime shared:5",
                "[12.345] INFO: task runc:4711 blocked for more than 120 seconds.",
                "/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id 5b5b5b -address /run/containerd/containerd.sock")) {
            assertThat(Redaction.of(evidence)).isEqualTo(evidence);
        }
    }

    /** Any texts behind each other, also behind a secret that was cut off. */
    @Test
    void secretsBehindEachOtherAreAllRemoved() {
        for (int seed = 0; seed < 1_500; seed++) {
            String text = joined(PLACES, seed);
            assertThat(Redaction.of(text)).as("seed " + seed + ": " + text).doesNotContain("hunter2Xq9");
        }
    }

    /** What replaces a secret is not taken for one. */
    @Test
    void redactedTextStaysAsItIs() {
        for (int seed = 0; seed < 500; seed++) {
            String once = Redaction.of(joined(closed(), seed));
            assertThat(Redaction.of(once)).as("seed " + seed).isEqualTo(once);
        }
    }

    private static String joined(List<String> places, long seed) {
        RandomGenerator random = Randoms.seeded(seed);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            text.append(places.get(random.nextInt(places.size())).replace("%s", "hunter2Xq9"))
                    .append(random.nextBoolean() ? "\n" : " ");
        }
        return text.toString();
    }

    /** A deep or long value must neither exhaust the stack nor take long. */
    @Test
    void hugeValuesAreRemovedWhole() {
        String backslashes = "\\\"x".repeat(50_000);
        assertThat(Redaction.of("{\"token\":\"" + backslashes + "\"}")).isEqualTo("{\"token\":" + Redaction.MARK + "}");
        assertThat(Redaction.of("token=" + "a".repeat(1 << 18))).isEqualTo("token=" + Redaction.MARK);
        assertThat(Redaction.of("-".repeat(1 << 18))).hasSize(1 << 18);
        assertThat(Redaction.of(" --a".repeat(1 << 16))).hasSize(1 << 18);
        assertThat(Redaction.of("token".repeat(50_000))).hasSize(250_000);
    }
}
