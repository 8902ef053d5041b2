package io.nodekeeper.cli.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.etcd.EtcdOptions;
import io.nodekeeper.store.etcd.EtcdStore;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EtcdFlagsTest {
    /** The next port to try, below those that the kernel gives to others, which begin at 32768, and where no other test chooses one. */
    private static final AtomicInteger NEXT_PORT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(30_000, 32_000));

    @TempDir
    Path directory;

    private final Identity authority = Issuer.authority(EcKeys.newKey(), Instant.now(), Randoms.secure());
    private final Issuer issuer = new Issuer(authority, Randoms.secure());
    private final ThreadLoop loop = new ThreadLoop("store");
    private final AtomicLong passed = new AtomicLong();
    private final Clock clock = new Clock() {
        @Override
        public long nanoTime() {
            return passed.get();
        }

        @Override
        public Instant wallTime() {
            return Instant.EPOCH.plusNanos(passed.get());
        }
    };
    private final EtcdFlags flags = new EtcdFlags();
    private Optional<Process> etcd = Optional.empty();

    @AfterEach
    void stop() throws Exception {
        if (etcd.isPresent()) {
            etcd.get().destroyForcibly().waitFor();
        }
        loop.close();
    }

    @Test
    void anEtcdThatAsksForCertificatesIsUsedWithThoseOfTheFlags() throws Exception {
        // given
        flags.servers = List.of(startEtcd());
        flags.caFile = Optional.of(write("ca.crt", Pem.encode(authority.certificate())));
        put("client", issuer.client("kube-apiserver", List.of(), Instant.now()));
        flags.certFile = Optional.of(directory.resolve("client.crt"));
        flags.keyFile = Optional.of(directory.resolve("client.key"));

        // when
        Store store = open(flags.options(clock));
        store.put("/leases/kube-node-lease/n1", new byte[] {'{', '}'}, 0).get(10, TimeUnit.SECONDS);

        // then
        Optional<Entry> read = store.read("/leases/kube-node-lease/n1").get(10, TimeUnit.SECONDS);
        assertThat(read).hasValueSatisfying(entry -> assertThat(entry.value()).containsExactly('{', '}'));
        store.close().get(10, TimeUnit.SECONDS);
    }

    @Test
    void anEtcdThatAsksForCertificatesIsNotReachedWithout() throws Exception {
        flags.servers = List.of(startEtcd());
        flags.caFile = Optional.of(write("ca.crt", Pem.encode(authority.certificate())));

        EtcdOptions options = flags.options(clock);

        CompletableFuture<?> store = EtcdStore.open(options, loop);

        awaitInLog("client didn't provide a certificate");
        assertThat(store).isNotCompleted();
    }

    @Test
    void aCertificateThatEtcdRefusesCanBeReplacedMeanwhile() throws Exception {
        // given a certificate of an authority that etcd does not know
        flags.servers = List.of(startEtcd());
        flags.caFile = Optional.of(write("ca.crt", Pem.encode(authority.certificate())));
        Identity unknown = Issuer.authority(EcKeys.newKey(), Instant.now(), Randoms.secure());
        put("client", new Issuer(unknown, Randoms.secure()).client("kube-apiserver", List.of(), Instant.now()));
        flags.certFile = Optional.of(directory.resolve("client.crt"));
        flags.keyFile = Optional.of(directory.resolve("client.key"));
        CompletableFuture<Store> store =
                EtcdStore.open(flags.options(clock), loop).thenApply(open -> open);
        awaitInLog("certificate signed by unknown authority");

        // when another one is in the files a minute later
        put("client", issuer.client("kube-apiserver", List.of(), Instant.now()));
        passed.addAndGet(Duration.ofMinutes(1).toNanos());

        // then the store opens with it
        Store open = store.get(30, TimeUnit.SECONDS);
        open.put("/leases/kube-node-lease/n1", new byte[] {'{', '}'}, 0).get(10, TimeUnit.SECONDS);
        open.close().get(10, TimeUnit.SECONDS);
    }

    private void awaitInLog(String text) throws Exception {
        Path log = directory.resolve("etcd.log");
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!Files.readString(log).contains(text) && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        assertThat(Files.readString(log)).contains(text);
    }

    @Test
    void filesThatDoNotBelongTogetherAreNamedWithTheirFlags() throws Exception {
        put("client", issuer.client("kube-apiserver", List.of(), Instant.now()));
        put("other", issuer.client("kube-apiserver", List.of(), Instant.now()));
        flags.servers = List.of(URI.create("https://127.0.0.1:2379"));
        flags.certFile = Optional.of(directory.resolve("client.crt"));
        flags.keyFile = Optional.of(directory.resolve("other.key"));

        assertThatThrownBy(() -> flags.options(clock))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("--etcd-certfile " + directory.resolve("client.crt") + ", --etcd-keyfile "
                        + directory.resolve("other.key") + ": the private key does not belong to the certificate");
    }

    @Test
    void anAuthorityThatIsNoneIsNamedWithItsFlag() throws Exception {
        flags.servers = List.of(URI.create("https://127.0.0.1:2379"));
        flags.caFile = Optional.of(write("ca.crt", "hello"));

        assertThatThrownBy(() -> flags.options(clock))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("--etcd-cafile " + directory.resolve("ca.crt")
                        + ": expected a PEM block \"CERTIFICATE\", found no PEM block");
    }

    private Store open(EtcdOptions options) throws Exception {
        return EtcdStore.open(options, loop).get(30, TimeUnit.SECONDS);
    }

    /** One member on loopback that speaks TLS with those whom {@link #authority} knows, and with nobody else. */
    private URI startEtcd() throws Exception {
        put("etcd", issuer.server("etcd", List.of("127.0.0.1"), Instant.now()));
        Path ca = write("etcd-ca.crt", Pem.encode(authority.certificate()));
        URI client = URI.create("https://127.0.0.1:" + freePort());
        Path log = directory.resolve("etcd.log");
        Process process;
        try {
            process = new ProcessBuilder(
                            "etcd",
                            "--name=secure",
                            "--data-dir=" + directory.resolve("etcd"),
                            "--listen-client-urls=" + client,
                            "--advertise-client-urls=" + client,
                            "--listen-peer-urls=http://127.0.0.1:" + freePort(),
                            "--cert-file=" + directory.resolve("etcd.crt"),
                            "--key-file=" + directory.resolve("etcd.key"),
                            "--trusted-ca-file=" + ca,
                            "--client-cert-auth",
                            "--logger=zap",
                            "--log-outputs=stderr")
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
        } catch (IOException e) {
            throw new IllegalStateException(
                    "etcd is missing; install it (Debian: apt-get install --no-install-recommends etcd-server), or run"
                            + " ./test, which does",
                    e);
        }
        etcd = Optional.of(process);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!Files.readString(log).contains("serving client traffic securely")) {
            assertThat(process.isAlive() && System.nanoTime() < deadline)
                    .as("etcd serves: %s", Files.readString(log))
                    .isTrue();
            Thread.sleep(50);
        }
        return client;
    }

    private void put(String name, Identity identity) throws IOException {
        write(name + ".crt", Pem.encode(identity.certificate()));
        write(name + ".key", Pem.encode(identity.key()));
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private static int freePort() throws IOException {
        while (true) {
            int port = NEXT_PORT.getAndIncrement();
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (BindException e) {
                // Another process has it.
            }
        }
    }
}
