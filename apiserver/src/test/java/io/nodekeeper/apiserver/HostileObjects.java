package io.nodekeeper.apiserver;

import static io.nodekeeper.apiserver.HostileBodies.colliding;
import static io.nodekeeper.apiserver.HostileBodies.list;

import io.nodekeeper.apiserver.HostileBodies.Member;
import io.nodekeeper.apiserver.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Requests with objects that are slow on purpose: their parts have one hash code, or fit a pattern in many ways. The largest of
 * them can be stored.
 */
final class HostileObjects {
    private static final String JSON = "application/json";
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

    private HostileObjects() {}

    private static Member created(String name, String collection, IntFunction<String> body) {
        return new Member(
                name, "POST", collection, JSON, "", n -> "", n -> body.apply(n).getBytes(StandardCharsets.UTF_8));
    }

    /** All of them. */
    static List<Member> members() {
        return List.of(
                created(
                        "pod: secrets of one hash code",
                        PODS,
                        n ->
                                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\","
                                        + "\"image\":\"i\",\"envFrom\":["
                                        + list(n / 130, i -> "{\"secretRef\":{\"name\":\"" + colliding(i) + "\"}}")
                                        + "]}]}}"),
                new Member(
                        "pod: tolerations of one hash code",
                        "PATCH",
                        PODS + "/p",
                        TestServer.MERGE,
                        PODS,
                        n ->
                                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
                                        + "\"tolerations\":[" + list(n / 150, HostileObjects::toleration) + "]}}",
                        n -> ("{\"spec\":{\"tolerations\":[" + list(n / 150 + 1, HostileObjects::toleration) + "]}}")
                                .getBytes(StandardCharsets.UTF_8)),
                new Member(
                        "pod: required nodes of one hash code",
                        "PATCH",
                        PODS + "/p",
                        TestServer.MERGE,
                        PODS,
                        n -> gated(n / 150),
                        n -> gated(n / 150 + 1).getBytes(StandardCharsets.UTF_8)),
                new Member(
                        "pod: one container again and again",
                        "PATCH",
                        PODS + "/p",
                        TestServer.STRATEGIC,
                        PODS,
                        n ->
                                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"env\":["
                                        + list(n / 60, i -> "{\"name\":\"n" + i + "\",\"value\":\"v\"}") + "]}]}}",
                        n -> ("{\"spec\":{\"containers\":["
                                        + list(100, i -> "{\"name\":\"c\",\"env\":[{\"name\":\"x\"}]}") + "]}}")
                                .getBytes(StandardCharsets.UTF_8)),
                created(
                        "runtime class: tolerations of one hash code",
                        "/apis/node.k8s.io/v1/runtimeclasses",
                        n -> "{\"metadata\":{\"name\":\"r\"},\"handler\":\"h\",\"scheduling\":{\"tolerations\":["
                                + list(n / 150, HostileObjects::toleration) + "]}}"),
                new Member(
                        "role: aggregated rules of one hash code",
                        "POST",
                        ROLES,
                        JSON,
                        ROLES,
                        n -> "{\"metadata\":{\"name\":\"source\",\"labels\":{\"a\":\"b\"}},\"rules\":["
                                + list(
                                        n / 170,
                                        i -> "{\"apiGroups\":[\"\"],\"resources\":[\"" + colliding(i)
                                                + "\"],\"verbs\":[\"get\"]}")
                                + "]}",
                        n -> ("{\"metadata\":{\"name\":\"sum\"},\"aggregationRule\":{\"clusterRoleSelectors\":["
                                        + "{\"matchLabels\":{\"a\":\"b\"}}]}}")
                                .getBytes(StandardCharsets.UTF_8)),
                created(
                        "access review: selected fields of one hash code",
                        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                        n ->
                                "{\"spec\":{\"resourceAttributes\":{\"verb\":\"list\",\"resource\":\"pods\",\"fieldSelector\":"
                                        + "{\"requirements\":["
                                        + list(
                                                n / 90,
                                                i -> "{\"key\":\"" + colliding(i)
                                                        + "\",\"operator\":\"In\",\"values\":[\"v\"]}")
                                        + "]}}}}"),
                created(
                        "certificate request: a long signer",
                        "/apis/certificates.k8s.io/v1/certificatesigningrequests",
                        n -> "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"request\":\"\",\"usages\":[\"client auth\"],"
                                + "\"signerName\":\"" + "a.".repeat(n / 2) + "\"}}"));
    }

    /** A pod that waits at a gate, and may run on a few nodes only. */
    private static String gated(int requirements) {
        return "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
                + "\"schedulingGates\":[{\"name\":\"g\"}],\"affinity\":{\"nodeAffinity\":"
                + "{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":["
                + list(requirements, HostileObjects::toleration) + "]}]}}}}}";
    }

    private static String toleration(int number) {
        return "{\"key\":\"" + colliding(number) + "\",\"operator\":\"Exists\"}";
    }
}
