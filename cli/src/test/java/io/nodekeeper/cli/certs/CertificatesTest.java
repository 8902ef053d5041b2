package io.nodekeeper.cli.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.time.Randoms;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificatesTest {
    private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");
    private static final List<String> NAMES = List.of("localhost", "127.0.0.1", "::1");
    private static final URI SERVER = URI.create("https://127.0.0.1:6443");

    @TempDir
    Path data;

    @Test
    void makesAnAuthorityAndAServerThatItVouchesFor() throws Exception {
        Certificates certificates = open(NOW);

        Identity server = certificates.server(NAMES);

        server.certificate().verify(certificates.authority().getPublicKey());
        server.certificate().checkValidity(java.util.Date.from(NOW));
        assertThat(server.certificate().getNotAfter()).isEqualTo(NOW.plus(Duration.ofDays(365)));
        assertThat(server.certificate().getSubjectAlternativeNames())
                .containsExactlyInAnyOrder(
                        List.of(2, "localhost"), List.of(7, "127.0.0.1"), List.of(7, "0:0:0:0:0:0:0:1"));
        assertThat(certificates.authority().getBasicConstraints()).isNotNegative();
        assertThat(server.certificate().getBasicConstraints()).isNegative();
        assertThat(server.certificate().getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
    }

    @Test
    void keepsKeysToTheOwner() throws IOException {
        open(NOW).server(NAMES);

        for (String key : List.of("pki/ca.key", "pki/apiserver.key")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve(key))))
                    .isEqualTo("rw-------");
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("pki"))))
                .isEqualTo("rwx------");
    }

    @Test
    void takesAKeyThatOthersMayReadFromThem() throws IOException {
        open(NOW);
        Path key = data.resolve("pki/ca.key");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setPosixFilePermissions(data.resolve("pki"), PosixFilePermissions.fromString("rwxr-xr-x"));

        open(NOW);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(key)))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("pki"))))
                .isEqualTo("rwx------");
    }

    @Test
    void usesThemAgainAtTheNextStart() throws IOException {
        Certificates first = open(NOW);
        Identity server = first.server(NAMES);

        Certificates second = open(NOW.plus(Duration.ofDays(300)));

        assertThat(second.authority()).isEqualTo(first.authority());
        assertThat(second.server(NAMES)).isEqualTo(server);
        assertThat(second.serverFiles().read()).isEqualTo(server);
    }

    @Test
    void makesANewServerCertificateForAnotherName() throws IOException {
        Identity server = open(NOW).server(NAMES);

        Identity other = open(NOW).server(List.of("localhost", "10.0.0.9"));

        assertThat(other).isNotEqualTo(server);
    }

    @Test
    void renewsTheServerCertificateInItsLastThirtyDays() throws IOException {
        Identity server = open(NOW).server(NAMES);

        assertThat(open(NOW.plus(Duration.ofDays(335))).server(NAMES)).isEqualTo(server);
        assertThat(open(NOW.plus(Duration.ofDays(336))).server(NAMES)).isNotEqualTo(server);
    }

    @Test
    void aRenewedAuthorityVouchesForWhatTheOldOneSigned() throws Exception {
        Certificates old = open(NOW);
        Identity client = old.client("alice", List.of());

        Certificates renewed = open(NOW.plus(Duration.ofDays(3_640)));

        assertThat(renewed.authority()).isNotEqualTo(old.authority());
        client.certificate().verify(renewed.authority().getPublicKey());
    }

    /** A full disk has room for a small key, and not for the certificate. */
    @Test
    void whoOnlyIssuesChangesNothing() throws IOException {
        // given an authority in its last month, and then after its end
        Certificates old = open(NOW);
        Identity server = old.server(NAMES);
        Instant lastMonth = NOW.plus(Duration.ofDays(3_640));

        // when
        Certificates issuing = Certificates.existing(data, lastMonth, Randoms.seeded(7));

        // then
        assertThat(issuing.authority()).isEqualTo(old.authority());
        assertThat(old.isGood(issuing.client("alice", List.of()))).isTrue();
        assertThat(old.serverFiles().read()).isEqualTo(server);
        Instant after = NOW.plus(Duration.ofDays(3_660));
        assertThatThrownBy(() -> Certificates.existing(data, after, Randoms.seeded(7)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("ca.crt expired at ")
                .hasMessageEndingWith("; start the API server again, which renews it");
        assertThat(Certificates.existing(data, NOW, Randoms.seeded(7)).authority())
                .isEqualTo(old.authority());
    }

    @Test
    void whoOnlyIssuesNeedsAnAuthority() {
        assertThatThrownBy(() -> Certificates.existing(data, NOW, Randoms.seeded(7)))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("there is no " + data.resolve("pki").resolve("ca.crt"));
        assertThat(data.resolve("pki")).doesNotExist();
    }

    @Test
    void aKeyThatAnInterruptedStartLeftIsReplaced() throws IOException {
        Path pki = data.resolve("pki");
        X509Certificate authority = open(NOW).authority();
        open(NOW).server(List.of("localhost"));
        open(NOW).nodeClient();

        // given keys without their certificates, of all but the authority
        Files.delete(pki.resolve("apiserver.crt"));
        Files.delete(open(NOW).nodeClientFiles().certificate());
        assertThat(open(NOW).server(List.of("localhost")).certificate()).isNotNull();
        assertThat(open(NOW).nodeClient().certificate()).isNotNull();
        assertThat(open(NOW).authority()).isEqualTo(authority);

        // and of an authority beside which there is nothing yet
        try (Stream<Path> files = Files.list(pki)) {
            for (Path file : files.filter(file -> !file.endsWith("ca.key")).toList()) {
                Files.delete(file);
            }
        }
        assertThat(open(NOW).authority()).isNotEqualTo(authority);

        // nor if the interruption was while its certificate was written
        Files.delete(pki.resolve("ca.crt"));
        Files.createFile(pki.resolve(".123.tmp"));
        assertThat(open(NOW).authority()).isNotEqualTo(authority);
    }

    @Test
    void theAuthorityIsNotReplacedIfItHasSignedSomething() throws IOException {
        open(NOW).server(List.of("localhost"));
        Files.delete(data.resolve("pki/ca.crt"));

        assertThatThrownBy(() -> open(NOW)).isInstanceOf(IOException.class).hasMessageStartingWith("cannot read ");
    }

    @Test
    void namesTheFilesThatItCannotRead() throws IOException {
        open(NOW);
        Files.writeString(data.resolve("pki/ca.key"), "rubbish");

        assertThatThrownBy(() -> open(NOW))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(data.resolve("pki/ca.key").toString())
                .hasMessageContaining(
                        "restore both from a backup. Without a backup, remove both to create a new authority:"
                                + " every certificate and kubeconfig that the old one signed becomes invalid");
    }

    @Test
    void doesNotAdviseToRemoveWhatIsOutOfReach() throws IOException {
        open(NOW);
        Path key = data.resolve("pki/ca.key");
        // given a key that no user can read, and that may be valid
        Files.delete(key);
        Files.createDirectory(key);

        assertThatThrownBy(() -> open(NOW))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot read " + data.resolve("pki/ca.crt") + " and " + key + ": ")
                .hasMessageNotContaining("remove");
    }

    @Test
    void writesKubeconfigsForAdminControllerAndAgent() throws IOException {
        KubeconfigFiles files = new KubeconfigFiles(open(NOW), SERVER);

        ServerAccess admin = Kubeconfig.load(files.admin(data));
        ServerAccess controller = Kubeconfig.load(files.controller(data));
        ServerAccess agent = Kubeconfig.load(files.agent(data, "n1"));

        assertThat(admin).hasToString("https://127.0.0.1:6443 as CN=kubernetes-admin,O=system:masters");
        assertThat(controller).hasToString("https://127.0.0.1:6443 as CN=system:kube-controller-manager");
        assertThat(agent).hasToString("https://127.0.0.1:6443 as CN=system:node:n1,O=system:nodes");
        assertThat(admin.authorities()).containsExactly(open(NOW).authority());
        assertThat(data.resolve("agent-n1.kubeconfig")).exists();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("admin.kubeconfig"))))
                .isEqualTo("rw-------");
    }

    @Test
    void leavesAGoodKubeconfigAloneAndReplacesAStaleOne() throws IOException {
        String first = Files.readString(new KubeconfigFiles(open(NOW), SERVER).admin(data));

        String same = Files.readString(new KubeconfigFiles(open(NOW), SERVER).admin(data));
        String moved =
                Files.readString(new KubeconfigFiles(open(NOW), URI.create("https://127.0.0.1:7000")).admin(data));
        String later = Files.readString(
                new KubeconfigFiles(open(NOW.plus(Duration.ofDays(350))), URI.create("https://127.0.0.1:7000"))
                        .admin(data));

        assertThat(same).isEqualTo(first);
        assertThat(moved).isNotEqualTo(first);
        assertThat(later).isNotEqualTo(moved);
    }

    private Certificates open(Instant now) throws IOException {
        return Certificates.open(data, now, Randoms.seeded(now.getEpochSecond()));
    }
}
