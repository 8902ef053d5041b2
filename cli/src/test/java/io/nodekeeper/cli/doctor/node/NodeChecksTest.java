package io.nodekeeper.cli.doctor.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.ServerDate;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.VirtualTime;
import io.nodekeeper.time.Workers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each check of the node: what is fine, what needs attention, what makes the node NotReady, and what to do next. */
class NodeChecksTest {
    private static final Instant NOW = Instant.parse("2026-11-21T18:00:30Z");
    private static final Path DIRECTORY = Path.of("/var/lib/kubelet");
    /** A node with a kubelet, one with the agent's package, and a machine that is no node. */
    private static final NodeAccess KUBELET = found("/etc/kubernetes/kubelet.conf", "/etc/nodekeeper/agent.kubeconfig");

    private static final NodeAccess AGENT = found("/etc/nodekeeper/agent.kubeconfig");
    private static final NodeAccess NONE = found();

    @TempDir
    Path directory;

    /** The access of a machine on which these files can be read. */
    private static NodeAccess found(String... files) {
        return NodeAccess.find(Optional.empty(), file -> List.of(files).contains(file.toString()));
    }

    private static Filesystem filesystem(long bytes, long inodes) {
        return new Filesystem(new Level(bytes, 1_000), new Level(inodes, 1_000));
    }

    private static String disk(String signal, Filesystem filesystem) {
        return said(DiskCheck.judge("disk", DIRECTORY, signal, filesystem));
    }

    private static String said(CheckResult result) {
        return result.state().label() + ": " + result.text() + (result.next().isEmpty() ? "" : " -> " + result.next());
    }

    private static Reply reply(int status, String body) {
        return new Reply(status, body.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void diskIsComparedWithKubernetesThresholdsForBytesAndInodes() {
        assertThat(disk("nodefs", filesystem(100, 50)))
                .isEqualTo("ok: 10.0 % of the bytes and 5.0 % of the inodes are left on the file system of"
                        + " /var/lib/kubelet");
        assertThat(disk("nodefs", filesystem(99, 50)))
                .isEqualTo("warning: 9.9 % of the bytes and 5.0 % of the inodes are left on the file system of"
                        + " /var/lib/kubelet; expected at least 10.0 % of the bytes"
                        + " -> du -x --max-depth=2 /var/lib/kubelet | sort -n | tail");
        assertThat(disk("imagefs", filesystem(149, 49)))
                .isEqualTo("warning: 14.9 % of the bytes and 4.9 % of the inodes are left on the file system of"
                        + " /var/lib/kubelet; expected at least 15.0 % of the bytes, at least 5.0 % of the inodes"
                        + " -> du -x --inodes --max-depth=2 /var/lib/kubelet | sort -n | tail");
    }

    @Test
    void twoDirectoriesOfOneFileSystemAreBothRead() {
        ThreadLoop loop = new ThreadLoop("test");
        try (Workers workers = new Workers("test", 2, loop)) {
            List<CompletableFuture<CheckResult>> both = List.of("kubelet", "containerd").stream()
                    .map(name -> new DiskCheck(name, directory.resolve(name), "nodefs", workers).run())
                    .toList();

            assertThat(both)
                    .allSatisfy(
                            result -> assertThat(result.join().text()).endsWith("on the file system of " + directory));
        } finally {
            loop.close();
        }
    }

    @Test
    void fullDiskFailsAndADiskWithoutACountOfInodesDoesNot() {
        assertThat(disk("nodefs", filesystem(0, 500)))
                .startsWith("failed: 0.0 % of the bytes")
                .contains("nothing can be written");
        assertThat(disk("nodefs", filesystem(500, 0))).startsWith("failed: ");
        assertThat(disk("nodefs", new Filesystem(new Level(500, 1_000), new Level(0, 0))))
                .isEqualTo("ok: 50.0 % of the bytes and no count of inodes on the file system of /var/lib/kubelet");
    }

    @Test
    void memoryIsComparedWithTheThresholdOfTheKubelet() {
        long mebibyte = 1 << 20;
        assertThat(said(MemoryCheck.judge(1_000 * mebibyte, 900 * mebibyte)))
                .isEqualTo("ok: 100 MiB of 1000 MiB are not in use");
        assertThat(said(MemoryCheck.judge(1_000 * mebibyte, 901 * mebibyte)))
                .isEqualTo(
                        "warning: 99 MiB of 1000 MiB are not in use; expected at least 100 MiB, else pods are evicted"
                                + " (MemoryPressure) -> ps -eo pid,rss,comm --sort=-rss | head");
        assertThat(MemoryCheck.judge(10, 20).text()).startsWith("0 MiB of 0 MiB");
    }

    @Test
    void machineWithoutADefaultRouteIsNamed() throws Exception {
        InetAddress address = InetAddress.getByName("10.0.0.7");
        assertThat(said(RouteCheck.judge(new HostAddresses(List.of(), List.of(), List.of(address)))))
                .isEqualTo("ok: the interface with the default route has 10.0.0.7");
        assertThat(said(RouteCheck.judge(new HostAddresses(List.of(), List.of(address), List.of()))))
                .isEqualTo(
                        "warning: no interface has the default route; without --node-ip the node's address is unknown"
                                + " -> ip route");
    }

    @Test
    void failedChecksOfAKubeletAreNamed() {
        assertThat(said(HealthCheck.judge(10_248, "kubelet", new LocalPage(200, "ok"), Duration.ofMillis(2))))
                .isEqualTo("ok: healthz at 127.0.0.1:10248 answers ok in 2ms");
        assertThat(said(HealthCheck.judge(
                        10_248,
                        "kubelet",
                        new LocalPage(500, "[+]ping ok\n[-]syncloop failed: stands\n[-]log failed\n"),
                        Duration.ZERO)))
                .isEqualTo("failed: healthz at 127.0.0.1:10248 answers 500: syncloop failed: stands, log failed;"
                        + " expected 200 -> journalctl -u kubelet -n 100");
    }

    @Test
    void absentKubeletIsAFailureOnlyOnAMachineWithANodesCredentials() {
        assertThat(said(HealthCheck.absent(10_248, NONE)))
                .isEqualTo("not checked: neither a kubelet nor an agent listens at 127.0.0.1:10248");
        assertThat(said(HealthCheck.absent(10_248, KUBELET)))
                .isEqualTo(
                        "failed: neither a kubelet nor an agent listens at 127.0.0.1:10248, although this machine has a"
                                + " node's credentials -> systemctl status kubelet");
    }

    @Test
    void deadAgentOfThePackageIsAFailureWhoseNextCommandsNameItsUnit() {
        // given a machine whose only credentials are those of the package's agent
        assertThat(AGENT.file()).contains(Path.of("/etc/nodekeeper/agent.kubeconfig"));

        // then an agent that does not run is a failure
        assertThat(said(HealthCheck.absent(10_248, AGENT)))
                .isEqualTo(
                        "failed: neither a kubelet nor an agent listens at 127.0.0.1:10248, although this machine has a"
                                + " node's credentials -> systemctl status nodekeeper-agent");

        // and so does every other check name its unit
        assertThat(HealthCheck.judge(10_248, AGENT.unit(), new LocalPage(500, ""), Duration.ZERO)
                        .next())
                .isEqualTo("journalctl -u nodekeeper-agent -n 100");
        assertThat(ApiChecks.lease(reply(404, ""), AGENT.unit(), NOW).next())
                .isEqualTo("journalctl -u nodekeeper-agent -n 100");
    }

    @Test
    void kubeletsCredentialsComeBeforeTheAgents() {
        assertThat(KUBELET.file()).contains(Path.of("/etc/kubernetes/kubelet.conf"));
        assertThat(KUBELET.unit()).isEqualTo("kubelet");
        assertThat(NONE.isNode()).isFalse();
        assertThat(NONE.fault())
                .isEqualTo("there is no kubeconfig at /etc/kubernetes/kubelet.conf or /etc/nodekeeper/agent.kubeconfig;"
                        + " name one with --kubeconfig");
    }

    @Test
    void healthCheckReadsTheRealPort() throws Exception {
        HttpServer kubelet = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        kubelet.createContext("/healthz", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });
        kubelet.start();
        ThreadLoop loop = new ThreadLoop("test");
        try (Workers workers = new Workers("test", 2, loop);
                ServerSocket mute = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(health(kubelet.getAddress().getPort(), workers)).startsWith("ok: healthz at 127.0.0.1:");
            // Nothing listens on port 1.
            assertThat(health(1, workers)).startsWith("failed: neither a kubelet nor an agent listens");
            assertThat(health(mute.getLocalPort(), workers))
                    .startsWith(
                            "failed: 127.0.0.1:" + mute.getLocalPort() + " accepts connections, but gives no answer");
        } finally {
            kubelet.stop(0);
            loop.close();
        }
    }

    /** As an agent's whose pages have TLS, with a certificate that it made itself. */
    @Test
    void healthCheckWithTlsIsRead() throws Exception {
        Identity own = Issuer.selfMade("nodekeeper-pages", List.of("localhost"), Instant.now(), Randoms.seeded(1));
        HttpsServer agent = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        agent.setHttpsConfigurator(new HttpsConfigurator(TestCertificates.context(own)));
        agent.createContext("/healthz", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });
        agent.start();
        ThreadLoop loop = new ThreadLoop("test");
        try (Workers workers = new Workers("test", 2, loop)) {
            assertThat(health(agent.getAddress().getPort(), workers)).startsWith("ok: healthz at 127.0.0.1:");
        } finally {
            agent.stop(0);
            loop.close();
        }
    }

    private static String health(int port, Workers workers) {
        return said(
                new HealthCheck(port, KUBELET, workers, new SystemClock()).run().join());
    }

    @Test
    void apiServerThatDoesNotAcceptTheNodeFails() {
        assertThat(said(ApiChecks.server("https://h:1", reply(200, "ok")))).isEqualTo("ok: https://h:1 is ready");
        assertThat(said(ApiChecks.server("https://h:1", reply(403, ""))))
                .isEqualTo("ok: https://h:1 answers 403: it can be reached");
        assertThat(ApiChecks.server("https://h:1", reply(401, "")).state()).isEqualTo(CheckResult.State.FAILED);
        assertThat(ApiChecks.server("https://h:1", reply(500, "")).state()).isEqualTo(CheckResult.State.WARNING);
    }

    @Test
    void nodeObjectTellsWhatTheClusterThinks() {
        String ready = "{\"status\":{\"nodeInfo\":{\"bootID\":\"b1\"},\"conditions\":["
                + "{\"type\":\"Ready\",\"status\":\"True\"}]}}";
        assertThat(said(ApiChecks.node("n1", reply(200, ready), "b1"))).isEqualTo("ok: Node n1 is Ready");
        assertThat(said(ApiChecks.node("n1", reply(200, ready), "b2")))
                .isEqualTo(
                        "warning: Node n1 has the boot id b1; this machine's is b2: another machine uses the name, or"
                                + " the status was not written since the last boot -> nodekeeper why n1");
        assertThat(said(ApiChecks.node(
                        "n1",
                        reply(
                                200,
                                "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\",\"reason\":\"R\","
                                        + "\"message\":\"m\"}]}}"),
                        "b1")))
                .isEqualTo("failed: Node n1 is Ready=Unknown: R: m -> nodekeeper why n1");
        assertThat(said(ApiChecks.node(
                        "n1",
                        reply(
                                200,
                                ready.replace(
                                        "]}}",
                                        ",{\"type\":\"DiskPressure\",\"status\":\"True\",\"message\":\"full\"}]}}")),
                        "b1")))
                .isEqualTo("warning: Node n1 is Ready, but DiskPressure: full -> nodekeeper why n1");
        assertThat(ApiChecks.node("n1", reply(404, ""), "b1").state()).isEqualTo(CheckResult.State.FAILED);
        assertThat(ApiChecks.node("n1", reply(403, ""), "b1").state()).isEqualTo(CheckResult.State.UNKNOWN);
    }

    @Test
    void leaseThatIsNotRenewedFails() {
        Reply lease = reply(200, "{\"spec\":{\"renewTime\":\"2026-11-21T18:00:00.000000Z\"}}");

        assertThat(said(ApiChecks.lease(lease, "kubelet", NOW))).isEqualTo("ok: the lease was renewed 30s ago");
        assertThat(said(ApiChecks.lease(lease, "kubelet", NOW.plusSeconds(11))))
                .isEqualTo(
                        "failed: the lease was renewed 41s ago; expected 40s at most: the loop of the kubelet or agent"
                                + " stands, or this clock is wrong -> journalctl -u kubelet -n 100");
        Reply longer =
                reply(200, "{\"spec\":{\"renewTime\":\"2026-11-21T18:00:00.000000Z\",\"leaseDurationSeconds\":60}}");
        assertThat(said(ApiChecks.lease(longer, "kubelet", NOW.plusSeconds(30))))
                .isEqualTo("ok: the lease was renewed 1m0s ago");
        assertThat(said(ApiChecks.lease(longer, "kubelet", NOW.plusSeconds(31))))
                .startsWith("failed: the lease was renewed 1m1s ago; expected 1m0s at most: ");
        assertThat(ApiChecks.lease(reply(404, ""), "kubelet", NOW).state()).isEqualTo(CheckResult.State.FAILED);
        assertThat(ApiChecks.lease(reply(403, ""), "kubelet", NOW).state()).isEqualTo(CheckResult.State.UNKNOWN);
    }

    @Test
    void clockIsComparedWithTheApiServers() {
        assertThat(ApiChecks.clock(Optional.of(new ServerDate(NOW, NOW, Duration.ofMillis(5))))
                        .state())
                .isEqualTo(CheckResult.State.OK);
        assertThat(said(ApiChecks.clock(Optional.of(new ServerDate(NOW, NOW.plusSeconds(90), Duration.ofMillis(5))))))
                .startsWith("warning: the node's clock is 1m29s or more ahead of the API server's")
                .endsWith(" -> chronyc tracking");
        assertThat(ApiChecks.clock(Optional.empty()).state()).isEqualTo(CheckResult.State.UNKNOWN);
    }

    @Test
    void certificateThatExpiresFirstIsNamed() {
        RandomGenerator random = Randoms.seeded(1);
        Identity authority = Issuer.authority(EcKeys.newKey(), NOW, random);
        ServerAccess access = ServerAccess.withToken(URI.create("https://h:1"), authority.certificate(), "t");
        Instant end = authority.certificate().getNotAfter().toInstant();

        assertThat(said(CertificateCheck.judge(access, "kubelet", end.minus(Duration.ofDays(30)))))
                .startsWith("ok: the certificate authority ")
                .endsWith(", for 30 days");
        assertThat(said(CertificateCheck.judge(access, "kubelet", end.minus(Duration.ofDays(6)))))
                .startsWith("warning: the certificate authority ")
                .contains(", for 6 days; expected at least 7 -> ");
        assertThat(said(CertificateCheck.judge(access, "kubelet", end.plusSeconds(1))))
                .startsWith("failed: the certificate authority ")
                .contains(" expired at ");
        ServerAccess client =
                ServerAccess.withCertificate(URI.create("https://h:1"), authority.certificate(), authority);
        assertThat(said(CertificateCheck.judge(client, "kubelet", end.plusSeconds(1))))
                .startsWith("failed: the client certificate expired at ");
    }

    /** After a rotation the old authority may stay in the file. */
    @Test
    void oneValidAuthorityIsEnough() {
        RandomGenerator random = Randoms.seeded(1);
        Identity old = Issuer.authority(EcKeys.newKey(), NOW.minus(Duration.ofDays(30)), Duration.ofDays(20), random);
        Identity current = Issuer.authority(EcKeys.newKey(), NOW, Duration.ofDays(365), random);
        Identity ending = Issuer.authority(EcKeys.newKey(), NOW, Duration.ofDays(6), random);

        assertThat(said(CertificateCheck.judge(access(Optional.of(current), old, current), "kubelet", NOW)))
                .startsWith("warning: the certificate authority ")
                .contains(" expired at 2026-11-11T18:00:30Z; remove it from the kubeconfig");
        assertThat(said(CertificateCheck.judge(access(Optional.of(current), ending, current), "kubelet", NOW)))
                .isEqualTo("ok: the client certificate is valid until 2027-11-21T18:00:30Z, for 365 days");
        assertThat(said(CertificateCheck.judge(access(Optional.of(old), old, current), "kubelet", NOW)))
                .startsWith("failed: the client certificate expired at 2026-11-11T18:00:30Z");
        assertThat(said(CertificateCheck.judge(access(Optional.of(current), old), "kubelet", NOW)))
                .startsWith("failed: the certificate authority ");
    }

    private static ServerAccess access(Optional<Identity> client, Identity... authorities) {
        return new ServerAccess(
                URI.create("https://h:1"),
                Stream.of(authorities).map(Identity::certificate).toList(),
                false,
                "",
                client,
                "",
                Optional.empty());
    }

    @Test
    void kubeconfigThatCannotBeUsedIsTheReasonWhyNothingWasAsked() throws Exception {
        Path file = Files.writeString(directory.resolve("kubelet.conf"), "current-context: none\n");

        NodeAccess access = NodeAccess.find(Optional.of(file));

        assertThat(access.access()).isEmpty();
        assertThat(access.isNode()).isTrue();
        List<CheckResult> results = ApiChecks.of(access, Optional.empty(), new SystemClock()).stream()
                .map(check -> check.run().join())
                .toList();
        assertThat(results).hasSize(4).allSatisfy(result -> {
            assertThat(result.state()).isEqualTo(CheckResult.State.UNKNOWN);
            assertThat(result.text()).contains(file.toString());
        });
    }

    @Test
    void checkThatHangsDelaysNoOtherAndIsReportedAsNotMade() {
        VirtualTime time = new VirtualTime(NOW);
        CompletableFuture<List<CheckResult>> results = NodeCheckups.of(
                        time.loop("test"),
                        NodeCheckups.silent("disk"),
                        NodeCheckups.found("memory", CheckResult.State.OK, "fine", ""),
                        new NodeCheckups.Check("clock", () -> {
                            throw new IllegalStateException("no clock");
                        }))
                .run();
        assertThat(results).isNotDone();

        time.advance(Duration.ofMillis(100));

        assertThat(results.join().stream().map(result -> result.check() + " " + said(result)))
                .containsExactly(
                        "disk not checked: disk did not answer within 100ms",
                        "memory ok: fine",
                        "clock not checked: no clock");
    }
}
