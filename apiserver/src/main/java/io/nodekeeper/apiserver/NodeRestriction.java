package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Lease;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Keeps a node's credential to the node's own affairs (Kubernetes' admission plugin of this name): a node writes its own
 * Node, status and lease, not its taints, and only those labels that nobody else relies on. Immutable.
 */
final class NodeRestriction {
    private static final Set<String> FREE_LABELS = Set.of(
            "kubernetes.io/hostname",
            "kubernetes.io/os",
            "kubernetes.io/arch",
            "beta.kubernetes.io/os",
            "beta.kubernetes.io/arch",
            "node.kubernetes.io/instance-type",
            "beta.kubernetes.io/instance-type",
            "topology.kubernetes.io/region",
            "topology.kubernetes.io/zone",
            "failure-domain.beta.kubernetes.io/region",
            "failure-domain.beta.kubernetes.io/zone");
    private static final List<String> FREE_PREFIXES = List.of("kubelet.kubernetes.io/", "node.kubernetes.io/");

    /** Refuses what a node may not write; {@code old} is empty for a creation, {@code next} for a deletion. */
    void check(User user, Resource resource, RequestInfo.Target target, JsonObject old, JsonObject next) {
        if (!user.in(User.NODES) || !user.name().startsWith(User.NODE_PREFIX)) {
            return;
        }
        String self = user.name().substring(User.NODE_PREFIX.length());
        String name = target.name().isEmpty() ? next.object("metadata").text("name") : target.name();
        switch (resource.type().plural()) {
            case "nodes" -> checkNode(self, name, old, next);
            case "leases" -> {
                if (!target.namespace().equals(Lease.NODE_NAMESPACE) || !name.equals(self)) {
                    throw forbidden(
                            "leases.coordination.k8s.io",
                            name,
                            "can only access node lease with the same name as the requesting node");
                }
            }
            case "pods" -> checkPod(self, name, old.isEmpty() ? next : old, old.isEmpty());
            default -> {}
        }
    }

    private static void checkNode(String self, String name, JsonObject old, JsonObject next) {
        if (!name.equals(self)) {
            throw forbidden("nodes", name, "node \"" + self + "\" is not allowed to modify node \"" + name + "\"");
        }
        Set<String> labels = changedLabels(old, next);
        labels.removeIf(NodeRestriction::isFree);
        if (!labels.isEmpty()) {
            String what = old.isEmpty()
                    ? "is not allowed to set the following labels: "
                    : "is not allowed to modify labels: ";
            throw forbidden(
                    "nodes", name, (old.isEmpty() ? "node \"" + self + "\" " : "") + what + String.join(", ", labels));
        }
        if (!old.isEmpty()
                && !old.object("spec")
                        .array("taints")
                        .equals(next.object("spec").array("taints"))) {
            throw forbidden("nodes", name, "node \"" + self + "\" is not allowed to modify taints");
        }
    }

    private static void checkPod(String self, String name, JsonObject pod, boolean creation) {
        if (creation && !pod.object("metadata").object("annotations").has("kubernetes.io/config.mirror")) {
            throw forbidden(
                    "pods",
                    name,
                    "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"" + self
                            + "\" can only create mirror pods");
        }
        if (!pod.object("spec").text("nodeName").equals(self)) {
            throw forbidden(
                    "pods",
                    name,
                    "node \"" + self + "\" can only "
                            + (creation
                                    ? "create pods with spec.nodeName set to itself"
                                    : "change pods with spec.nodeName set to itself"));
        }
    }

    private static Set<String> changedLabels(JsonObject old, JsonObject next) {
        var before = old.object("metadata").object("labels").texts();
        var after = next.object("metadata").object("labels").texts();
        Set<String> changed = new TreeSet<>();
        after.forEach((key, value) -> {
            if (!value.equals(before.get(key))) {
                changed.add(key);
            }
        });
        before.keySet().stream().filter(key -> !after.containsKey(key)).forEach(changed::add);
        return changed;
    }

    private static boolean isFree(String key) {
        int slash = key.indexOf('/');
        String prefix = slash < 0 ? "" : key.substring(0, slash);
        if (prefix.equals("node-restriction.kubernetes.io") || prefix.endsWith(".node-restriction.kubernetes.io")) {
            return false;
        }
        boolean reserved = prefix.equals("kubernetes.io")
                || prefix.endsWith(".kubernetes.io")
                || prefix.equals("k8s.io")
                || prefix.endsWith(".k8s.io");
        return !reserved || FREE_LABELS.contains(key) || FREE_PREFIXES.stream().anyMatch(key::startsWith);
    }

    private static ApiException forbidden(String resource, String name, String why) {
        return new ApiException(
                403,
                "Forbidden",
                resource + " \"" + name + "\" is forbidden: " + why,
                JsonObject.builder().put("name", name).put("kind", resource).build());
    }
}
