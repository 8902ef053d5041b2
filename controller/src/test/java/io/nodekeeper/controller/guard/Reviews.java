package io.nodekeeper.controller.guard;

import java.nio.charset.StandardCharsets;

/** AdmissionReviews as an API server sends them. */
final class Reviews {
    static final String NODE_CONTROLLER = "system:serviceaccount:kube-system:node-controller";
    static final String KCM = "system:kube-controller-manager";

    private Reviews() {}

    private static String review(
            String user, String operation, String resource, String sub, String name, String before, String after) {
        return """
                {"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{
                "uid":"705ab4f5-6393-11e8-b7cc-42010a800002",
                "kind":{"group":"","version":"v1","kind":"%s"},
                "resource":{"group":"","version":"v1","resource":"%s"},%s
                "requestKind":{"group":"","version":"v1","kind":"%s"},
                "requestResource":{"group":"","version":"v1","resource":"%s"},
                "name":"%s","namespace":"%s","operation":"%s",
                "userInfo":{"username":"%s","uid":"014fbff9","groups":["system:authenticated"]},
                "object":%s,"oldObject":%s,"dryRun":false,
                "options":{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1"}}}""".formatted(
                        resource.equals("pods") ? "Pod" : "Node",
                        resource,
                        sub.isEmpty() ? "" : "\"subResource\":\"" + sub + "\",\"requestSubResource\":\"" + sub + "\",",
                        resource.equals("pods") ? "Pod" : "Node",
                        resource,
                        name,
                        resource.equals("pods") ? "default" : "",
                        operation,
                        user,
                        after,
                        before);
    }

    /** A node with Ready in that status, unless it is empty, and these taints: {@code key:effect}. */
    static String node(String ready, String... taints) {
        StringBuilder list = new StringBuilder();
        for (String taint : taints) {
            String[] parts = taint.split(":");
            list.append(list.isEmpty() ? "" : ",")
                    .append("{\"key\":\"%s\",\"effect\":\"%s\"}".formatted(parts[0], parts[1]));
        }
        return """
                {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"uid-1"},"spec":{"taints":[%s]},
                "status":{"conditions":[{"type":"MemoryPressure","status":"False"}%s]}}""".formatted(list, ready.isEmpty() ? "" : ",{\"type\":\"Ready\",\"status\":\"" + ready + "\"}");
    }

    /** A write of the status that changes Ready. */
    static String status(String user, String before, String after) {
        return review(user, "UPDATE", "nodes", "status", "n1", node(before), node(after));
    }

    /** An update that replaces all taints by {@code taint}. */
    static String tainted(String user, String ready, String taint) {
        return review(user, "UPDATE", "nodes", "", "n1", node(ready), node(ready, taint));
    }

    /** An update of a node from one document to another. */
    static String updated(String user, String before, String after) {
        return review(user, "UPDATE", "nodes", "", "n1", before, after);
    }

    /** The deletion of a pod on n1, with the condition of taint eviction if {@code marked}. */
    static String deleted(String user, boolean marked) {
        return review(
                user,
                "DELETE",
                "pods",
                "",
                "p1",
                """
                {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","namespace":"default"},
                "spec":{"nodeName":"n1"},"status":{"conditions":[%s]}}""".formatted(
                                marked
                                        ? "{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"DeletionByTaintManager\"}"
                                        : ""),
                "null");
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
