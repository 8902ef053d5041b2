package io.nodekeeper.client.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client certificate in files, which a kubelet replaces. */
class IdentitySourceTest {
    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final List<Identity> changes = new ArrayList<>();
    private IdentityFiles files;
    private Identity first;
    private IdentitySource source;

    @BeforeEach
    void given() throws Exception {
        files = new IdentityFiles(directory.resolve("client.crt"), directory.resolve("client.key"));
        first = TestCertificates.make("CN=first", "dns:first");
        write(first, first);
        source = new IdentitySource(files, first, time.loop("client").clock(), Runnable::run, changes::add);
    }

    private void write(Identity certificate, Identity key) throws Exception {
        Files.writeString(files.certificate(), Pem.encode(certificate.certificate()));
        Files.writeString(files.key(), Pem.encode(key.key()));
    }

    @Test
    void anotherCertificateIsUsedAMinuteLaterAndOnce() throws Exception {
        Identity second = TestCertificates.make("CN=second", "dns:second");
        write(second, second);

        source.look();
        assertThat(changes).isEmpty();
        time.advance(Duration.ofMinutes(1));
        source.look();
        assertThat(changes).containsExactly(second);

        time.advance(Duration.ofMinutes(1));
        source.look();
        assertThat(changes).containsExactly(second);
    }

    @Test
    void explanatoryTextInLatin1IsSkipped() throws Exception {
        // given files whose text around the blocks is not UTF-8
        Identity second = TestCertificates.make("CN=second", "dns:second");
        String text = "# f\u00fcr M\u00fcnchen\n";
        Files.writeString(files.certificate(), text + Pem.encode(second.certificate()), StandardCharsets.ISO_8859_1);
        Files.writeString(files.key(), text + Pem.encode(second.key()), StandardCharsets.ISO_8859_1);

        // when they are read again, and as authorities
        time.advance(Duration.ofMinutes(1));
        source.look();
        List<X509Certificate> authorities = IdentityFiles.authorities("--ca-file", files.certificate());

        // then they count
        assertThat(changes).containsExactly(second);
        assertThat(authorities).containsExactly(second.certificate());
    }

    /** A file system that hangs must not take a thread each minute. */
    @Test
    void oneReadingIsUnderWayAtATime() {
        List<Runnable> started = new ArrayList<>();
        IdentitySource slow =
                new IdentitySource(files, first, time.loop("client").clock(), started::add, changes::add);

        for (int minute = 0; minute < 3; minute++) {
            time.advance(Duration.ofMinutes(1));
            slow.look();
        }
        assertThat(started).hasSize(1);

        started.getFirst().run();
        slow.look();
        assertThat(started).hasSize(2);
    }

    @Test
    void filesThatAreOnlyHalfReplacedAreReadAgain() throws Exception {
        Identity second = TestCertificates.make("CN=second", "dns:second");
        write(second, first);
        time.advance(Duration.ofMinutes(1));
        source.look();
        assertThat(changes).isEmpty();

        Files.delete(files.key());
        time.advance(Duration.ofMinutes(1));
        source.look();
        assertThat(changes).isEmpty();

        write(second, second);
        time.advance(Duration.ofMinutes(1));
        source.look();
        assertThat(changes).containsExactly(second);
    }
}
