package io.nodekeeper.client.config;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The certificate of each handshake, while another one replaces its files. */
class RenewedKeysTest {
    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final Clock clock = time.loop("client").clock();
    private final Deque<Runnable> readings = new ArrayDeque<>();
    private Identity first;
    private Identity second;
    private RenewedKeys keys;

    @BeforeEach
    void given() throws Exception {
        first = TestCertificates.make("CN=first", "dns:first");
        second = TestCertificates.make("CN=second", "dns:second");
        IdentityFiles files = new IdentityFiles(directory.resolve("tls.crt"), directory.resolve("tls.key"));
        keys = new RenewedKeys(files, first, clock, readings::add);
        Files.writeString(files.certificate(), Pem.encode(second.certificate()));
        Files.writeString(files.key(), Pem.encode(second.key()));
    }

    /** What a handshake shows. */
    private Identity handshake() {
        String alias = requireNonNull(
                keys.chooseEngineClientAlias(new String[] {first.key().getAlgorithm()}, null, null));
        return new Identity(
                requireNonNull(keys.getPrivateKey(alias)), List.of(requireNonNull(keys.getCertificateChain(alias))));
    }

    @Test
    void handshakeUsesTheLastReadCertificateAndDoesNotWaitForAReading() {
        assertThat(handshake()).isEqualTo(first);
        assertThat(readings).isEmpty();

        time.advance(Duration.ofMinutes(1));
        assertThat(handshake()).isEqualTo(first);
        assertThat(handshake()).isEqualTo(first);
        assertThat(readings).hasSize(1);

        readings.remove().run();
        assertThat(handshake()).isEqualTo(second);
    }

    @Test
    void filesThatCannotBeUsedLeaveTheCertificate() throws Exception {
        Files.writeString(directory.resolve("tls.key"), Pem.encode(first.key()));
        time.advance(Duration.ofMinutes(1));
        handshake();
        readings.remove().run();

        assertThat(handshake()).isEqualTo(first);
    }

    /** A resumed TLS session would have the certificate of the first one. */
    @Test
    void laterConnectionShowsTheOtherCertificate() throws Exception {
        // given a server that lets clients resume sessions, and a client that has connected
        Identity server = TestCertificates.make("CN=server", "ip:127.0.0.1");
        SSLContext listens = TestCertificates.context(server, first, second);
        Files.writeString(directory.resolve("tls.crt"), Pem.encode(first.certificate()));
        Files.writeString(directory.resolve("tls.key"), Pem.encode(first.key()));
        IdentityFiles files = new IdentityFiles(directory.resolve("tls.crt"), directory.resolve("tls.key"));
        SSLContext client = ClientTls.context(files, first, List.of(server.certificate()), clock, Runnable::run);
        try (SSLServerSocket socket = (SSLServerSocket)
                listens.getServerSocketFactory().createServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            socket.setNeedClientAuth(true);
            assertThat(shown(socket, client)).isEqualTo("CN=first");

            // when another certificate is in the files
            Files.writeString(directory.resolve("tls.crt"), Pem.encode(second.certificate()));
            Files.writeString(directory.resolve("tls.key"), Pem.encode(second.key()));
            time.advance(Duration.ofMinutes(1));
            // Sessions end by the clock of the system.
            Thread.sleep(1_100);
            shown(socket, client);

            // then the next connection shows it
            assertThat(shown(socket, client)).isEqualTo("CN=second");
        }
    }

    /** Connects, and returns the name in the certificate that the server sees. */
    private static String shown(SSLServerSocket server, SSLContext client) throws Exception {
        CompletableFuture<String> seen = CompletableFuture.supplyAsync(() -> {
            try (SSLSocket accepted = (SSLSocket) server.accept()) {
                accepted.setSoTimeout(10_000);
                accepted.startHandshake();
                accepted.getOutputStream().write('x');
                return accepted.getSession().getPeerPrincipal().getName();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        try (SSLSocket socket =
                (SSLSocket) client.getSocketFactory().createSocket(server.getInetAddress(), server.getLocalPort())) {
            socket.setSoTimeout(10_000);
            // After the ticket with which the session could be resumed.
            assertThat(socket.getInputStream().read()).isEqualTo('x');
        }
        return seen.get(10, TimeUnit.SECONDS);
    }

    @Test
    void serversGetNoKey() {
        assertThat(keys.chooseServerAlias("EC", null, null)).isNull();
        assertThat(keys.getServerAliases("EC", null)).isNull();
    }
}
