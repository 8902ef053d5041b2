package io.nodekeeper.apiserver.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.CertificateResources;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Pem;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** CertificateSigningRequests: who may ask, approve and sign, and what is signed. */
class CertificateRequestsTest {
    private static final String PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    private static final String SERVING = "kubernetes.io/kubelet-serving";
    private static final String CLIENT = "kubernetes.io/kube-apiserver-client-kubelet";
    private static final String CERTIFICATE = """
            -----BEGIN CERTIFICATE-----
            MIIBdDCCARmgAwIBAgIULaS8XfkSqCYGEiXIUsDU32dhuUowCgYIKoZIzj0EAwIw
            DzENMAsGA1UEAwwEdGVzdDAeFw0yNjExMjUwNDE3MDBaFw0zNjExMjIwNDE3MDBa
            -----END CERTIFICATE-----
            """;

    private final TestServer server = TestServer.withRoles();

    private static String request(String commonName, String organization, List<String> names) {
        return CertificateRequest.sign(EcKeys.newKey(), commonName, organization, names, List.of());
    }

    private static String request(String subject) {
        return CertificateRequest.sign(EcKeys.newKey(), new X500Principal(subject), List.of(), List.of());
    }

    private static String body(String name, String pem, String signer, String... usages) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"spec\":{\"request\":\""
                + Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)) + "\",\"signerName\":\""
                + signer + "\",\"username\":\"somebody-else\",\"usages\":[\"" + String.join("\",\"", usages) + "\"]}}";
    }

    private static String serving(String name) {
        return body(
                name,
                request("system:node:n1", "system:nodes", List.of("n1")),
                SERVING,
                "digital signature",
                "server auth");
    }

    private Answer ask(User user, String method, String path, String body) {
        return server.ask(user, method, path, Map.of("content-type", TestServer.MERGE), body);
    }

    private static String condition(String type) {
        return "{\"status\":{\"conditions\":[{\"type\":\"" + type
                + "\",\"status\":\"True\",\"reason\":\"R\",\"lastUpdateTime\":\"2026-11-21T07:00:00Z\"}],"
                + "\"certificate\":\"YQ==\"},\"spec\":{\"signerName\":\"a.b/c\"}}";
    }

    @Test
    void aRequestIsOfItsAuthorWhateverTheBodySays() {
        Answer created = server.ask(TestServer.N1, "POST", PATH, serving("r"));

        assertThat(created.status()).as(created.text()).isEqualTo(201);
        JsonObject spec = created.json().object("spec");
        assertThat(spec.text("username")).isEqualTo("system:node:n1");
        assertThat(spec.array("groups").strings()).containsExactly("system:nodes", "system:authenticated");
        assertThat(server.get(PATH + "?fieldSelector=spec.signerName%3D" + SERVING.replace("/", "%2F"))
                        .names())
                .containsExactly("r");
    }

    @Test
    void aNodeAsksForItselfOnly() {
        String other = request("system:node:n2", "system:nodes", List.of("n2"));

        assertThat(server.ask(TestServer.N1, "POST", PATH, body("r", other, SERVING, "server auth"))
                        .message())
                .isEqualTo(
                        "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: can only create a node CSR"
                                + " with CN=system:node:n1");
        assertThat(ask(TestServer.N1, "PATCH", PATH + "/r/approval", condition("Approved"))
                        .status())
                .isEqualTo(403);
    }

    @Test
    void wrongRequestsAreRefusedWithEachReason() {
        Answer refused = server.post(PATH, body("r", "nothing", "legacy", "flying"));

        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.message())
                .contains("spec.request: Invalid value")
                .contains("expected a PEM block \"CERTIFICATE REQUEST\", found no PEM block")
                .contains("spec.usages: Unsupported value: \"flying\"")
                .contains("spec.signerName: Invalid value: \"legacy\": must be a fully qualified domain");
        String masters = request("a", "system:masters", List.of());
        assertThat(server.post(PATH, body("r", masters, "kubernetes.io/kube-apiserver-client", "client auth"))
                        .message())
                .contains("use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
    }

    /** One part of a subject may have several values, of which each counts. */
    @Test
    void forbiddenNameBesideAnotherOneIsRefused() {
        assertThat(server.post(
                                PATH,
                                body(
                                        "r",
                                        request("CN=eve+O=system:masters"),
                                        "kubernetes.io/kube-apiserver-client",
                                        "client auth"))
                        .message())
                .contains("use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
        assertThat(server.ask(
                                TestServer.N1,
                                "POST",
                                PATH,
                                body(
                                        "r",
                                        request("CN=system:node:n1+CN=system:node:n2,O=system:nodes"),
                                        SERVING,
                                        "server auth"))
                        .message())
                .contains("can only create a node CSR with CN=system:node:n1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "a/b/c.d | spec.signerName: Invalid value: \"a/b/c.d\": must be a fully qualified domain and path",
                "a/b | spec.signerName: Invalid value: \"a\": should be a domain with at least two segments",
                "a..b/c | spec.signerName: Invalid value: \"a..b\": validating label \"\": ",
                "a.-b/c | spec.signerName: Invalid value: \"a.-b\": validating label \"-b\": ",
                "a.b/ | spec.signerName: Invalid value: \"\": validating label \"\": ",
                "a.b/c_d | spec.signerName: Invalid value: \"c_d\": validating label \"c_d\": "
            })
    void nameOfASignerIsADomainAndAPath(String signer, String fault) {
        assertThat(server.post(PATH, body("r", "nothing", signer, "client auth"))
                        .message())
                .contains(fault.strip());
    }

    @Test
    void nameOfASignerHasALimit() {
        String most = ("a".repeat(50) + ".").repeat(4) + "b".repeat(49) + "/" + "c".repeat(253) + "." + "d".repeat(63);

        assertThat(server.post(PATH, body("r", "nothing", most, "client auth")).message())
                .doesNotContain("spec.signerName");
        assertThat(server.post(PATH, body("r", "nothing", most + "d", "client auth"))
                        .message())
                .contains("spec.signerName: Too long: must have at most 571 bytes");
    }

    @Test
    void anApprovalChangesTheConditionsOnlyAndIsFinal() {
        server.post(PATH, serving("r"));

        Answer approved = ask(TestServer.ADMIN, "PATCH", PATH + "/r/approval", condition("Approved"));

        assertThat(approved.status()).as(approved.text()).isEqualTo(200);
        assertThat(approved.json().object("status").has("certificate")).isFalse();
        assertThat(approved.json().object("spec").text("signerName")).isEqualTo(SERVING);
        JsonObject written = approved.json()
                .object("status")
                .array("conditions")
                .objects()
                .findFirst()
                .orElseThrow();
        assertThat(written.text("lastTransitionTime")).isEqualTo("2026-11-21T07:00:00Z");
        assertThat(ask(TestServer.ADMIN, "PATCH", PATH + "/r/approval", condition("Denied"))
                        .message())
                .contains("updates may not remove a condition of type \"Approved\"");
        assertThat(ask(TestServer.ADMIN, "PATCH", PATH + "/r", "{\"spec\":{\"signerName\":\"a.b/c\"}}")
                        .message())
                .contains("spec: Invalid value")
                .contains("field is immutable");
    }

    @Test
    void onlySignersWriteTheStatusAndTheApprovalStaysOutOfIt() {
        server.post(PATH, serving("r"));
        User approver = User.authenticated("alice", List.of());

        assertThat(ask(approver, "PATCH", PATH + "/r/status", condition("Approved"))
                        .status())
                .isEqualTo(403);
        Answer status = ask(
                TestServer.ADMIN,
                "PATCH",
                PATH + "/r/status",
                "{\"status\":{\"conditions\":[{\"type\":"
                        + "\"Approved\",\"status\":\"True\"}],\"certificate\":\"YQ==\"}}");
        assertThat(status.message()).contains("status.certificate: Invalid value");
        server.post(
                "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                "{\"metadata\":{\"name\":\"half\"},\"rules\":[{"
                        + "\"apiGroups\":[\"certificates.k8s.io\"],\"resources\":[\"certificatesigningrequests/approval\"],"
                        + "\"verbs\":[\"patch\"]}]}");
        server.post(
                "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                "{\"metadata\":{\"name\":\"half\"},"
                        + "\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"half\"},"
                        + "\"subjects\":[{\"kind\":\"User\",\"name\":\"alice\"}]}");
        server.settle();
        assertThat(ask(approver, "PATCH", PATH + "/r/approval", condition("Approved"))
                        .message())
                .contains("user not permitted to approve requests with signerName \"kubernetes.io/kubelet-serving\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Approved", "Denied"})
    void aWriteOfTheStatusNeitherApprovesNorDenies(String type) {
        server.server.signCertificates((request, usages, life) -> CERTIFICATE);
        server.post(PATH, serving("r"));

        Answer written = ask(
                TestServer.ADMIN,
                "PATCH",
                PATH + "/r/status",
                "{\"status\":{\"conditions\":[{\"type\":\"" + type + "\",\"status\":\"True\",\"reason\":\"R\"}]}}");

        assertThat(written.status()).as(written.text()).isEqualTo(200);
        server.settle();
        assertThat(server.get(PATH + "/r").json().object("status").toString()).isEqualTo("{}");
    }

    @Test
    void approvedRequestsOfNodesAreSignedAndOthersFail() {
        server.server.signCertificates((request, usages, life) -> CERTIFICATE);
        server.post(PATH, serving("good"));
        server.post(PATH, body("bad", request("system:node:n1", "others", List.of("n1")), SERVING, "server auth"));
        server.post(PATH, body("foreign", request("a", "b", List.of()), "example.com/s", "client auth"));

        for (String name : List.of("good", "bad", "foreign")) {
            ask(TestServer.ADMIN, "PATCH", PATH + "/" + name + "/approval", condition("Approved"));
        }
        server.settle();

        assertThat(status("good").text("certificate")).isNotEmpty();
        assertThat(status("bad").array("conditions").objects().map(condition -> condition.text("reason")))
                .containsExactly("R", "SignerValidationFailure");
        assertThat(status("foreign").has("certificate")).isFalse();
    }

    @Test
    void aNodesOwnClientCertificateIsApprovedIfItHasTheRight() {
        server.server.signCertificates((request, usages, life) -> CERTIFICATE);
        String own = body(
                "own",
                request("system:node:n1", "system:nodes", List.of()),
                CLIENT,
                "digital signature",
                "client auth");
        server.ask(TestServer.N1, "POST", PATH, own);
        server.settle();
        assertThat(status("own").isEmpty()).isTrue();

        server.post(
                "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                "{\"metadata\":{\"name\":\"rotation\"},"
                        + "\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":"
                        + "\"system:certificates.k8s.io:certificatesigningrequests:selfnodeclient\"},"
                        + "\"subjects\":[{\"kind\":\"Group\",\"name\":\"system:nodes\"}]}");
        server.settle();
        server.ask(TestServer.N1, "POST", PATH, own.replace("\"own\"", "\"next\""));
        server.settle();

        assertThat(status("next").array("conditions").objects().map(condition -> condition.text("message")))
                .containsExactly("Auto approving self kubelet client certificate after SubjectAccessReview.");
        assertThat(status("next").text("certificate")).isNotEmpty();
    }

    /** Only requests whose signature was checked are stored, but a store may be restored from elsewhere. */
    @Test
    void signatureIsCheckedBeforeACertificateIsSigned() {
        // given an approved request whose signature is not of its key
        String forged = forged("forged", "system:nodes");
        assertThat(server.post(PATH, forged).message()).contains("the signature of the request is wrong");
        store(forged);

        // when the server signs
        List<CertificateRequest> signed = new ArrayList<>();
        server.server.signCertificates((request, usages, life) -> {
            signed.add(request);
            return CERTIFICATE;
        });
        server.settle();

        // then not this one
        assertThat(signed).isEmpty();
        assertThat(status("forged").has("certificate")).isFalse();
    }

    /** The check takes long, and the store's thread reads the requests. */
    @Test
    void signatureIsNotCheckedToRefuseARequest() {
        store(forged("forged", "others"));

        server.server.signCertificates((request, usages, life) -> CERTIFICATE);
        server.settle();

        assertThat(status("forged").array("conditions").objects().map(condition -> condition.text("reason")))
                .containsExactly("R", "SignerValidationFailure");
    }

    /** A request of node n1 whose signature is not of its key. */
    private static String forged(String name, String organization) {
        byte[] der = Pem.block("CERTIFICATE REQUEST", request("system:node:n1", organization, List.of("n1")));
        der[der.length - 1] ^= 1;
        return body(name, Pem.encode("CERTIFICATE REQUEST", der), SERVING, "digital signature", "server auth");
    }

    /** Stores an approved request without the checks of its creation. */
    private void store(String body) {
        JsonObject object = Json.parseObject(body)
                .with(
                        "status",
                        Json.parseObject(condition("Approved")).object("status").without("certificate"));
        String name = object.object("metadata").text("name");
        server.store.put(
                CertificateResources.REQUESTS.key("", name),
                CertificateResources.REQUESTS.codec().encode(object),
                0);
        server.settle();
    }

    /** A server that starts with many of them has other work, too. */
    @Test
    void requestsThatWaitAtTheStartAreConsideredInTurns() {
        // given approved requests
        for (String name : List.of("a", "b", "c")) {
            server.post(PATH, serving(name));
            ask(TestServer.ADMIN, "PATCH", PATH + "/" + name + "/approval", condition("Approved"));
        }

        // when a server starts, with other work after the first of them
        List<String> done = new ArrayList<>();
        server.server.signCertificates((request, usages, life) -> {
            if (done.isEmpty()) {
                server.loop.execute(() -> done.add("other work"));
            }
            done.add("signed");
            return CERTIFICATE;
        });
        server.settle();

        // then the other work does not wait for all
        assertThat(done).startsWith("signed", "other work", "signed", "signed");
        assertThat(status("c").text("certificate")).isNotEmpty();
    }

    @Test
    void oldRequestsAreRemoved() {
        server.server.signCertificates((request, usages, life) -> CERTIFICATE);
        server.post(PATH, serving("pending"));
        server.post(PATH, serving("denied"));
        ask(TestServer.ADMIN, "PATCH", PATH + "/denied/approval", condition("Denied"));

        server.time.advance(Duration.ofHours(3));
        assertThat(server.get(PATH).names()).containsExactly("pending");
        server.time.advance(Duration.ofHours(24));
        assertThat(server.get(PATH).names()).isEmpty();
    }

    /** An approver need not say when it decided. */
    @Test
    void oldRequestsWithoutTheTimeOfTheirDecisionAreRemoved() {
        server.server.signCertificates((request, usages, life) -> CERTIFICATE);
        server.post(PATH, serving("pending"));
        server.post(PATH, serving("denied"));
        ask(
                TestServer.ADMIN,
                "PATCH",
                PATH + "/denied/approval",
                "{\"status\":{\"conditions\":[{\"type\":\"Denied\",\"status\":\"True\",\"reason\":\"x\"}]}}");

        server.time.advance(Duration.ofHours(3));

        assertThat(server.get(PATH).names()).containsExactly("pending");
    }

    @Test
    void oldRequestsAreRemovedInTurns() {
        server.server.signCertificates((request, usages, life) -> CERTIFICATE);
        for (String name : List.of("a", "b", "c")) {
            server.post(PATH, serving(name));
        }

        // when they have become old, with other work after the first removal
        List<String> done = new ArrayList<>();
        PrefixFollower.follow(server.store, server.loop, "/registry/certificatesigningrequests/", now -> {}, event -> {
            if (done.isEmpty()) {
                server.loop.execute(() -> done.add("other work"));
            }
            done.add("removed");
        });
        server.time.advance(Duration.ofHours(25));

        // then the other work does not wait for all
        assertThat(done).containsExactly("removed", "other work", "removed", "removed");
    }

    private JsonObject status(String name) {
        return server.get(PATH + "/" + name).json().object("status");
    }
}
