package io.nodekeeper.apiserver.admission;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.node.NodeGraph;
import io.nodekeeper.apiserver.authorization.node.NodeIdentity;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.kinds.CertificateRequestStrategy;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Store;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Restricts a node's credential to the node's own objects (Kubernetes' admission plugin of this name): a node writes
 * its own Node, status, lease and CSINode, but not its taints, and only labels without a security meaning; and the pods
 * that run on it. Thread-safe.
 */
public final class NodeRestriction {
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
    private static final Set<String> CERTIFICATES =
            Set.of("kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet");
    /** The fields of a claim's status that a node writes. */
    private static final List<String> SIZE =
            List.of("capacity", "conditions", "allocatedResources", "allocatedResourceStatuses");

    private static final List<String> FREE_NAMESPACES = List.of("kubelet.kubernetes.io", "node.kubernetes.io");

    private final Store store;

    /** Looks up nodes in {@code store}. */
    public NodeRestriction(Store store) {
        this.store = store;
    }

    /**
     * Refuses what a node may not write; {@code old} is empty for a creation and the same as {@code next} for a deletion.
     */
    public void check(User user, Resource resource, RequestTarget target, JsonObject old, JsonObject next) {
        String name = target.name().isEmpty() ? next.object("metadata").text("name") : target.name();
        if (NodeIdentity.isNameless(user.name(), user.groups())) {
            throw forbidden(
                    resource.type().qualifiedName(),
                    name,
                    "could not determine node from user \"" + user.name() + "\"");
        }
        String self = NodeIdentity.node(user.name(), user.groups());
        if (self.isEmpty()) {
            return;
        }
        switch (resource.type().qualifiedName()) {
            case "nodes" -> checkNode(self, name, old, next);
            case "leases.coordination.k8s.io" -> {
                if (!target.namespace().equals(Lease.NODE_NAMESPACE) || !name.equals(self)) {
                    throw forbidden(
                            "leases.coordination.k8s.io",
                            name,
                            "can only access node lease with the same name as the requesting node");
                }
            }
            case "csinodes.storage.k8s.io" -> {
                if (!name.equals(self)) {
                    throw forbidden(
                            "csinodes.storage.k8s.io",
                            name,
                            "can only access CSINode with the same name as the requesting node");
                }
            }
            case "certificatesigningrequests.certificates.k8s.io" -> {
                if (old.isEmpty()) {
                    checkRequest(user, name, next);
                }
            }
            case "persistentvolumeclaims" -> checkClaim(self, name, target.subresource(), old, next);
            case "pods" -> checkPod(self, name, target.subresource(), old, next);
            default -> {}
        }
    }

    /** A node may ask for certificates of its own identity only. */
    private static void checkRequest(User user, String name, JsonObject request) {
        if (!CERTIFICATES.contains(request.object("spec").text("signerName"))) {
            return;
        }
        String subject;
        try {
            subject = CertificateRequestStrategy.request(request).commonName();
        } catch (IllegalArgumentException e) {
            // Validation refuses it.
            return;
        }
        if (!subject.equals(user.name())) {
            throw forbidden(
                    "certificatesigningrequests.certificates.k8s.io",
                    name,
                    "can only create a node CSR with CN=" + user.name());
        }
    }

    /** Refuses a token that is not for a pod on this node; {@code pod} is the pod to bind it to, if it exists. */
    public static void checkToken(User user, String account, JsonObject boundTo, Optional<JsonObject> pod) {
        String self = NodeIdentity.node(user.name(), user.groups());
        if (self.isEmpty()) {
            return;
        }
        String uid = boundTo.text("uid");
        if (!boundTo.text("kind").equals("Pod") || boundTo.text("name").isEmpty()) {
            throw forbidden("serviceaccounts", account, "node requested token not bound to a pod");
        }
        if (uid.isEmpty()) {
            throw forbidden("serviceaccounts", account, "node requested token with a pod binding without a uid");
        }
        if (pod.isPresent() && !isOn(self, pod.get())) {
            throw forbidden(
                    "serviceaccounts", account, "node requested token bound to a pod scheduled on a different node");
        }
    }

    private static boolean isOn(String node, JsonObject pod) {
        return pod.object("spec").text("nodeName").equals(node);
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
        // A node that another object owns would be deleted with it, and could then register again with taints of its
        // choice.
        if (!old.isEmpty() && !owners(old).equals(owners(next))) {
            throw forbidden("nodes", name, "node \"" + self + "\" is not allowed to modify ownerReferences");
        }
    }

    /** A node writes how large a claim is after its file system has grown; the authorizer lets it write the status only. */
    private static void checkClaim(String self, String name, String subresource, JsonObject old, JsonObject next) {
        if (!subresource.equals("status")) {
            throw forbidden("persistentvolumeclaims", name, "may only update PVC status");
        }
        if (!withoutSize(old).equals(withoutSize(next))) {
            throw forbidden(
                    "persistentvolumeclaims",
                    name,
                    "node \"" + self
                            + "\" is not allowed to update fields other than status.quantity and status.conditions");
        }
    }

    private static JsonObject withoutSize(JsonObject claim) {
        JsonObject status = claim.object("status");
        for (String field : SIZE) {
            status = status.without(field);
        }
        JsonObject metadata = claim.object("metadata").without("managedFields").without("resourceVersion");
        return claim.with("metadata", metadata).with("status", status);
    }

    private static JsonArray claims(JsonObject pod) {
        return pod.object("status").array("resourceClaimStatuses");
    }

    private static JsonArray owners(JsonObject object) {
        return object.object("metadata").array("ownerReferences");
    }

    private void checkPod(String self, String name, String subresource, JsonObject old, JsonObject next) {
        String node = "node \"" + self + "\" ";
        if (old.isEmpty()) {
            checkMirror(self, name, next);
        } else if (subresource.equals("eviction")) {
            if (!isOn(self, old)) {
                throw forbidden("pods", name, node + "can only evict pods with spec.nodeName set to itself");
            }
        } else if (subresource.equals("status")) {
            if (!isOn(self, old)) {
                throw forbidden(
                        "pods", name, node + "can only update pod status for pods with spec.nodeName set to itself");
            }
            if (!changedLabels(old, next).isEmpty()) {
                throw forbidden("pods", name, node + "cannot update labels through pod status");
            }
            if (!claims(old).equals(claims(next))) {
                throw forbidden("pods", name, node + "cannot update resource claim statuses");
            }
        } else if (!old.equals(next)) {
            throw forbidden(
                    "pods",
                    name,
                    "unexpected operation \"UPDATE\", " + node + "can only create and delete mirror pods");
        } else if (!isOn(self, old)) {
            throw forbidden("pods", name, node + "can only delete pods with spec.nodeName set to itself");
        }
    }

    /**
     * A mirror pod represents a pod that the node runs by itself; it must not give the node access to other objects.
     */
    private void checkMirror(String self, String name, JsonObject pod) {
        String node = "node \"" + self + "\" ";
        if (!pod.object("metadata").object("annotations").has(NodeGraph.CONFIG_MIRROR)) {
            throw forbidden(
                    "pods",
                    name,
                    "pod does not have \"" + NodeGraph.CONFIG_MIRROR + "\" annotation, " + node
                            + "can only create mirror pods");
        }
        if (!isOn(self, pod)) {
            throw forbidden("pods", name, node + "can only create pods with spec.nodeName set to itself");
        }
        JsonObject owner = checkOwner(self, name, owners(pod).objects().toList());
        JsonObject spec = pod.object("spec");
        if (!spec.text("serviceAccountName").isEmpty()) {
            throw forbidden("pods", name, node + "can not create pods that reference a service account");
        }
        if (!NodeGraph.secrets(spec).isEmpty()) {
            throw forbidden("pods", name, node + "can not create pods that reference secrets");
        }
        if (!NodeGraph.configMaps(spec).isEmpty()) {
            throw forbidden("pods", name, node + "can not create pods that reference configmaps");
        }
        for (String kind : NodeGraph.references(spec)) {
            throw forbidden("pods", name, node + "can not create pods that reference " + kind);
        }
        checkUid(self, name, owner);
    }

    /**
     * A controller of a pod creates its replacement, and an owner's deletion deletes the pod, so only the node itself
     * may own it.
     */
    private static JsonObject checkOwner(String self, String name, List<JsonObject> owners) {
        String node = "node \"" + self + "\" ";
        if (owners.size() > 1) {
            throw forbidden("pods", name, node + "can only create pods with a single owner reference set to itself");
        }
        JsonObject owner = owners.isEmpty() ? JsonObject.EMPTY : owners.getFirst();
        if (!owner.text("apiVersion").equals("v1")
                || !owner.text("kind").equals("Node")
                || !owner.text("name").equals(self)) {
            throw forbidden("pods", name, node + "can only create pods with an owner reference set to itself");
        }
        if (!owner.bool("controller")) {
            throw forbidden(
                    "pods", name, node + "can only create pods with a controller owner reference set to itself");
        }
        if (owner.bool("blockOwnerDeletion")) {
            throw forbidden("pods", name, node + "must not set blockOwnerDeletion on an owner reference");
        }
        return owner;
    }

    /** An owner of another UID would be a node of that name that is gone, and garbage collection would delete the pod. */
    private void checkUid(String self, String name, JsonObject owner) {
        String uid = store.get(Resources.NODES.key("", self))
                .map(Resources.NODES.codec()::decode)
                .orElseThrow(() -> ApiException.notFound(Resources.NODES.type(), self))
                .object("metadata")
                .text("uid");
        if (!owner.text("uid").equals(uid)) {
            throw forbidden(
                    "pods", name, "node " + self + " UID mismatch: expected " + owner.text("uid") + " got " + uid);
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
        return !reserved
                || FREE_LABELS.contains(key)
                || FREE_NAMESPACES.stream().anyMatch(free -> prefix.equals(free) || prefix.endsWith("." + free));
    }

    /** {@code resource} with its group after a dot. */
    private static ApiException forbidden(String resource, String name, String why) {
        int dot = resource.indexOf('.');
        return new ApiException(
                403,
                "Forbidden",
                resource + " \"" + name + "\" is forbidden: " + why,
                JsonObject.builder()
                        .put("name", name)
                        .putUnlessEmpty("group", dot < 0 ? "" : resource.substring(dot + 1))
                        .put("kind", dot < 0 ? resource : resource.substring(0, dot))
                        .build());
    }
}
