package io.nodekeeper.agent.registration;

import io.nodekeeper.agent.status.ResourceList;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Updates an existing Node to what an agent would create: only the attach annotation, the default labels, extended
 * resources and huge pages. Each instance serves one Node. Not thread-safe.
 */
final class NodeReconciler {
    private static final List<String> DEFAULT_LABELS = List.of(
            "kubernetes.io/hostname",
            "topology.kubernetes.io/zone",
            "topology.kubernetes.io/region",
            "failure-domain.beta.kubernetes.io/zone",
            "failure-domain.beta.kubernetes.io/region",
            "node.kubernetes.io/instance-type",
            "beta.kubernetes.io/instance-type",
            "kubernetes.io/os",
            "kubernetes.io/arch",
            "node.kubernetes.io/windows-build",
            "beta.kubernetes.io/os",
            "beta.kubernetes.io/arch");

    private final Node initial;
    private JsonObject node;
    private boolean dirty;

    private NodeReconciler(Node existing, Node initial) {
        this.initial = initial;
        this.node = existing.json();
    }

    /**
     * The corrected Node; empty if the existing one needs no change.
     *
     * @param deviceCheckpoint whether the device plugins' state of an earlier run exists; without it the extended
     *     resources count as lost
     */
    static Optional<Node> apply(Node existing, Node initial, boolean deviceCheckpoint) {
        NodeReconciler reconcile = new NodeReconciler(existing, initial);
        reconcile.annotation();
        reconcile.labels();
        reconcile.extendedResources(deviceCheckpoint);
        reconcile.hugePages();
        return reconcile.dirty ? Optional.of(new Node(reconcile.node)) : Optional.empty();
    }

    private void annotation() {
        String stored = node.object("metadata").object("annotations").text(InitialNode.ATTACH_DETACH);
        String wanted = initial.metadata().object("annotations").text(InitialNode.ATTACH_DETACH);
        if (!stored.equals(wanted)) {
            metadata(
                    "annotations",
                    all -> initial.annotations().containsKey(InitialNode.ATTACH_DETACH)
                            ? all.with(InitialNode.ATTACH_DETACH, wanted)
                            : all.without(InitialNode.ATTACH_DETACH));
            dirty = true;
        }
    }

    private void labels() {
        for (String label : DEFAULT_LABELS) {
            if (!initial.labels().containsKey(label)) {
                continue;
            }
            String wanted = initial.metadata().object("labels").text(label);
            if (!wanted.equals(node.object("metadata").object("labels").text(label))) {
                metadata("labels", all -> all.with(label, wanted));
                dirty = true;
            }
            if (wanted.isEmpty()) {
                metadata("labels", all -> all.without(label));
            }
        }
    }

    private void extendedResources(boolean deviceCheckpoint) {
        fillIn();
        if (deviceCheckpoint) {
            return;
        }
        for (String resource : resources("capacity").fields().keySet()) {
            if (ResourceList.extended(resource)) {
                for (String map : List.of("capacity", "allocatable")) {
                    status(map, all -> ResourceList.with(all, resource, Quantity.ZERO));
                }
                dirty = true;
            }
        }
    }

    private void hugePages() {
        JsonObject wanted = initial.status().object("capacity");
        for (String resource : wanted.fields().keySet()) {
            if (!ResourceList.hugePages(resource)) {
                continue;
            }
            for (String map : List.of("capacity", "allocatable")) {
                JsonObject source = initial.status().object(map);
                Optional<Quantity> quantity = ResourceList.get(source, resource);
                if (quantity.isPresent() && !ResourceList.same(resources(map), source, resource)) {
                    status(map, all -> ResourceList.with(all, resource, quantity.get()));
                    dirty = true;
                }
            }
        }
        for (String resource : resources("capacity").fields().keySet()) {
            if (ResourceList.hugePages(resource) && !wanted.has(resource)) {
                status("capacity", all -> all.without(resource));
                status("allocatable", all -> all.without(resource));
                dirty = true;
            }
        }
    }

    private void fillIn() {
        for (String map : List.of("capacity", "allocatable")) {
            if (node.object("status").get(map).orElse(JsonNull.NULL) != JsonNull.NULL) {
                continue;
            }
            if (initial.status().has(map)) {
                status(map, all -> initial.status().object(map));
                dirty = true;
            } else {
                status(map, all -> JsonObject.EMPTY);
            }
        }
    }

    private JsonObject resources(String map) {
        return node.object("status").object(map);
    }

    private void metadata(String map, UnaryOperator<JsonObject> change) {
        node = node.update("metadata", metadata -> metadata.update(map, change));
    }

    private void status(String map, UnaryOperator<JsonObject> change) {
        node = node.update("status", status -> status.update(map, change));
    }
}
