package io.nodekeeper.apiserver.authorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.node.NodeGraph;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.authorization.rbac.Role;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The memory that authorization takes for objects has a limit. */
class AccessSpaceTest {
    private static final String RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private final TestServer server = TestServer.withRoles();
    private final AccessState state = new AccessState(server.store, server.loop);

    private static String list(String item, int count) {
        return IntStream.range(0, count).mapToObj(item::formatted).collect(Collectors.joining(",", "[", "]"));
    }

    private static JsonObject binding(String name, int subjects) {
        return binding("default", name, subjects);
    }

    private static JsonObject binding(String namespace, String name, int subjects) {
        return Json.parseObject(
                """
                {"metadata": {"namespace": "%s", "name": "%s"}, "roleRef": {"kind": "ClusterRole", "name": "view"},
                 "subjects": %s}
                """.formatted(namespace, name, list("{\"kind\": \"User\", \"name\": \"u%d\"}", subjects)));
    }

    private static JsonObject role(String name, int names) {
        return Json.parseObject("""
                {"metadata": {"name": "%s", "namespace": "default"},
                 "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": %s}]}
                """.formatted(name, list("\"p%d\"", names)));
    }

    private static JsonObject pod(String name, String node, int secrets) {
        return Json.parseObject("""
                {"metadata": {"name": "%s", "namespace": "default"}, "spec": {"nodeName": "%s",
                 "containers": [{"name": "c", "image": "i:1", "envFrom": %s}]}}
                """.formatted(name, node, list("{\"secretRef\": {\"name\": \"s%d\"}}", secrets)));
    }

    private void post(String path, JsonObject object) {
        TestServer.Answer answer = server.post(path, Json.write(object));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    private static long bytes(AccessState state) {
        return state.policyBytes() + state.graphBytes();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void settle() {
        server.time.advance(Duration.ofSeconds(1));
    }

    @Test
    void whatObjectsTakeIsCountedForAsLongAsTheyExist() {
        state.start();
        settle();
        long before = bytes(state);

        post(RBAC + "/rolebindings", binding("b", 100));
        post(RBAC + "/roles", role("r", 100));
        post(PODS, pod("p", "n1", 100));
        settle();

        assertThat(bytes(state) - before).isBetween(100 * 300L, 100 * 600L);
        server.delete(RBAC + "/rolebindings/b", "");
        server.delete(RBAC + "/roles/r", "");
        server.delete(PODS + "/p?gracePeriodSeconds=0", "");
        settle();
        assertThat(bytes(state)).isEqualTo(before);
    }

    /** An earlier server stored bindings to nodes with names of any length. */
    @Test
    void theNameOfTheNodeOfAPodIsCounted() {
        state.start();
        settle();
        long before = bytes(state);
        JsonObject pod = pod("p", "x".repeat(100_000), 0);

        server.store.put(Resources.PODS.key("default", "p"), Json.writeBytes(pod), 0);
        settle();

        assertThat(bytes(state) - before).isBetween(100_000L, 101_000L);
        assertThat(NodeGraph.bytes(pod)).isBetween(100_000L, 101_000L);
    }

    /** An earlier server stored roles and bindings with names of any length. */
    @Test
    void namesOfRolesAndBindingsAreCounted() {
        state.start();
        settle();
        long before = bytes(state);
        String name = "x".repeat(100_000);
        JsonObject role = role(name, 0);
        JsonObject binding = binding(name, 0).update("roleRef", reference -> reference.with("name", name));

        server.store.put(AccessResources.ROLES.key("default", name), Json.writeBytes(role), 0);
        settle();
        long withRole = bytes(state);
        server.store.put(AccessResources.ROLE_BINDINGS.key("default", name), Json.writeBytes(binding), 0);
        settle();

        // the role keeps its name, the binding both names in the reason of its decisions, and each is in a key
        assertThat(withRole - before).isBetween(200_000L, 201_000L);
        assertThat(bytes(state) - withRole).isBetween(400_000L, 401_000L);
        assertThat(state.policyBytes("default")).isBetween(600_000L, 602_000L);
        AccessSpace space = new AccessSpace(state, bytes(state) + 100_000, 100_000);
        assertRefused(space, AccessResources.ROLES, JsonObject.EMPTY, role);
        assertRefused(space, AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding);
        server.delete(RBAC + "/roles/" + name, "");
        server.delete(RBAC + "/rolebindings/" + name, "");
        settle();
        assertThat(bytes(state)).isEqualTo(before);
    }

    @Test
    void namesInOtherScriptsCountTwice() {
        Sizes ascii = new Sizes("n".repeat(1_000));
        Sizes other = new Sizes("\u4e00".repeat(1_000));

        assertThat(other.role() - ascii.role()).isEqualTo(2_000);
        assertThat(other.subject() - ascii.subject()).isBetween(1_000L, 1_100L);
        assertThat(other.reference() - ascii.reference()).isEqualTo(1_000);
    }

    /** What objects with {@code name} take. */
    private record Sizes(String name) {
        long role() {
            return Policy.bytes(Role.of(AccessSpaceTest.role(name, 0)));
        }

        long subject() {
            JsonObject binding = AccessSpaceTest.binding("b", 1);
            JsonObject subject = binding.array("subjects")
                    .objects()
                    .findFirst()
                    .orElseThrow()
                    .with("name", name);
            return Policy.bytes(Binding.of(binding.with("subjects", JsonArray.of(subject))));
        }

        long reference() {
            JsonObject pod = AccessSpaceTest.pod("p", "n1", 0);
            return NodeGraph.bytes(pod.update("spec", spec -> spec.with("serviceAccountName", name)));
        }
    }

    @Test
    void nothingIsReadOfARoleOrABindingBesidesItsRights() {
        // given objects with fields that cannot be read, because they repeat
        state.start();
        settle();
        String unread = """
                "metadata": {"namespace": "default", "name": "x", "labels": {"a": "", "a": ""}}, "other": {"a": 1, "a": 2}""";
        String role = """
                {%s, "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "other": {"a": 1, "a": 2}}]}""";
        String binding = """
                {%s, "roleRef": {"kind": "Role", "name": "x"}, "subjects": [{"kind": "ServiceAccount", "name": "s"}]}""";
        server.store.put(AccessResources.ROLES.key("default", "x"), bytes(role.formatted(unread)), 0);
        server.store.put(AccessResources.ROLE_BINDINGS.key("default", "x"), bytes(binding.formatted(unread)), 0);
        settle();

        // then they grant what they say
        assertThat(state.policy()
                        .decide(Attributes.ofResource(
                                "system:serviceaccount:default:s", List.of(), "get", "", "pods", "default", "p"))
                        .allowed())
                .isTrue();
    }

    /** What is not read of a pod must not be missed: its node could not read what the pod uses. */
    @Test
    void relationsOfAPodAreThoseOfTheWholeObject() {
        state.start();
        settle();
        long before = state.graphBytes();
        String container = """
                {"name": "c", "image": "i", "args": ["a"], "env": [{"name": "a", "value": "b"},
                   {"name": "a", "valueFrom": {"secretKeyRef": {"name": "%1$s-1", "key": "k"}}},
                   {"name": "a", "valueFrom": {"configMapKeyRef": {"name": "%1$s-2", "key": "k"}}}],
                 "envFrom": [{"secretRef": {"name": "%1$s-3"}}, {"configMapRef": {"name": "%1$s-4"}}]}""";
        JsonObject pod = Json.parseObject(
                """
                {"metadata": {"name": "p", "namespace": "default", "labels": {"ephemeralContainers": ""}},
                 "spec": {"nodeName": "n1", "serviceAccountName": "account", "imagePullSecrets": [{"name": "pull"}],
                   "containers": [%s], "initContainers": [%s], "ephemeralContainers": [%s], "volumes": [
                     {"name": "v1", "secret": {"secretName": "s1"}}, {"name": "v2", "configMap": {"name": "m1"}},
                     {"name": "v3", "persistentVolumeClaim": {"claimName": "claim"}}, {"name": "v4", "ephemeral": {}},
                     {"name": "v5", "csi": {"nodePublishSecretRef": {"name": "s2"}}},
                     {"name": "v6", "rbd": {"secretRef": {"name": "s3"}}},
                     {"name": "v7", "projected": {"sources": [{"secret": {"name": "s4"}}, {"configMap": {"name": "m2"}}]}}]},
                 "status": {"phase": "Running"}}
                """.formatted(container.formatted("a"), container.formatted("b"), container.formatted("c")));

        server.store.put(Resources.PODS.key("default", "p"), Json.writeBytes(pod), 0);
        settle();

        // 23 edges: the pod, its account, 4 of each container, and 9 of the others
        assertThat(state.graphBytes() - before).isEqualTo(NodeGraph.bytes(pod)).isGreaterThan(23 * 180);
    }

    @Test
    void aRelistCountsNothingTwice() {
        post(RBAC + "/rolebindings", binding("b", 100));
        post(PODS, pod("p", "n1", 100));
        state.start();
        settle();
        long once = bytes(state);

        AccessState twice = new AccessState(server.store, server.loop);
        twice.start();
        twice.start();
        settle();

        assertThat(bytes(twice)).isEqualTo(once);
    }

    @Test
    void aWriteBeyondTheLimitIsRefusedUntilThereIsRoom() {
        AccessSpace space = new AccessSpace(state, bytes(state) + 100_000, 400_000);
        assertRefused(space, AccessResources.CLUSTER_ROLE_BINDINGS, JsonObject.EMPTY, binding("", "b", 700));
        assertRefused(space, AccessResources.ROLES, JsonObject.EMPTY, role("r", 3_000));
        assertRefused(space, Resources.PODS, JsonObject.EMPTY, pod("p", "n1", 600));

        // what takes less than that, or nothing, is not
        space.check(AccessResources.CLUSTER_ROLE_BINDINGS, JsonObject.EMPTY, binding("", "b", 400));
        space.check(AccessResources.ROLE_BINDINGS, binding("b", 1_000), binding("b", 1_000));
        space.check(AccessResources.ROLE_BINDINGS, binding("b", 1_000), binding("b", 900));
        space.check(Resources.PODS, JsonObject.EMPTY, pod("p", "", 600));
        space.check(Resources.PODS, pod("p", "n1", 600), pod("p", "n1", 600));
        space.check(ClusterResources.SECRETS, JsonObject.EMPTY, pod("p", "n1", 600));

        // a pod begins to take memory once it is bound
        assertRefused(space, Resources.PODS, pod("p", "", 600), pod("p", "n1", 600));
    }

    @Test
    void writesThatHaveNotEndedCount() {
        AccessSpace space = new AccessSpace(state, bytes(state) + 100_000, 100_000);
        AccessSpace.Claim first = space.claim();
        first.take(AccessResources.CLUSTER_ROLE_BINDINGS, JsonObject.EMPTY, binding("", "a", 400));
        // another attempt of the same write counts once
        first.take(AccessResources.CLUSTER_ROLE_BINDINGS, JsonObject.EMPTY, binding("", "a", 400));

        assertRefused(space, AccessResources.CLUSTER_ROLE_BINDINGS, JsonObject.EMPTY, binding("", "b", 400));

        first.release();
        space.check(AccessResources.CLUSTER_ROLE_BINDINGS, JsonObject.EMPTY, binding("", "b", 400));
    }

    @Test
    void rolesAndBindingsOfOneNamespaceMayTakeAnEighth() {
        AccessSpace space = new AccessSpace(state, 1_000_000, 100_000);
        assertRefused(space, AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("b", 1_000));
        assertRefused(space, AccessResources.ROLES, JsonObject.EMPTY, role("r", 3_000));
        space.check(AccessResources.CLUSTER_ROLE_BINDINGS, JsonObject.EMPTY, binding("", "b", 1_000));

        // what is there counts, and what writes that have not ended will take
        post(RBAC + "/rolebindings", binding("there", 300));
        state.start();
        settle();
        AccessSpace.Claim first = space.claim();
        first.take(AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("a", 300));
        assertRefused(space, AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("b", 300));
        space.check(AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("other", "b", 300));

        first.release();
        space.check(AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("b", 300));
        assertRefused(space, AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("b", 600));
    }

    @Test
    void podsOfOneNamespaceMayTakeAQuarter() {
        // given a namespace whose pods take nearly that much: 400 references of some 190 bytes
        AccessSpace space = new AccessSpace(state, bytes(state) + 100_000, 400_000);
        post(PODS, pod("p", "n1", 400));
        state.start();
        settle();

        // when there is no room for more of its pods, then there is for those of others
        assertRefused(space, Resources.PODS, JsonObject.EMPTY, pod("q", "n2", 400));
        JsonObject elsewhere = pod("q", "n2", 400).update("metadata", metadata -> metadata.with("namespace", "other"));
        space.check(Resources.PODS, JsonObject.EMPTY, elsewhere);

        // and what writes that have not ended will take counts
        AccessSpace.Claim first = space.claim();
        first.take(Resources.PODS, JsonObject.EMPTY, elsewhere);
        assertRefused(space, Resources.PODS, JsonObject.EMPTY, elsewhere);

        // and the cluster's own namespace, whose pods are on each node, has no share, only the limit of all
        JsonObject more =
                pod("q", "n2", 1_000).update("metadata", metadata -> metadata.with("namespace", "kube-system"));
        AccessSpace.Claim second = space.claim();
        second.take(Resources.PODS, JsonObject.EMPTY, more);
        assertRefused(space, Resources.PODS, JsonObject.EMPTY, more);
        second.release();

        // and deletions make room
        first.release();
        server.delete(PODS + "/p", "{\"gracePeriodSeconds\":0}");
        settle();
        space.check(Resources.PODS, JsonObject.EMPTY, pod("q", "n2", 400));
    }

    @Test
    void aRefusedWriteGivesBackWhatItHasClaimedAndNoMore() {
        AccessSpace space = new AccessSpace(state, bytes(state) + 800_000, 100_000);
        AccessSpace.Claim here = space.claim();
        here.take(AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("a", 300));
        AccessSpace.Claim everywhere = space.claim();
        everywhere.take(AccessResources.CLUSTER_ROLE_BINDINGS, JsonObject.EMPTY, binding("", "all", 4_000));

        // when there is no room for a write in the same namespace, because others take it
        AccessSpace.Claim refused = space.claim();
        assertThatThrownBy(() -> refused.take(AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("b", 400)))
                .hasMessageContaining("others take");
        refused.release();
        everywhere.release();

        // then the first one still counts in its namespace, and once it has ended, nothing does
        assertRefused(space, AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("b", 600));
        here.release();
        space.check(AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("b", 600));
        assertRefused(space, AccessResources.ROLE_BINDINGS, JsonObject.EMPTY, binding("b", 1_000));
    }

    private static void assertRefused(AccessSpace space, Resource resource, JsonObject old, JsonObject next) {
        assertThatThrownBy(() -> space.check(resource, old, next))
                .isInstanceOfSatisfying(
                        ApiException.class,
                        refused -> assertThat(refused.code()).isEqualTo(500))
                .hasMessageContaining("no space for authorization");
    }
}
