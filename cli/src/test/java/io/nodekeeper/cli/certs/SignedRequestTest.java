package io.nodekeeper.cli.certs;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.time.Randoms;
import java.net.InetAddress;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class SignedRequestTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private final Identity authority = Issuer.authority(EcKeys.newKey(), NOW, Duration.ofDays(10), Randoms.seeded(1));
    private final Issuer issuer = new Issuer(authority, Randoms.seeded(2));

    @Test
    void aSignedCertificateHasTheSubjectTheNamesAndTheKeyOfTheRequest() throws Exception {
        KeyPair key = EcKeys.newKey();
        CertificateRequest request = CertificateRequest.parse(CertificateRequest.sign(
                key,
                "system:node:n1",
                "system:nodes",
                List.of("n1"),
                List.of(InetAddress.ofLiteral("10.0.0.1"), InetAddress.ofLiteral("fd00::1"))));

        X509Certificate signed =
                issuer.sign(request, List.of("digital signature", "server auth"), NOW, Duration.ofDays(1));

        signed.verify(authority.certificate().getPublicKey());
        assertThat(signed.getSubjectX500Principal().getName()).isEqualTo("CN=system:node:n1,O=system:nodes");
        assertThat(signed.getPublicKey()).isEqualTo(key.getPublic());
        assertThat(signed.getSubjectAlternativeNames().toString())
                .isEqualTo("[[2, n1], [7, 10.0.0.1], [7, fd00:0:0:0:0:0:0:1]]");
        assertThat(signed.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
        assertThat(signed.getKeyUsage()[0]).isTrue();
        assertThat(signed.getBasicConstraints()).as("it is no authority").isEqualTo(-1);
        assertThat(signed.getNotAfter().toInstant()).isEqualTo(NOW.plus(Duration.ofDays(1)));
    }

    @Test
    void noCertificateIsValidLongerThanTheAuthority() {
        CertificateRequest request = CertificateRequest.parse(
                CertificateRequest.sign(EcKeys.newKey(), "system:node:n1", "system:nodes", List.of(), List.of()));

        X509Certificate signed =
                issuer.sign(request, List.of("digital signature", "client auth"), NOW, Duration.ofDays(365));

        assertThat(signed.getNotAfter().toInstant()).isEqualTo(NOW.plus(Duration.ofDays(10)));
    }
}
