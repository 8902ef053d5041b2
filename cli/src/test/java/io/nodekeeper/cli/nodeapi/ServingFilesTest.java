package io.nodekeeper.cli.nodeapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.time.Randoms;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The certificate that an agent makes for its API. */
class ServingFilesTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    @TempDir
    Path root;

    @Test
    void namesTheNodeAndIsKept() throws Exception {
        IdentityFiles files = ensure(NOW);
        X509Certificate made = files.read().certificate();

        assertThat(made.getSubjectAlternativeNames())
                .contains(List.of(2, "n1"), List.of(2, "localhost"), List.of(7, "10.0.0.7"));
        assertThat(files.certificate()).isEqualTo(root.resolve("pki/kubelet.crt"));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(files.key())))
                .isEqualTo("rw-------");
        assertThat(ensure(NOW.plus(Duration.ofDays(300))).read().certificate()).isEqualTo(made);
    }

    @Test
    void isReplacedBeforeItExpires() throws Exception {
        X509Certificate made = ensure(NOW).read().certificate();

        assertThat(ensure(NOW.plus(Duration.ofDays(350))).read().certificate()).isNotEqualTo(made);
    }

    @Test
    void isReplacedIfItCannotBeRead() throws Exception {
        IdentityFiles files = ensure(NOW);
        Files.writeString(files.certificate(), "nonsense");

        assertThat(ensure(NOW).read().certificate().getNotAfter().toInstant()).isAfter(NOW);
    }

    private IdentityFiles ensure(Instant now) throws IOException {
        return ServingFiles.ensure(root, "n1", List.of(InetAddress.ofLiteral("10.0.0.7")), now, Randoms.secure());
    }
}
