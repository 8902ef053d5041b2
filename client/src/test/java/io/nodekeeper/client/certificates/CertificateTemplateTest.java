package io.nodekeeper.client.certificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.client.certificates.CertificateTemplate.Usage;
import io.nodekeeper.client.config.Pem;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CertificateTemplateTest {
    private static final Instant FROM = Instant.parse("2026-01-02T03:04:05Z");
    private static final Instant TO = Instant.parse("2049-12-31T23:59:59Z");

    private final KeyPair key = EcKeys.newKey();

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"EC", "RSA"})
    void opensslVerifiesAServerWithItsAuthorityAndReadsEachField(String algorithm) throws Exception {
        KeyPair own = KeyPairGenerator.getInstance(algorithm).generateKeyPair();
        X509Certificate authority = authority(own);

        X509Certificate server = new CertificateTemplate(
                        CertificateTemplate.name("n, 1", List.of("first", "sec+ond")),
                        key.getPublic(),
                        new BigInteger("ff00000000000000000000000000000001", 16),
                        FROM,
                        TO,
                        false,
                        Set.of(Usage.DIGITAL_SIGNATURE, Usage.KEY_ENCIPHERMENT, Usage.SERVER_AUTH),
                        List.of("n1.example", "*.n1.example"),
                        List.of(InetAddress.ofLiteral("10.0.0.1"), InetAddress.ofLiteral("fd00::1")))
                .sign(authority, own.getPrivate());

        write("ca.crt", authority);
        write("server.crt", server);
        assertThat(openssl(
                        "verify",
                        "-x509_strict",
                        "-purpose",
                        "sslserver",
                        "-verify_hostname",
                        "a.n1.example",
                        "-CAfile",
                        "ca.crt",
                        "server.crt"))
                .isEqualTo("server.crt: OK\n");
        assertThat(openssl("x509", "-in", "server.crt", "-noout", "-text"))
                .contains(
                        "Version: 3 (0x2)",
                        "ff:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:01",
                        "Issuer: CN = authority",
                        "Not Before: Jan  2 03:04:05 2026 GMT",
                        "Not After : Dec 31 23:59:59 2049 GMT",
                        "Subject: O = first, O = \"sec+ond\", CN = \"n, 1\"",
                        "X509v3 Basic Constraints: critical\n                CA:FALSE",
                        "X509v3 Key Usage: critical\n                Digital Signature, Key Encipherment\n",
                        "TLS Web Server Authentication\n",
                        "DNS:n1.example, DNS:*.n1.example, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1");
    }

    @Test
    void anAuthorityMaySignCertificatesAndNamesItsKey() throws Exception {
        X509Certificate authority = authority(key);

        assertThat(authority.getBasicConstraints()).isNotNegative();
        authority.verify(key.getPublic());
        write("ca.crt", authority);
        assertThat(openssl("x509", "-in", "ca.crt", "-noout", "-text"))
                .contains("CA:TRUE", "Digital Signature, Certificate Sign\n", "X509v3 Subject Key Identifier");
    }

    @Test
    void whatItSignedStaysValidWhenTheAuthorityIsRenewedWithItsKey() throws Exception {
        X509Certificate old = authority(key);
        X509Certificate client = client(TO).sign(old, key.getPrivate());

        write("renewed.crt", authority(key));
        write("client.crt", client);

        assertThat(openssl("verify", "-purpose", "sslclient", "-CAfile", "renewed.crt", "client.crt"))
                .isEqualTo("client.crt: OK\n");
    }

    @Test
    void timesFrom2050OnHaveFourDigitsOfTheYear() throws Exception {
        X509Certificate client = client(Instant.parse("2050-01-01T00:00:00Z")).sign(authority(key), key.getPrivate());

        assertThat(client.getNotAfter()).isEqualTo(Instant.parse("2050-01-01T00:00:00Z"));
        assertThat(new String(client.getEncoded(), StandardCharsets.ISO_8859_1))
                .contains("260102030405Z", "20500101000000Z");
    }

    @Test
    void namesMustBeUnderstoodIfThereIsNoSubject() throws Exception {
        X509Certificate nameless = new CertificateTemplate(
                        CertificateTemplate.name("", List.of()),
                        key.getPublic(),
                        BigInteger.ONE,
                        FROM,
                        TO,
                        false,
                        Set.of(Usage.SERVER_AUTH),
                        List.of("n1"),
                        List.of())
                .sign(authority(key), key.getPrivate());

        assertThat(nameless.getCriticalExtensionOIDs()).containsExactlyInAnyOrder("2.5.29.17", "2.5.29.19");
        assertThat(nameless.getKeyUsage()).isNull();
    }

    @Test
    void aKeyThatCannotSignIsAClearError() throws Exception {
        KeyPair other = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();

        assertThatThrownBy(() -> client(TO).sign(authority(key), other.getPrivate()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("cannot sign a certificate for CN=client: ");
    }

    private static X509Certificate authority(KeyPair pair) {
        return template("authority", pair, TO, true, Set.of(Usage.DIGITAL_SIGNATURE))
                .signBySelf(pair.getPrivate());
    }

    private CertificateTemplate client(Instant to) {
        return template("client", key, to, false, Set.of(Usage.DIGITAL_SIGNATURE, Usage.CLIENT_AUTH));
    }

    private static CertificateTemplate template(
            String name, KeyPair pair, Instant to, boolean authority, Set<Usage> usages) {
        return new CertificateTemplate(
                CertificateTemplate.name(name, List.of()),
                pair.getPublic(),
                BigInteger.TEN,
                FROM,
                to,
                authority,
                usages,
                List.of(),
                List.of());
    }

    private void write(String name, X509Certificate certificate) throws IOException {
        Files.writeString(directory.resolve(name), Pem.encode(certificate));
    }

    private String openssl(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }
}
