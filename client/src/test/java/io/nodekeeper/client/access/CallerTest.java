package io.nodekeeper.client.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.certificates.CertificateTemplate;
import io.nodekeeper.client.certificates.EcKeys;
import java.math.BigInteger;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;

class CallerTest {
    private static Optional<Caller> caller(String subject) {
        KeyPair key = EcKeys.newKey();
        X509Certificate certificate = new CertificateTemplate(
                        new X500Principal(subject),
                        key.getPublic(),
                        BigInteger.ONE,
                        Instant.parse("2026-01-02T03:04:05Z"),
                        Instant.parse("2027-01-02T03:04:05Z"),
                        false,
                        Set.of(),
                        List.of(),
                        List.of())
                .signBySelf(key.getPrivate());
        return Caller.of(certificate);
    }

    @Test
    void eachOrganizationOfACertificateIsAGroup() {
        assertThat(caller("CN=eve+O=c,O=a+O=b")).hasValueSatisfying(caller -> {
            assertThat(caller.name()).isEqualTo("eve");
            assertThat(caller.groups()).containsExactly("a", "b", "c", "system:authenticated");
        });
    }

    @Test
    void certificateWithoutANameIsNoCaller() {
        assertThat(caller("O=a")).isEmpty();
    }
}
