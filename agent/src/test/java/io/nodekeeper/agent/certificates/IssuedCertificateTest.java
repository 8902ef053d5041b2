package io.nodekeeper.agent.certificates;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Issued certificates in virtual time; OpenSSL signs, for a day. */
class IssuedCertificateTest {
    private static final String PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

    /** Whether no file can be read or written. */
    private boolean diskFails;

    private final BlockingCalls files = new BlockingCalls() {
        @Override
        public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
            if (diskFails) {
                return CompletableFuture.failedFuture(new IOException("No space left on device"));
            }
            try {
                return CompletableFuture.completedFuture(work.call());
            } catch (Exception e) {
                return CompletableFuture.failedFuture(e);
            }
        }
    };

    @TempDir
    static Path authority;

    @TempDir
    Path root;

    private VirtualTime time;
    private VirtualTime.VirtualLoop loop;
    private FakeTransport transport;
    private final Map<String, JsonObject> requests = new HashMap<>();
    private final List<Identity> shown = new ArrayList<>();
    private Optional<Node> node = Optional.empty();
    private IssuedCertificate certificate;

    @BeforeAll
    static void createAuthority() throws Exception {
        openssl(
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "30",
                "-subj",
                "/CN=ca",
                "-keyout",
                authority.resolve("ca.key").toString(),
                "-out",
                authority.resolve("ca.crt").toString());
    }

    @BeforeEach
    void start() throws Exception {
        time = new VirtualTime(Pem.certificates(Files.readString(authority.resolve("ca.crt")))
                .getFirst()
                .getNotBefore()
                .toInstant()
                .plusSeconds(60));
        loop = time.loop("agent");
        transport = new FakeTransport();
        transport.answer(this::serve);
        restart();
    }

    private void restart() {
        shown.clear();
        certificate = IssuedCertificate.serving("n1", () -> node, ports());
        certificate.listen(shown::add);
        certificate.start();
    }

    private IssuedCertificate.Ports ports() {
        return new IssuedCertificate.Ports(
                new KubeClient(transport, loop, Duration.ofSeconds(10)),
                files,
                root.resolve("pki"),
                EcKeys::newKey,
                Randoms.seeded(1));
    }

    private Optional<Reply> serve(Call call) {
        if (call.toString().equals("POST " + PATH)) {
            String name = "csr-" + (requests.size() + 1);
            JsonObject stored =
                    Json.parseObject(call.body()).update("metadata", metadata -> metadata.with("name", name));
            requests.put(name, stored);
            return Optional.of(FakeTransport.reply(201, stored));
        }
        JsonObject found =
                requests.get(call.toString().substring(call.toString().lastIndexOf('/') + 1));
        return Optional.of(
                found == null
                        ? FakeTransport.refusal(new ApiException(404, "NotFound", "gone"))
                        : FakeTransport.reply(200, found));
    }

    /** The first clock of a machine may be hours ahead, until a time server sets it right. */
    @Test
    void aClockThatIsSetBackDelaysNoRequest() {
        int[] creations = new int[1];
        transport.answer(call -> {
            if (call.toString().equals("POST " + PATH) && creations[0]++ == 0) {
                return Optional.of(FakeTransport.refusal(new ApiException(503, "ServiceUnavailable", "not yet")));
            }
            return serve(call);
        });
        node = Optional.of(node("10.0.0.1"));
        time.advance(Duration.ofSeconds(1));
        assertThat(creations[0]).isEqualTo(1);

        loop.skewWallClock(Duration.ofHours(-8));
        time.advance(Duration.ofMinutes(1));

        assertThat(creations[0]).isEqualTo(2);
        assertThat(requests).hasSize(1);
    }

    private static Node node(String... addresses) {
        JsonObject[] all = new JsonObject[addresses.length + 1];
        all[0] = address("Hostname", "n1");
        for (int i = 0; i < addresses.length; i++) {
            all[i + 1] = address("InternalIP", addresses[i]);
        }
        return new Node(JsonObject.builder()
                .put(
                        "status",
                        JsonObject.builder().put("addresses", JsonArray.of(all)).build())
                .build());
    }

    private static JsonObject address(String type, String address) {
        return JsonObject.builder().put("type", type).put("address", address).build();
    }

    private CertificateRequest asked(String name) {
        return CertificateRequest.parse(pem(name));
    }

    private String pem(String name) {
        return new String(
                Base64.getDecoder()
                        .decode(requireNonNull(requests.get(name))
                                .object("spec")
                                .text("request")),
                StandardCharsets.US_ASCII);
    }

    private void issue(String name) throws Exception {
        answer(
                name,
                JsonObject.builder()
                        .put(
                                "certificate",
                                Base64.getEncoder()
                                        .encodeToString(signed(pem(name)).getBytes(StandardCharsets.US_ASCII)))
                        .build());
    }

    private String signed(String pem) throws Exception {
        Path request = Files.writeString(root.resolve("r.csr"), pem);
        Path issued = root.resolve("r.crt");
        openssl(
                "x509",
                "-req",
                "-in",
                request.toString(),
                "-CA",
                authority.resolve("ca.crt").toString(),
                "-CAkey",
                authority.resolve("ca.key").toString(),
                "-days",
                "1",
                "-copy_extensions",
                "copy",
                "-out",
                issued.toString());
        return Files.readString(issued);
    }

    private void answer(String name, JsonObject status) {
        requests.computeIfPresent(name, (key, request) -> request.with("status", status));
    }

    private void condition(String name, String type) {
        answer(
                name,
                JsonObject.builder()
                        .put(
                                "conditions",
                                JsonArray.of(JsonObject.builder()
                                        .put("type", type)
                                        .put("status", "True")
                                        .put("reason", "Because")
                                        .put("message", "no")
                                        .build()))
                        .build());
    }

    @Test
    void asksForTheNodesAddressesAndUsesWhatIsIssued() throws Exception {
        time.advance(Duration.ofSeconds(5));
        assertThat(requests).isEmpty();
        assertThat(certificate.state())
                .isEqualTo("the node has no addresses yet for which a certificate could be requested");

        node = Optional.of(node("10.0.0.1", "fd00::1"));
        time.advance(Duration.ofSeconds(2));

        CertificateRequest asked = asked("csr-1");
        assertThat(asked.commonName()).isEqualTo("system:node:n1");
        assertThat(asked.organizations()).containsExactly("system:nodes");
        assertThat(asked.dnsNames()).containsExactly("n1");
        assertThat(asked.addresses())
                .containsExactly(InetAddress.ofLiteral("10.0.0.1"), InetAddress.ofLiteral("fd00::1"));
        JsonObject spec = requireNonNull(requests.get("csr-1")).object("spec");
        assertThat(spec.text("signerName")).isEqualTo("kubernetes.io/kubelet-serving");
        assertThat(spec.array("usages").strings()).containsExactly("digital signature", "server auth");
        assertThat(certificate.state())
                .isEqualTo("the request csr-1 waits for approval: kubectl certificate approve csr-1");

        issue("csr-1");
        time.advance(Duration.ofSeconds(2));

        assertThat(shown).hasSize(1);
        assertThat(shown.getFirst().certificate().getPublicKey()).isEqualTo(asked.key());
        assertThat(requests).hasSize(1);
    }

    @Test
    void aNodeWhoseNameHasOnlyDigitsIsCertifiedByItsName() throws Exception {
        node = Optional.of(new Node(JsonObject.builder()
                .put(
                        "status",
                        JsonObject.builder()
                                .put(
                                        "addresses",
                                        JsonArray.of(address("Hostname", "1234"), address("InternalIP", "10.0.0.1")))
                                .build())
                .build()));

        time.advance(Duration.ofSeconds(2));

        assertThat(asked("csr-1").dnsNames()).containsExactly("1234");
        assertThat(asked("csr-1").addresses()).containsExactly(InetAddress.ofLiteral("10.0.0.1"));
    }

    @Test
    void theCertificateIsStoredAsAKubeletDoesAndUsedAfterARestart() throws Exception {
        obtain();
        Path link = root.resolve("pki/kubelet-server-current.pem");

        assertThat(Files.readSymbolicLink(link).toString())
                .matches("kubelet-server-\\d{4}-\\d\\d-\\d\\d-\\d\\d-\\d\\d-\\d\\d\\.pem");
        assertThat(Files.readString(link)).contains("BEGIN CERTIFICATE").contains("BEGIN EC PRIVATE KEY");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(link)))
                .isEqualTo("rw-------");

        Identity before = shown.getFirst();
        restart();
        time.advance(Duration.ofMinutes(1));
        assertThat(shown).hasSize(1);
        assertThat(shown.getFirst().certificate()).isEqualTo(before.certificate());
        assertThat(requests).hasSize(1);
    }

    @Test
    void theFirstCertificateIsRequestedWhateverIsStoredAndIsStoredWhenItIsShown() throws Exception {
        Path link = IssuedCertificate.clientFile(root.resolve("pki"));
        List<String> stored = new ArrayList<>();
        for (String name : List.of("csr-1", "csr-2")) {
            IssuedCertificate first = IssuedCertificate.first("n1", ports());
            first.listen(identity -> stored.add(name + " " + Files.exists(link)));
            first.startAnew();
            time.advance(Duration.ofSeconds(1));

            assertThat(asked(name).commonName()).isEqualTo("system:node:n1");
            assertThat(asked(name).addresses()).isEmpty();
            JsonObject spec = requireNonNull(requests.get(name)).object("spec");
            assertThat(spec.text("signerName")).isEqualTo("kubernetes.io/kube-apiserver-client-kubelet");
            assertThat(spec.array("usages").strings()).containsExactly("digital signature", "client auth");

            issue(name);
            time.advance(Duration.ofSeconds(2));
        }

        assertThat(stored).containsExactly("csr-1 true", "csr-2 true");
    }

    @Test
    void isRenewedAfterSeventyToNinetyPercentOfItsLife() throws Exception {
        obtain();

        awaitRequest(2);

        issue("csr-2");
        time.advance(Duration.ofSeconds(11));

        assertThat(shown).hasSize(2);
        assertThat(Files.list(root.resolve("pki"))).hasSize(2);
    }

    @Test
    void aRenewedCertificateThatCouldNotBeWrittenIsUsedAndWrittenLater() throws Exception {
        // given another certificate, for a new address, while no file can be written
        obtain();
        Path link = root.resolve("pki/kubelet-server-current.pem");
        String before = Files.readString(link);
        node = Optional.of(node("10.0.0.2"));
        time.advance(Duration.ofSeconds(11));
        diskFails = true;
        issue("csr-2");
        time.advance(Duration.ofMinutes(1));
        assertThat(shown).hasSize(2);
        assertThat(Files.readString(link)).isEqualTo(before);

        // when that is possible again
        diskFails = false;
        time.advance(Duration.ofMinutes(1));

        // then the link points to the new certificate, and it is not shown again
        assertThat(Pem.certificates(Files.readString(link)).getFirst())
                .isEqualTo(shown.getLast().certificate());
        assertThat(shown).hasSize(2);
        assertThat(requests).hasSize(2);
    }

    @Test
    void aCertificateIsRenewedAlsoWhileNoFileCanBeWritten() throws Exception {
        obtain();
        node = Optional.of(node("10.0.0.2"));
        time.advance(Duration.ofSeconds(11));
        diskFails = true;
        issue("csr-2");
        time.advance(Duration.ofMinutes(1));

        node = Optional.of(node("10.0.0.9"));
        time.advance(Duration.ofSeconds(11));
        issue("csr-3");
        time.advance(Duration.ofMinutes(1));

        assertThat(shown).hasSize(3);
    }

    @Test
    void newAddressesNeedANewCertificateAlsoWhileARequestWaits() throws Exception {
        obtain();
        node = Optional.of(node("10.0.0.2"));
        time.advance(Duration.ofSeconds(11));
        assertThat(asked("csr-2").addresses()).containsExactly(InetAddress.ofLiteral("10.0.0.2"));

        node = Optional.of(node("10.0.0.3"));
        time.advance(Duration.ofSeconds(20));

        assertThat(asked("csr-3").addresses()).containsExactly(InetAddress.ofLiteral("10.0.0.3"));
        assertThat(shown).hasSize(1);
    }

    @Test
    void refusedRequestsAreRepeatedAtGrowingIntervals() {
        node = Optional.of(node("10.0.0.1"));
        for (int i = 1; i <= 8; i++) {
            while (requests.size() < i) {
                time.advance(Duration.ofSeconds(1));
            }
            condition("csr-" + i, "Denied");
            time.advance(Duration.ofSeconds(2));
        }

        assertThat(certificate.state()).isEqualTo("the request csr-8 is Denied: Because no");
        time.advance(Duration.ofSeconds(250));
        assertThat(requests).hasSize(8);
        time.advance(Duration.ofSeconds(60));
        assertThat(requests).hasSize(9);
        assertThat(shown).isEmpty();
    }

    @Test
    void aRequestThatNobodyDecidesIsReplacedAfterFifteenMinutes() {
        node = Optional.of(node("10.0.0.1"));

        time.advance(Duration.ofMinutes(15));
        assertThat(requests).hasSize(1);
        time.advance(Duration.ofMinutes(1));

        assertThat(requests).hasSize(2);
    }

    @Test
    void aCertificateForAnotherKeyAndADeletedRequestAreFollowedByANewRequest() throws Exception {
        node = Optional.of(node("10.0.0.1"));
        time.advance(Duration.ofSeconds(2));
        answer(
                "csr-1",
                JsonObject.builder()
                        .put(
                                "certificate",
                                Base64.getEncoder().encodeToString(Files.readAllBytes(authority.resolve("ca.crt"))))
                        .build());
        time.advance(Duration.ofSeconds(1));
        assertThat(certificate.state())
                .isEqualTo("the certificate of the request csr-1 cannot be used: it is for another key");

        time.advance(Duration.ofSeconds(20));
        assertThat(requests).hasSize(2);
        requests.put("other", requests.remove("csr-2"));
        time.advance(Duration.ofSeconds(2));

        assertThat(certificate.state()).isEqualTo("the request csr-2 was deleted");
        assertThat(shown).isEmpty();
    }

    @Test
    void theAgentsOwnCertificateIsRenewedBeforeItEndsAndTheNewerOneIsUsedAfterARestart() throws Exception {
        Identity given = given();
        client(given);
        awaitRequest(1);
        assertThat(shown).containsExactly(given);

        CertificateRequest asked = asked("csr-1");
        assertThat(asked.commonName()).isEqualTo("system:node:n1");
        assertThat(asked.dnsNames()).isEmpty();
        assertThat(asked.addresses()).isEmpty();
        JsonObject spec = requireNonNull(requests.get("csr-1")).object("spec");
        assertThat(spec.text("signerName")).isEqualTo("kubernetes.io/kube-apiserver-client-kubelet");
        assertThat(spec.array("usages").strings()).containsExactly("digital signature", "client auth");
        issue("csr-1");
        time.advance(Duration.ofSeconds(2));
        assertThat(shown).hasSize(2);
        assertThat(root.resolve("pki/kubelet-client-current.pem")).exists();

        Identity renewed = shown.getLast();
        client(given);
        time.advance(Duration.ofSeconds(2));
        assertThat(shown.getFirst().certificate()).isEqualTo(renewed.certificate());
    }

    @Test
    void onlyACertificateOfTheNodeCanBeRenewed() throws Exception {
        assertThat(IssuedCertificate.isOf("n1", given())).isTrue();
        assertThat(IssuedCertificate.isOf("n2", given())).isFalse();
    }

    /** The certificate is valid for a day. */
    private void awaitRequest(int number) {
        Duration began = time.elapsed();
        while (requests.size() < number) {
            time.advance(Duration.ofMinutes(1));
        }
        assertThat(time.elapsed().minus(began)).isBetween(Duration.ofMinutes(24 * 60 * 69 / 100), Duration.ofHours(22));
    }

    private void client(Identity given) {
        shown.clear();
        IssuedCertificate own = IssuedCertificate.client("n1", given, ports());
        own.listen(shown::add);
        own.start();
    }

    private Identity given() throws Exception {
        KeyPair key = EcKeys.newKey();
        return new Identity(
                key.getPrivate(),
                Pem.certificates(
                        signed(CertificateRequest.sign(key, "system:node:n1", "system:nodes", List.of(), List.of()))));
    }

    private void obtain() throws Exception {
        node = Optional.of(node("10.0.0.1"));
        time.advance(Duration.ofSeconds(2));
        issue("csr-1");
        time.advance(Duration.ofSeconds(2));
        assertThat(shown).hasSize(1);
    }

    private static void openssl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(List.of(arguments));
        Path output = authority.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
    }
}
