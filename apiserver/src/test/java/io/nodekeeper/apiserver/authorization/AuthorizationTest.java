package io.nodekeeper.apiserver.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The exact messages of refusals, and NodeRestriction. {@link AuthorizationMatrixTest} has the decisions. */
class AuthorizationTest {
    private static final String NODE_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String SYSTEM_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

    private static final String PODS = "/api/v1/namespaces/default/pods";
    private final TestServer server = new TestServer();

    private Answer as(User user, String method, String uri, String body) {
        return server.ask(
                user,
                method,
                uri,
                method.equals("PATCH") ? Map.of("content-type", TestServer.STRATEGIC) : Map.of(),
                body);
    }

    private String refusal(User user, String method, String uri, String body) {
        long revision = server.store.revision();
        Answer answer = as(user, method, uri, body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(403);
        assertThat(answer.reason()).isEqualTo("Forbidden");
        assertThat(server.store.revision()).isEqualTo(revision);
        return answer.message();
    }

    @Test
    @Tag("W79")
    void nodeWritesItsOwnNodeStatusAndLease() {
        assertThat(as(
                                TestServer.N1,
                                "POST",
                                "/api/v1/nodes",
                                "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"kubernetes.io/hostname\":\"n1\",\"mine\":\"x\"}},\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]}}")
                        .status())
                .isEqualTo(201);
        assertThat(as(TestServer.N1, "PATCH", "/api/v1/nodes/n1/status", "{\"status\":{\"phase\":\"x\"}}")
                        .status())
                .isEqualTo(200);
        assertThat(as(TestServer.N1, "PATCH", "/api/v1/nodes/n1", "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}")
                        .status())
                .isEqualTo(200);
        assertThat(as(TestServer.N1, "POST", NODE_LEASES, "{\"metadata\":{\"name\":\"n1\"}}")
                        .status())
                .isEqualTo(201);
        assertThat(as(TestServer.N1, "GET", NODE_LEASES + "/n1", "").status()).isEqualTo(200);
        assertThat(as(TestServer.N1, "DELETE", NODE_LEASES + "/n1", "").status())
                .isEqualTo(200);
    }

    @Test
    @Tag("W79")
    void nodeCannotWriteOtherNodesTaintsOrReservedLabels() {
        server.node("n1");
        server.node("n2");
        assertThat(refusal(TestServer.N1, "PATCH", "/api/v1/nodes/n2/status", "{\"status\":{\"phase\":\"x\"}}"))
                .isEqualTo("nodes \"n2\" is forbidden: node \"n1\" is not allowed to modify node \"n2\"");
        assertThat(refusal(TestServer.N1, "PUT", "/api/v1/nodes/n2", "{\"metadata\":{\"name\":\"n2\"}}"))
                .isEqualTo("nodes \"n2\" is forbidden: node \"n1\" is not allowed to modify node \"n2\"");
        assertThat(refusal(TestServer.N1, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"n3\"}}"))
                .isEqualTo("nodes \"n3\" is forbidden: node \"n1\" is not allowed to modify node \"n3\"");
        assertThat(refusal(TestServer.N1, "POST", "/api/v1/nodes", "{\"metadata\":{\"generateName\":\"n1\"}}"))
                .contains("node \"n1\" is not allowed to modify node \"n1");
        for (String patch : List.of(
                "{\"spec\":{\"taints\":null}}",
                "{\"spec\":{\"taints\":[]}}",
                "{\"spec\":{\"$patch\":\"replace\"}}",
                "{\"spec\":null}",
                "{\"spec\":{\"$retainKeys\":[\"podCIDR\"],\"podCIDR\":\"\"}}")) {
            assertThat(refusal(TestServer.N1, "PATCH", "/api/v1/nodes/n1", patch))
                    .isEqualTo("nodes \"n1\" is forbidden: node \"n1\" is not allowed to modify taints");
        }
        assertThat(refusal(TestServer.N1, "PUT", "/api/v1/nodes/n1", "{\"metadata\":{\"name\":\"n1\"}}"))
                .isEqualTo("nodes \"n1\" is forbidden: node \"n1\" is not allowed to modify taints");
        assertThat(refusal(TestServer.N1, "DELETE", "/api/v1/nodes/n1", ""))
                .isEqualTo(
                        "nodes \"n1\" is forbidden: User \"system:node:n1\" cannot delete resource \"nodes\" in API group \"\" at the cluster scope");
        assertThat(refusal(
                        TestServer.N1,
                        "PATCH",
                        "/api/v1/nodes/n1",
                        "{\"metadata\":{\"labels\":{\"node-restriction.kubernetes.io/x\":\"y\"}}}"))
                .isEqualTo(
                        "nodes \"n1\" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/x");
        assertThat(refusal(
                        TestServer.N1,
                        "PATCH",
                        "/api/v1/nodes/n1/status",
                        "{\"metadata\":{\"labels\":{\"kubernetes.io/foo\":\"y\"}}}"))
                .isEqualTo("nodes \"n1\" is forbidden: is not allowed to modify labels: kubernetes.io/foo");
        server.delete("/api/v1/nodes/n1", "");
        assertThat(refusal(
                        TestServer.N1,
                        "POST",
                        "/api/v1/nodes",
                        "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"kubernetes.io/foo\":\"y\",\"free\":\"z\"}}}"))
                .isEqualTo(
                        "nodes \"n1\" is forbidden: node \"n1\" is not allowed to set the following labels: kubernetes.io/foo");
    }

    @ParameterizedTest
    @Tag("W79")
    @ValueSource(
            strings = {
                "node.kubernetes.io/x",
                "kubelet.kubernetes.io/x",
                "feature.node.kubernetes.io/x",
                "a.b.kubelet.kubernetes.io/x",
                "topology.kubernetes.io/zone"
            })
    void nodeSetsTheLabelsThatAKubeletMay(String label) {
        Answer created = as(
                TestServer.N1,
                "POST",
                "/api/v1/nodes",
                "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"" + label + "\":\"y\"}}}");
        assertThat(created.status()).as(created.text()).isEqualTo(201);
        Answer changed =
                as(TestServer.N1, "PATCH", "/api/v1/nodes/n1", "{\"metadata\":{\"labels\":{\"" + label + "\":\"z\"}}}");
        assertThat(changed.status()).as(changed.text()).isEqualTo(200);
    }

    /** The whole domain counts, not only its end. */
    @ParameterizedTest
    @Tag("W79")
    @ValueSource(
            strings = {"xnode.kubernetes.io/x", "node.kubernetes.io.x.k8s.io/x", "a.node-restriction.kubernetes.io/x"})
    void nodeDoesNotSetOtherReservedLabels(String label) {
        assertThat(refusal(
                        TestServer.N1,
                        "POST",
                        "/api/v1/nodes",
                        "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"" + label + "\":\"y\"}}}"))
                .endsWith("is not allowed to set the following labels: " + label);
    }

    /** As Kubernetes' kubelet finds them: without a namespace, the secret is in that of the claim. */
    @ParameterizedTest
    @Tag("W79")
    @ValueSource(
            strings = {
                "\"iscsi\":{\"targetPortal\":\"t\",\"iqn\":\"i\",\"lun\":0,\"secretRef\":{\"name\":\"chap\"}}",
                "\"cephfs\":{\"monitors\":[\"m\"],\"secretRef\":{\"name\":\"chap\",\"namespace\":\"default\"}}",
                "\"flexVolume\":{\"driver\":\"d/e\",\"secretRef\":{\"name\":\"chap\"}}",
                "\"azureFile\":{\"shareName\":\"s\",\"secretName\":\"chap\"}",
                "\"cinder\":{\"volumeID\":\"v\",\"secretRef\":{\"name\":\"chap\",\"namespace\":\"default\"}}"
            })
    void nodeReadsTheSecretsOfItsPersistentVolumes(String source) {
        server.node("n1");
        server.post("/api/v1/namespaces/default/secrets", "{\"metadata\":{\"name\":\"chap\"}}");
        server.post(
                "/api/v1/namespaces/default/persistentvolumeclaims",
                "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"volumeName\":\"v\",\"accessModes\":[\"ReadWriteOnce\"],"
                        + "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}");
        Answer volume = server.post(
                "/api/v1/persistentvolumes",
                "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"capacity\":{\"storage\":"
                        + "\"1Gi\"},\"claimRef\":{\"namespace\":\"default\",\"name\":\"d\"}," + source + "}}");
        assertThat(volume.status()).as(volume.text()).isEqualTo(201);
        assertThat(as(TestServer.N1, "GET", "/api/v1/namespaces/default/secrets/chap", "")
                        .status())
                .isEqualTo(403);

        server.post(
                PODS,
                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\","
                        + "\"image\":\"i\"}],\"volumes\":[{\"name\":\"d\",\"persistentVolumeClaim\":{\"claimName\":\"d\"}}]}}");

        assertThat(as(TestServer.N1, "GET", "/api/v1/namespaces/default/secrets/chap", "")
                        .status())
                .isEqualTo(200);
    }

    /** A connection may last longer than the certificate with which it began. */
    @Test
    void certificateCountsUntilItsEnd() {
        Instant now = server.loop.clock().wallTime();
        ApiRequest plain = TestServer.request(TestServer.ADMIN, "GET", "/api/v1/nodes", Map.of(), new byte[0]);
        ApiRequest request = new ApiRequest(
                plain.method(),
                plain.path(),
                plain.query(),
                plain.headers(),
                plain.body(),
                Optional.of(new ClientCertificate(TestServer.ADMIN, now.plusSeconds(2))),
                plain.uri(),
                "");

        assertThat(TestServer.answer(server.server.handle(request)).status()).isEqualTo(200);
        server.time.advance(Duration.ofSeconds(2));
        assertThat(TestServer.answer(server.server.handle(request)).status()).isEqualTo(200);
        server.time.advance(Duration.ofSeconds(1));

        assertThat(TestServer.answer(server.server.handle(request)).status()).isEqualTo(401);
        assertThat(server.server.permitted(request)).isEmpty();
    }

    @Test
    @Tag("W79")
    void restrictionChecksTheStateThatTheWriteReplaces() {
        // given a node that writes an object based on its earlier read, while the controller adds a taint
        String read = server.node("n1")
                .update("metadata", metadata -> metadata.without("resourceVersion"))
                .with("extra", "x")
                .toString();
        var tainting = server.send(
                TestServer.ADMIN,
                "PATCH",
                "/api/v1/nodes/n1",
                Map.of("content-type", TestServer.STRATEGIC),
                "{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}}");
        var writing = server.send(TestServer.N1, "PUT", "/api/v1/nodes/n1", Map.of(), read);
        server.settle();
        // then the node's later write cannot remove the taint
        assertThat(TestServer.answer(tainting).status()).isEqualTo(200);
        assertThat(TestServer.answer(writing).message())
                .isEqualTo("nodes \"n1\" is forbidden: node \"n1\" is not allowed to modify taints");
        assertThat(server.get("/api/v1/nodes/n1").json().object("spec").array("taints"))
                .hasToString("[{\"key\":\"k\",\"effect\":\"NoExecute\"}]");
    }

    @Test
    @Tag("W80")
    void nodeAccessesOnlyItsOwnLease() {
        String prefix =
                "leases.coordination.k8s.io is forbidden: User \"system:node:n1\" cannot list resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"kube-node-lease\": ";
        assertThat(refusal(TestServer.N1, "GET", NODE_LEASES, ""))
                .isEqualTo(prefix + "can only get, create, update, patch, or delete a node lease");
        assertThat(refusal(TestServer.N1, "GET", NODE_LEASES + "/n2", ""))
                .endsWith(": can only access node lease with the same name as the requesting node");
        assertThat(refusal(TestServer.N1, "GET", SYSTEM_LEASES + "/n1", ""))
                .endsWith(": can only access leases in the \"kube-node-lease\" system namespace");
        assertThat(refusal(TestServer.N1, "POST", NODE_LEASES, "{\"metadata\":{\"name\":\"n2\"}}"))
                .isEqualTo(
                        "leases.coordination.k8s.io \"n2\" is forbidden: can only access node lease with the same name as the requesting node");
    }

    @Test
    @Tag("W79")
    void nodeWritesOnlyItsOwnPods() {
        server.post(PODS, TestServer.pod("mine", "n1"));
        server.post(PODS, TestServer.pod("other", "n2"));
        assertThat(as(TestServer.N1, "PATCH", PODS + "/mine/status", "{\"status\":{\"phase\":\"Running\"}}")
                        .status())
                .isEqualTo(200);
        assertThat(refusal(TestServer.N1, "PATCH", PODS + "/other/status", "{\"status\":{\"phase\":\"Failed\"}}"))
                .isEqualTo(
                        "pods \"other\" is forbidden: node \"n1\" can only update pod status for pods with spec.nodeName set to itself");
        assertThat(refusal(TestServer.N1, "DELETE", PODS + "/other", "{\"gracePeriodSeconds\":0}"))
                .startsWith("pods \"other\" is forbidden: ");
        assertThat(refusal(TestServer.N1, "POST", PODS, TestServer.pod("new", "n1")))
                .isEqualTo(
                        "pods \"new\" is forbidden: pod does not have \"kubernetes.io/config.mirror\" annotation, node \"n1\" can only create mirror pods");
        assertThat(as(TestServer.N1, "DELETE", PODS + "/mine", "{\"gracePeriodSeconds\":0}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    @Tag("W79")
    void mirrorPodBelongsToItsNodeAndStaysAMirrorPod() {
        String owner = "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u\",\"controller\":true}";
        assertThat(refusal(TestServer.N1, "POST", PODS, mirror("")))
                .isEqualTo(
                        "pods \"static\" is forbidden: node \"n1\" can only create pods with an owner reference set to itself");
        assertThat(refusal(TestServer.N1, "POST", PODS, mirror(owner.replace("n1", "n2"))))
                .endsWith("can only create pods with an owner reference set to itself");
        assertThat(refusal(TestServer.N1, "POST", PODS, mirror(owner + "," + owner.replace("\"u\"", "\"v\""))))
                .endsWith("can only create pods with a single owner reference set to itself");
        assertThat(refusal(TestServer.N1, "POST", PODS, mirror(owner.replace(",\"controller\":true", ""))))
                .endsWith("can only create pods with a controller owner reference set to itself");
        assertThat(refusal(
                        TestServer.N1, "POST", PODS, mirror(owner.replace("true", "true,\"blockOwnerDeletion\":true"))))
                .endsWith("must not set blockOwnerDeletion on an owner reference");
        Answer unknown = as(TestServer.N1, "POST", PODS, mirror(owner));
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.message()).isEqualTo("nodes \"n1\" not found");
        String uid = server.node("n1").object("metadata").text("uid");
        assertThat(refusal(TestServer.N1, "POST", PODS, mirror(owner)))
                .isEqualTo("pods \"static\" is forbidden: node n1 UID mismatch: expected u got " + uid);
        assertThat(as(TestServer.N1, "POST", PODS, mirror(owner.replace("\"u\"", "\"" + uid + "\"")))
                        .status())
                .isEqualTo(201);

        Answer stripped = as(
                TestServer.N1,
                "PATCH",
                PODS + "/static/status",
                "{\"metadata\":{\"annotations\":{\"kubernetes.io/config.mirror\":null}}}");
        assertThat(stripped.status()).isEqualTo(422);
        assertThat(stripped.json().text("message"))
                .endsWith(
                        "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation");
        server.post(PODS, TestServer.pod("usual", "n1"));
        assertThat(as(
                                TestServer.N1,
                                "PATCH",
                                PODS + "/usual/status",
                                "{\"metadata\":{\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}}}")
                        .json()
                        .text("message"))
                .endsWith("Forbidden: may not add mirror pod annotation");
    }

    @Test
    void nodeWritesTheSizeOfAClaimOfItsPods() {
        String claims = "/api/v1/namespaces/default/persistentvolumeclaims";
        server.post(claims, """
                {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "s",
                 "resources": {"requests": {"storage": "1Gi"}}}}""");
        server.patch(TestServer.MERGE, claims + "/c/status", "{\"status\":{\"phase\":\"Bound\"}}");
        String grown = "{\"status\":{\"capacity\":{\"storage\":\"2Gi\"},\"conditions\":null}}";
        assertThat(refusal(TestServer.N1, "PATCH", claims + "/c/status", grown))
                .endsWith("no relationship found between node 'n1' and this object");
        server.post(PODS, """
                {"metadata": {"name": "mine"}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}],
                 "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}}""");
        server.settle();

        assertThat(as(TestServer.N1, "PATCH", claims + "/c/status", grown).status())
                .isEqualTo(200);
        assertThat(server.get(claims + "/c")
                        .json()
                        .object("status")
                        .object("capacity")
                        .text("storage"))
                .isEqualTo("2Gi");
        for (String other : List.of("{\"status\":{\"phase\":\"Lost\"}}", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}")) {
            assertThat(refusal(TestServer.N1, "PATCH", claims + "/c/status", other))
                    .isEqualTo("persistentvolumeclaims \"c\" is forbidden: node \"n1\" is not allowed to update fields"
                            + " other than status.quantity and status.conditions");
        }
        assertThat(refusal(TestServer.N1, "PATCH", claims + "/c", grown))
                .endsWith("can only get individual resources of this type");
    }

    @Test
    @Tag("W79")
    void statusUpdateCannotChangeOwners() {
        String owned =
                "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"c\",\"uid\":\"u\"}]}}";
        server.node("n1");
        server.post(PODS, TestServer.pod("mine", "n1"));

        assertThat(as(TestServer.N1, "PATCH", PODS + "/mine/status", owned).status())
                .isEqualTo(200);
        assertThat(server.get(PODS + "/mine").json().object("metadata").has("ownerReferences"))
                .isFalse();
        assertThat(refusal(TestServer.N1, "PATCH", "/api/v1/nodes/n1", owned))
                .isEqualTo("nodes \"n1\" is forbidden: node \"n1\" is not allowed to modify ownerReferences");
    }

    @Test
    void nodeUserWithoutANodeNameIsRefused() {
        User nameless = User.authenticated("system:node:", List.of("system:nodes"));

        assertThat(refusal(nameless, "PATCH", "/api/v1/nodes/n1", "{\"spec\":{\"taints\":[]}}"))
                .endsWith("at the cluster scope: unknown node for user \"system:node:\"");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]  | persistentvolumeclaims
            "volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}] | persistentvolumeclaims
            "volumes":[{"name":"v","projected":{"sources":[{"configMap":{"name":"c"}},{"serviceAccountToken":{"path":"t"}}]}}] | configmaps
            "volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}] | serviceaccounts
            "volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"name":"b","path":"t"}}]}}] | clustertrustbundles
            "resourceClaims":[{"name":"gpu","resourceClaimName":"c"}] | resourceclaims
            "resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"c"}] | resourceclaims
            "volumes":[{"name":"v","secret":{"secretName":"s"}}] | secrets
            "imagePullSecrets":[{"name":"s"}] | secrets
            """)
    @Tag("W79")
    void mirrorPodCannotReferToOtherObjects(String part, String kind) {
        String owner = "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u\",\"controller\":true}";
        String pod = mirror(owner).replace("\"spec\":{", "\"spec\":{" + part + ",");

        assertThat(refusal(TestServer.N1, "POST", PODS, pod))
                .isEqualTo("pods \"static\" is forbidden: node \"n1\" can not create pods that reference " + kind);
    }

    @Test
    void nodeCannotSetResourceClaimStatuses() {
        server.post(PODS, TestServer.pod("mine", "n1"));

        assertThat(refusal(
                        TestServer.N1,
                        "PATCH",
                        PODS + "/mine/status",
                        "{\"status\":{\"resourceClaimStatuses\":[{\"name\":\"gpu\",\"resourceClaimName\":\"c\"}]}}"))
                .isEqualTo("pods \"mine\" is forbidden: node \"n1\" cannot update resource claim statuses");
    }

    @Test
    void refusalHasResourceAndGroupAsDetails() {
        assertThat(as(TestServer.N1, "POST", NODE_LEASES, "{\"metadata\":{\"name\":\"n2\"}}")
                        .json()
                        .object("details"))
                .hasToString("{\"name\":\"n2\",\"group\":\"coordination.k8s.io\",\"kind\":\"leases\"}");
    }

    /** Kubernetes' feature gate AuthorizeNodeWithSelectors. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            nodes/n1                                    | 200 | 200
            nodes/n2                                    | 403 | 200
            nodes                                       | 403 | 200
            nodes?watch=true                            | 403 | 200
            nodes?fieldSelector=metadata.name%3Dn1      | 200 | 200
            nodes?watch=1&fieldSelector=metadata.name%3Dn1 | 200 | 200
            nodes?fieldSelector=metadata.name%3Dn2      | 403 | 200
            nodes?fieldSelector=metadata.name!%3Dn2     | 403 | 200
            watch/nodes/n1                              | 200 | 200
            watch/nodes/n2                              | 403 | 200
            pods                                        | 403 | 200
            pods?fieldSelector=spec.nodeName%3Dn1       | 200 | 200
            pods?watch=1&fieldSelector=spec.nodeName%3Dn1 | 200 | 200
            pods?fieldSelector=spec.nodeName%3Dn2       | 403 | 200
            pods?fieldSelector=spec.nodeName!%3Dn2      | 403 | 200
            pods?fieldSelector=spec.nodeName%3Dn1,spec.nodeName%3Dn2 | 200 | 200
            namespaces/default/pods                     | 403 | 200
            namespaces/default/pods?fieldSelector=spec.nodeName%3Dn1 | 200 | 200
            namespaces/default/pods/mine                | 200 | 200
            namespaces/default/pods/other               | 403 | 200
            namespaces/default/pods/none                | 403 | 404
            """)
    void nodeReadsOnlyItselfAndItsPods(String uri, int status, int withoutTheGate) {
        server.node("n1");
        server.node("n2");
        server.post(PODS, TestServer.pod("mine", "n1"));
        server.post(PODS, TestServer.pod("other", "n2"));

        assertThat(server.status(TestServer.N1, "/api/v1/" + uri)).isEqualTo(status);
        server.server.switchGates(Map.of("AuthorizeNodeWithSelectors", false));
        assertThat(server.status(TestServer.N1, "/api/v1/" + uri)).isEqualTo(withoutTheGate);
    }

    private static String mirror(String owners) {
        return "{\"metadata\":{\"name\":\"static\",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"},\"ownerReferences\":["
                + owners + "]},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
    }

    @Test
    @Tag("W81")
    void refusalHasUserVerbAndNamespace() {
        User bob = User.authenticated("bob", List.of());
        assertThat(refusal(bob, "GET", "/api/v1/nodes", ""))
                .isEqualTo(
                        "nodes is forbidden: User \"bob\" cannot list resource \"nodes\" in API group \"\" at the cluster scope");
        assertThat(refusal(bob, "GET", "/api/v1/nodes?watch=true", "")).contains("cannot watch resource \"nodes\"");
        assertThat(refusal(bob, "DELETE", "/api/v1/nodes/n1", ""))
                .isEqualTo(
                        "nodes \"n1\" is forbidden: User \"bob\" cannot delete resource \"nodes\" in API group \"\" at the cluster scope");
        assertThat(refusal(bob, "PATCH", "/api/v1/nodes/n1/status", "{}"))
                .contains("cannot patch resource \"nodes/status\" in API group \"\"");
        assertThat(refusal(bob, "GET", PODS, "")).endsWith("in the namespace \"default\"");
        assertThat(as(bob, "GET", "/api/v1/nodes/n1", "").json().object("details"))
                .hasToString("{\"name\":\"n1\",\"kind\":\"nodes\"}");
        assertThat(as(bob, "GET", "/api", "").status()).isEqualTo(200);
    }

    @Test
    void userNameWithoutGroupsGrantsNothing() {
        User imposter = User.authenticated("system:node:n1", List.of());
        assertThat(refusal(imposter, "GET", "/api/v1/nodes", "")).contains("cannot list");
        User nameless = User.authenticated("alice", List.of("system:nodes"));
        assertThat(refusal(nameless, "GET", "/api/v1/nodes", "")).contains("cannot list");
    }

    @Test
    void errorsOfATokenFileNameTheLines() {
        Map<String, User> tokens =
                Authenticator.readTokens(List.of("# comment", "", "t1,alice,1", "t2,bob,2,\"system:masters, devs\""));
        assertThat(tokens)
                .containsEntry("t1", User.authenticated("alice", "1", List.of(), Map.of()))
                .containsEntry("t2", User.authenticated("bob", "2", List.of("system:masters", "devs"), Map.of()));
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> Authenticator.readTokens(List.of("t1,alice", "t2,bob,2", ",x,1")))
                .hasMessage("line 1: expected token,user,uid[,\"group1,group2\"]; line 3: expected"
                        + " token,user,uid[,\"group1,group2\"]");
    }
}
