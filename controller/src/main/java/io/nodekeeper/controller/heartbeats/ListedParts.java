package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.observer.CanaryLease;

/** The parts of listed nodes and leases that are read: a list is held until its last page has come. Pure. */
public final class ListedParts {
    private ListedParts() {}

    /** Without images, volumes, annotations and managed fields, which are most of a real node. */
    static JsonObject ofNode(JsonObject node) {
        return node.update(
                        "metadata",
                        metadata -> metadata.without("managedFields").without("annotations"))
                .with("status", fields(node.object("status"), "conditions", "addresses", "nodeInfo"));
    }

    /** Only the lease that is the canary has its annotations. */
    public static JsonObject ofLease(JsonObject lease) {
        JsonObject all = lease.object("metadata");
        JsonObject metadata = fields(all, "name", "namespace", "uid", "resourceVersion");
        JsonObject named = all.text("name").equals(CanaryLease.NAME)
                ? metadata.with("annotations", all.object("annotations"))
                : metadata;
        return JsonObject.builder()
                .put("metadata", named)
                .put("spec", fields(lease.object("spec"), "holderIdentity", "renewTime", "leaseDurationSeconds"))
                .build();
    }

    private static JsonObject fields(JsonObject object, String... names) {
        JsonObject.Builder fields = JsonObject.builder();
        for (String name : names) {
            object.get(name).ifPresent(value -> fields.put(name, value));
        }
        return fields.build();
    }
}
