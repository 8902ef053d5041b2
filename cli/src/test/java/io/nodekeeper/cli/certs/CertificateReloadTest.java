package io.nodekeeper.cli.certs;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.netty.HttpsOptions;
import io.nodekeeper.apiserver.netty.HttpsServer;
import io.nodekeeper.apiserver.netty.ServerIdentity;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Looks in virtual time, at real files, by a server that listens. */
@Timeout(60)
@Isolated("It collects log lines; a command in another class sets logging up again.")
class CertificateReloadTest {
    private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");

    @TempDir
    Path data;

    private final VirtualTime time = new VirtualTime(NOW);
    private final LogLines log = LogLines.of(CertificateReload.class);
    private final ThreadLoop loop = new ThreadLoop("store");
    private final IndexedStore store = new IndexedStore(loop, Journal.NONE);
    private final Issuer issuer =
            new Issuer(Issuer.authority(EcKeys.newKey(), Instant.now(), Randoms.secure()), Randoms.secure());
    private IdentityFiles files;
    private HttpsServer https;
    private SSLContext client;
    private int renewals;

    @BeforeEach
    void start() throws Exception {
        files = new IdentityFiles(data.resolve("tls.crt"), data.resolve("tls.key"));
        Identity first = put("first");
        https = HttpsServer.start(
                new ApiServer(store, loop, Randoms.secure(), new Authenticator(Map.of()), "127.0.0.1:6443"),
                identity(first),
                HttpsOptions.of(new InetSocketAddress("127.0.0.1", 0), loop.clock(), loop));
        client = ClientTls.context(Optional.empty(), List.of(issuer.certificate()));
        new CertificateReload(time.loop("reload"), files, this::read, first, this::show).start();
    }

    @AfterEach
    void stop() throws Exception {
        https.close();
        store.close().get(10, TimeUnit.SECONDS);
    }

    private void show(Identity fresh) {
        https.renew(identity(fresh));
        renewals++;
    }

    private ServerIdentity identity(Identity own) {
        return new ServerIdentity(own.key(), own.chain(), List.of(issuer.certificate()));
    }

    private CompletableFuture<Identity> read() {
        try {
            return CompletableFuture.completedFuture(files.read());
        } catch (IOException | RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Puts a new identity of that name into the files. */
    private Identity put(String name) throws IOException {
        Identity made = issuer.server(name, List.of("127.0.0.1"), Instant.now());
        Files.writeString(files.key(), Pem.encode(made.key()));
        Files.writeString(files.certificate(), Pem.encode(made.certificate()));
        return made;
    }

    private SSLSocket connect() throws IOException {
        SSLSocket socket = (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", https.port());
        socket.setSoTimeout(10_000);
        socket.startHandshake();
        return socket;
    }

    /** What the server calls itself on a new connection. */
    private String shown() throws IOException {
        try (SSLSocket socket = connect()) {
            return socket.getSession().getPeerPrincipal().getName();
        }
    }

    private static void assertHealthy(SSLSocket socket) throws IOException {
        socket.getOutputStream().write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        StringBuilder answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\nok") < 0) {
            int next = socket.getInputStream().read();
            assertThat(next).as("after %s", answer).isNotNegative();
            answer.append((char) next);
        }
        assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n");
    }

    @Test
    void aChangedCertificateIsShownToWhoConnectsAnewWithinAMinute() throws Exception {
        try (SSLSocket old = connect()) {
            // given
            assertHealthy(old);
            put("second");
            // when
            time.advance(Duration.ofSeconds(59));
            assertThat(shown()).isEqualTo("CN=first");
            time.advance(Duration.ofSeconds(1));
            // then
            assertThat(shown()).isEqualTo("CN=second");
            assertHealthy(old);
        }
        assertThat(log.warnings()).isEmpty();
    }

    @Test
    void filesThatStayAreNotTakenAgain() throws Exception {
        time.advance(Duration.ofMinutes(10));
        assertThat(renewals).isZero();
        put("second");
        time.advance(Duration.ofMinutes(10));
        assertThat(renewals).isEqualTo(1);
    }

    @Test
    void aKeyOfAnotherCertificateIsToldOfOnceAndTheOldPairStays() throws Exception {
        // given a certificate that was replaced before its key
        Identity second = issuer.server("second", List.of("127.0.0.1"), Instant.now());
        Files.writeString(files.certificate(), Pem.encode(second.certificate()));
        // when
        time.advance(Duration.ofMinutes(5));
        // then
        assertThat(log.warnings())
                .containsExactly("The server's certificate " + files.certificate() + " and key " + files.key()
                        + " are unusable; the server keeps the previous ones: java.lang.IllegalArgumentException:"
                        + " the private key does not belong to the certificate CN=second");
        assertThat(shown()).isEqualTo("CN=first");
        // and when the key comes, too
        Files.writeString(files.key(), Pem.encode(second.key()));
        time.advance(Duration.ofMinutes(1));
        assertThat(shown()).isEqualTo("CN=second");
        assertThat(log.warnings()).hasSize(1);
    }

    @Test
    void aKeyOfAnotherKindDoesNotMatchEither() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        Files.writeString(files.key(), Pem.encode(generator.generateKeyPair().getPrivate()));
        time.advance(Duration.ofMinutes(1));
        assertThat(log.warnings())
                .singleElement()
                .asString()
                .endsWith("the private key does not belong to the certificate CN=first");
    }

    @Test
    void eachTroubleIsToldOfAndTheOldPairStays() throws Exception {
        Files.delete(files.key());
        time.advance(Duration.ofMinutes(5));
        assertThat(log.warnings()).singleElement().asString().endsWith("NoSuchFileException: " + files.key());
        put("second");
        Files.writeString(files.certificate(), "rubbish");
        time.advance(Duration.ofMinutes(5));
        assertThat(log.warnings())
                .hasSize(2)
                .last()
                .asString()
                .endsWith("expected a PEM block \"CERTIFICATE\", found no PEM block");
        assertThat(shown()).isEqualTo("CN=first");
    }
}
