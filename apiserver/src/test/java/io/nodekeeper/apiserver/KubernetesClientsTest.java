package io.nodekeeper.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.V1;
import io.kubernetes.client.proto.V1Coordination;
import io.kubernetes.client.proto.V1Storage;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.Envelopes;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.apiserver.testing.TestServer.Lines;
import io.nodekeeper.apiserver.wire.Protobuf;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The requests of a real kubelet and of real kube-controller-managers (1.21), in the recorded order and form, with their
 * users.
 */
class KubernetesClientsTest {
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String LOCK =
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager";
    private static final String INFORMER = "limit=500&resourceVersion=0";

    private final TestServer server = TestServer.withRoles();

    /** A client that sends its objects in one encoding; responses may have another one. */
    private final class Client {
        private final User user;
        private final boolean protobuf;

        Client(User user, boolean protobuf) {
            this.user = user;
            this.protobuf = protobuf;
        }

        private Map<String, String> headers(String contentType) {
            return Map.of(
                    "content-type",
                    contentType,
                    "accept",
                    protobuf ? "application/vnd.kubernetes.protobuf, */*" : "application/json, */*",
                    "user-agent",
                    "kubelet/v1.21.3 (linux/amd64) kubernetes/ca643a4");
        }

        Answer send(String method, String uri, String apiVersion, String kind, Message object) {
            byte[] envelope = Envelopes.of(apiVersion, kind, object);
            byte[] body = protobuf ? envelope : Json.writeBytes(Protobuf.decode(envelope));
            return send(method, uri, protobuf ? "application/vnd.kubernetes.protobuf" : "application/json", body);
        }

        Answer patch(String type, String uri, String patch) {
            return send("PATCH", uri, type, patch.getBytes(StandardCharsets.UTF_8));
        }

        Answer get(String uri) {
            return send("GET", uri, "application/json", new byte[0]);
        }

        Lines watch(String uri) {
            return server.watch(user, uri, headers("application/json"));
        }

        private Answer send(String method, String uri, String contentType, byte[] body) {
            CompletableFuture<ApiResponse> answer =
                    server.server.handle(TestServer.request(user, method, uri, headers(contentType), body));
            server.settle();
            return TestServer.answer(answer);
        }

        /** The list of a reflector, and the watch from the list's version. */
        Lines inform(String uri) {
            String joint = uri.contains("?") ? "&" : "?";
            Answer list = get(uri + joint + INFORMER);
            assertThat(list.status()).as(uri + ": " + list.text()).isEqualTo(200);
            return watch(uri + joint + "allowWatchBookmarks=true&timeoutSeconds=420&watch=true&resourceVersion="
                    + list.version());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("W73")
    @Tag("W74")
    void kubeletRegistersRenewsItsLeaseReportsStatusAndDeletesItsPods(boolean protobuf) {
        Client kubelet = new Client(TestServer.N1, protobuf);

        // given its informers
        for (String uri : List.of(
                "/api/v1/services",
                "/api/v1/nodes?fieldSelector=metadata.name%3Dn1",
                "/apis/storage.k8s.io/v1/csidrivers",
                "/apis/node.k8s.io/v1/runtimeclasses")) {
            kubelet.inform(uri);
        }
        Lines pods = kubelet.inform("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1");

        // when it registers, and again after a restart
        Answer registered = kubelet.send("POST", "/api/v1/nodes", "v1", "Node", node());
        Answer again = kubelet.send("POST", "/api/v1/nodes", "v1", "Node", node());

        // then the node exists with its status, and the second registration fails with AlreadyExists
        assertThat(registered.status()).as(registered.text()).isEqualTo(201);
        assertThat(again.status()).isEqualTo(409);
        assertThat(again.reason()).isEqualTo("AlreadyExists");
        JsonObject node = kubelet.get("/api/v1/nodes/n1?resourceVersion=0").json();
        String uid = node.object("metadata").text("uid");
        assertThat(node.object("status").array("conditions").items()).hasSize(4);
        assertThat(node.object("status").object("capacity").text("memory")).isEqualTo("4039064Ki");

        // and it creates its CSINode
        assertThat(kubelet.get("/apis/storage.k8s.io/v1/csinodes/n1").status()).isEqualTo(404);
        Answer csiNode = kubelet.send(
                "POST",
                "/apis/storage.k8s.io/v1/csinodes",
                "storage.k8s.io/v1",
                "CSINode",
                V1Storage.CSINode.newBuilder()
                        .setMetadata(metadata("n1").addOwnerReferences(owner(uid)))
                        .setSpec(V1Storage.CSINodeSpec.getDefaultInstance())
                        .build());
        assertThat(csiNode.status()).as(csiNode.text()).isEqualTo(201);

        // and renews its lease every 10 s for two minutes, also after a conflict
        assertThat(kubelet.get(LEASES + "/n1?timeout=10s").status()).isEqualTo(404);
        Answer lease =
                kubelet.send("POST", LEASES + "?timeout=10s", "coordination.k8s.io/v1", "Lease", lease("", uid, 0));
        assertThat(lease.status()).as(lease.text()).isEqualTo(201);
        String first = lease.version();
        String version = first;
        for (int renewal = 1; renewal <= 12; renewal++) {
            server.time.advance(Duration.ofSeconds(10));
            Answer renewed = kubelet.send(
                    "PUT",
                    LEASES + "/n1?timeout=10s",
                    "coordination.k8s.io/v1",
                    "Lease",
                    lease(version, uid, 10 * renewal));
            assertThat(renewed.status()).as(renewed.text()).isEqualTo(200);
            assertThat(Long.parseLong(renewed.version())).isGreaterThan(Long.parseLong(version));
            version = renewed.version();
        }
        Answer stale = kubelet.send(
                "PUT", LEASES + "/n1?timeout=10s", "coordination.k8s.io/v1", "Lease", lease(first, uid, 130));
        assertThat(stale.status()).isEqualTo(409);
        version = kubelet.get(LEASES + "/n1?timeout=10s").version();
        assertThat(kubelet.send(
                                "PUT",
                                LEASES + "/n1?timeout=10s",
                                "coordination.k8s.io/v1",
                                "Lease",
                                lease(version, uid, 130))
                        .status())
                .isEqualTo(200);

        // and reports its status: one condition changes, and the order stays
        Answer ready = kubelet.patch(TestServer.STRATEGIC, "/api/v1/nodes/n1/status?timeout=10s", """
                        {"status":{"$setElementOrder/conditions":[{"type":"MemoryPressure"},{"type":"DiskPressure"},
                        {"type":"PIDPressure"},{"type":"Ready"}],"conditions":[{"message":"kubelet is posting ready status",
                        "reason":"KubeletReady","status":"True","type":"Ready"}]}}
                        """);
        assertThat(ready.status()).as(ready.text()).isEqualTo(200);
        assertThat(ready.json()
                        .object("status")
                        .array("conditions")
                        .objects()
                        .map(condition -> condition.text("type") + "=" + condition.text("status")))
                .containsExactly("MemoryPressure=False", "DiskPressure=False", "PIDPressure=False", "Ready=True");

        // and reports an event, and its repetition
        Answer event = kubelet.send("POST", "/api/v1/namespaces/default/events", "v1", "Event", event());
        assertThat(event.status()).as(event.text()).isEqualTo(201);
        assertThat(kubelet.patch(
                                TestServer.STRATEGIC,
                                "/api/v1/namespaces/default/events/n1.16b9d3f0c0a1b2c3",
                                "{\"count\":2,\"lastTimestamp\":\"2026-11-21T07:02:00Z\"}")
                        .status())
                .isEqualTo(200);

        // and completes the deletion of a pod, with the UID as a precondition
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p1", "n1"));
        String pod = server.get("/api/v1/namespaces/default/pods/p1")
                .json()
                .object("metadata")
                .text("uid");
        server.delete("/api/v1/namespaces/default/pods/p1", "{\"propagationPolicy\":\"Background\"}");
        assertThat(kubelet.patch(
                                TestServer.STRATEGIC,
                                "/api/v1/namespaces/default/pods/p1/status",
                                "{\"metadata\":{\"uid\":\"" + pod + "\"},\"status\":{\"phase\":\"Running\"}}")
                        .status())
                .isEqualTo(200);
        Answer ended = kubelet.send(
                "DELETE",
                "/api/v1/namespaces/default/pods/p1",
                "v1",
                "DeleteOptions",
                Meta.DeleteOptions.newBuilder()
                        .setGracePeriodSeconds(0)
                        .setPreconditions(Meta.Preconditions.newBuilder().setUid(pod))
                        .build());
        assertThat(ended.status()).as(ended.text()).isEqualTo(200);
        assertThat(pods.events.stream().map(line -> line.text("type")).filter(type -> !type.equals("BOOKMARK")))
                .containsExactly("ADDED", "MODIFIED", "MODIFIED", "DELETED");
    }

    @Test
    @Tag("W75")
    void controllerManagerTaintsANodeReportsAnEventAndReverts() {
        server.node("n1");
        Client manager = new Client(TestServer.CONTROLLER, true);
        assertThat(manager.get("/healthz?timeout=32s").status()).isEqualTo(200);
        Lines nodes = manager.inform("/api/v1/nodes");
        for (String uri : List.of("/api/v1/pods", "/apis/coordination.k8s.io/v1/leases", "/apis/apps/v1/daemonsets")) {
            manager.inform(uri);
        }

        // when it marks the node as unreachable
        Answer unknown = manager.send("PUT", "/api/v1/nodes/n1/status", "v1", "Node", givenUp());
        Answer tainted = manager.patch(
                TestServer.STRATEGIC,
                "/api/v1/nodes/n1",
                "{\"spec\":{\"taints\":[{\"effect\":\"NoExecute\",\"key\":\"node.kubernetes.io/unreachable\","
                        + "\"timeAdded\":\"2026-11-21T07:00:00Z\"},{\"effect\":\"NoSchedule\","
                        + "\"key\":\"node.kubernetes.io/unreachable\",\"timeAdded\":\"2026-11-21T07:00:00Z\"}]}}");
        Answer told = manager.send("POST", "/api/v1/namespaces/default/events", "v1", "Event", event());

        // then the response has the marks, in the client's encoding
        assertThat(unknown.status()).as(unknown.text()).isEqualTo(200);
        assertThat(tainted.status()).as(tainted.text()).isEqualTo(200);
        assertThat(tainted.json().object("spec").array("taints").objects().map(taint -> taint.text("effect")))
                .containsExactly("NoExecute", "NoSchedule");
        assertThat(told.status()).as(told.text()).isEqualTo(201);

        // and when it reverts this, the marks are gone
        Answer cleared = manager.patch(TestServer.STRATEGIC, "/api/v1/nodes/n1", "{\"spec\":{\"taints\":null}}");
        assertThat(cleared.status()).isEqualTo(200);
        assertThat(cleared.json().object("spec").has("taints")).isFalse();
        assertThat(nodes.events).hasSize(3);
    }

    @Test
    @Tag("W76")
    void secondControllerManagerTakesOverTheLeaderLease() {
        Client one = new Client(TestServer.CONTROLLER, true);
        Client other = new Client(TestServer.CONTROLLER, true);
        assertThat(one.get(LOCK + "?timeout=5s").status()).isEqualTo(404);
        assertThat(other.get(LOCK + "?timeout=5s").status()).isEqualTo(404);

        // when both try to acquire the lock
        String collection = LOCK.substring(0, LOCK.lastIndexOf('/'));
        Answer won =
                one.send("POST", collection + "?timeout=5s", "coordination.k8s.io/v1", "Lease", lock("", "one", 0));
        Answer lost =
                other.send("POST", collection + "?timeout=5s", "coordination.k8s.io/v1", "Lease", lock("", "other", 0));

        // then one acquires it, and renews it
        assertThat(won.status()).as(won.text()).isEqualTo(201);
        assertThat(lost.status()).isEqualTo(409);
        Answer renewed =
                one.send("PUT", LOCK + "?timeout=5s", "coordination.k8s.io/v1", "Lease", lock(won.version(), "one", 2));
        assertThat(renewed.status()).as(renewed.text()).isEqualTo(200);

        // and when it stops renewing, the other one takes over, and a late renewal of the first one is refused
        server.time.advance(Duration.ofSeconds(17));
        Answer taken = other.send(
                "PUT", LOCK + "?timeout=5s", "coordination.k8s.io/v1", "Lease", lock(renewed.version(), "other", 19));
        Answer late = one.send(
                "PUT", LOCK + "?timeout=5s", "coordination.k8s.io/v1", "Lease", lock(renewed.version(), "one", 20));
        assertThat(taken.status()).isEqualTo(200);
        assertThat(late.status()).isEqualTo(409);
        assertThat(server.get(LOCK).json().object("spec").text("holderIdentity"))
                .isEqualTo("other");
    }

    private static Meta.ObjectMeta.Builder metadata(String name) {
        // Go also writes the empty time.
        return Meta.ObjectMeta.newBuilder().setName(name).setCreationTimestamp(Meta.Time.getDefaultInstance());
    }

    private static Meta.OwnerReference owner(String uid) {
        return Meta.OwnerReference.newBuilder()
                .setApiVersion("v1")
                .setKind("Node")
                .setName("n1")
                .setUid(uid)
                .build();
    }

    private static V1.NodeCondition condition(String type, String status, String reason) {
        return V1.NodeCondition.newBuilder()
                .setType(type)
                .setStatus(status)
                .setReason(reason)
                .setMessage("")
                .setLastHeartbeatTime(Meta.Time.newBuilder().setSeconds(1_763_708_400))
                .setLastTransitionTime(Meta.Time.newBuilder().setSeconds(1_763_708_400))
                .build();
    }

    private static V1.Node node() {
        return V1.Node.newBuilder()
                .setMetadata(metadata("n1")
                        .putLabels("kubernetes.io/hostname", "n1")
                        .putLabels("kubernetes.io/os", "linux")
                        .putLabels("kubernetes.io/arch", "amd64")
                        .putAnnotations("volumes.kubernetes.io/controller-managed-attach-detach", "true"))
                .setSpec(V1.NodeSpec.newBuilder()
                        .setPodCIDR("")
                        .setProviderID("")
                        .setUnschedulable(false))
                .setStatus(V1.NodeStatus.newBuilder()
                        .putCapacity(
                                "memory",
                                io.kubernetes.client.proto.Resource.Quantity.newBuilder()
                                        .setString("4039064Ki")
                                        .build())
                        .setPhase("")
                        .addConditions(condition("MemoryPressure", "False", "KubeletHasSufficientMemory"))
                        .addConditions(condition("DiskPressure", "False", "KubeletHasNoDiskPressure"))
                        .addConditions(condition("PIDPressure", "False", "KubeletHasSufficientPID"))
                        .addConditions(condition("Ready", "False", "KubeletNotReady")))
                .build();
    }

    private static V1.Node givenUp() {
        return V1.Node.newBuilder()
                .setMetadata(metadata("n1"))
                .setStatus(V1.NodeStatus.newBuilder().addConditions(condition("Ready", "Unknown", "NodeStatusUnknown")))
                .build();
    }

    private static V1Coordination.Lease lease(String version, String uid, long seconds) {
        return V1Coordination.Lease.newBuilder()
                .setMetadata(metadata("n1")
                        .setNamespace("kube-node-lease")
                        .setResourceVersion(version)
                        .addOwnerReferences(owner(uid)))
                .setSpec(V1Coordination.LeaseSpec.newBuilder()
                        .setHolderIdentity("n1")
                        .setLeaseDurationSeconds(40)
                        .setRenewTime(Meta.MicroTime.newBuilder()
                                .setSeconds(1_763_708_400 + seconds)
                                .setNanos(123_456_000)))
                .build();
    }

    private static V1Coordination.Lease lock(String version, String holder, long seconds) {
        return V1Coordination.Lease.newBuilder()
                .setMetadata(metadata("kube-controller-manager")
                        .setNamespace("kube-system")
                        .setResourceVersion(version))
                .setSpec(V1Coordination.LeaseSpec.newBuilder()
                        .setHolderIdentity(holder)
                        .setLeaseDurationSeconds(15)
                        .setLeaseTransitions(0)
                        .setRenewTime(Meta.MicroTime.newBuilder().setSeconds(1_763_708_400 + seconds)))
                .build();
    }

    private static V1.Event event() {
        return V1.Event.newBuilder()
                .setMetadata(metadata("n1.16b9d3f0c0a1b2c3").setNamespace("default"))
                .setInvolvedObject(V1.ObjectReference.newBuilder()
                        .setKind("Node")
                        .setName("n1")
                        .setUid("n1")
                        .setNamespace(""))
                .setReason("NodeHasSufficientMemory")
                .setMessage("Node n1 status is now: NodeHasSufficientMemory")
                .setSource(V1.EventSource.newBuilder().setComponent("kubelet").setHost("n1"))
                .setFirstTimestamp(Meta.Time.newBuilder().setSeconds(1_763_708_400))
                .setLastTimestamp(Meta.Time.newBuilder().setSeconds(1_763_708_400))
                .setCount(1)
                .setType("Normal")
                .setReportingComponent("")
                .setReportingInstance("")
                .build();
    }
}
