package io.nodekeeper.client.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExecCredentialTest {
    private static final String V1 = "client.authentication.k8s.io/v1";

    private static ExecCredential parse(String output) {
        return ExecCredential.parse(output.getBytes(StandardCharsets.UTF_8), V1);
    }

    @Test
    void tokenAndItsExpiryAreRead() {
        ExecCredential credential = parse("""
                {"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
                 "status":{"token":"secret","expirationTimestamp":"2026-11-21T18:00:00+02:00"}}""");

        assertThat(credential.token()).isEqualTo("secret");
        assertThat(credential.expiry()).contains(Instant.parse("2026-11-21T16:00:00Z"));
        assertThat(credential.hasExpired(Instant.parse("2026-11-21T15:59:59Z"))).isFalse();
        assertThat(credential.hasExpired(Instant.parse("2026-11-21T16:00:00Z"))).isTrue();
        assertThat(credential).hasToString("a credential until 2026-11-21T16:00:00Z");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            secret words                                           | printed 12 bytes that are not a JSON object; expected an ExecCredential
            ["secret"]                                             | printed 10 bytes that are not a JSON object; expected an ExecCredential
            {"kind":"secret"}                                      | printed JSON of another kind than ExecCredential
            {"kind":"ExecCredential","apiVersion":"secret"}        | printed an ExecCredential of another apiVersion than client.authentication.k8s.io/v1, which the kubeconfig has
            {"kind":"ExecCredential","apiVersion":"V1"}            | printed an ExecCredential with neither a token nor a certificate
            {"kind":"ExecCredential","apiVersion":"V1","status":[]} | printed an ExecCredential with neither a token nor a certificate
            {"kind":"ExecCredential","apiVersion":"V1","status":{"token":"secret\\nX: y"}} | printed a token with a space, a line break or another character that an HTTP header cannot have
            {"kind":"ExecCredential","apiVersion":"V1","status":{"clientKeyData":"secret"}} | printed a certificate or a key without the other
            {"kind":"ExecCredential","apiVersion":"V1","status":{"clientKeyData":"secret","clientCertificateData":"secret"}} | printed a certificate or a key that cannot be read
            {"kind":"ExecCredential","apiVersion":"V1","status":{"token":"t","expirationTimestamp":"secret"}} | printed an expirationTimestamp that is no time; expected a form like 2026-11-21T16:13:52Z
            """)
    void whatIsNoCredentialIsRefusedInOneLineThatQuotesNothing(String output, String message) {
        assertThatThrownBy(() -> parse(output.replace("V1", V1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
        assertThat(message).doesNotContain("secret");
    }
}
