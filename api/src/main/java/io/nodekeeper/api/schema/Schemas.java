package io.nodekeeper.api.schema;

import static io.nodekeeper.api.schema.Schema.PatchStrategy.REPLACE;
import static io.nodekeeper.api.schema.Schema.PatchStrategy.RETAIN_KEYS;
import static io.nodekeeper.api.schema.Schema.Scalar.ANY;
import static io.nodekeeper.api.schema.Schema.listBy;
import static io.nodekeeper.api.schema.Schema.open;
import static io.nodekeeper.api.schema.Schema.set;

import java.util.Map;

/**
 * Defines how a strategic merge patch and an apply merge the lists of each kind: the {@code patchMergeKey} of
 * Kubernetes' Go types. All other lists are replaced as a whole, and a few objects by a strategic merge patch. These
 * schemas have no types; the API server takes them from Kubernetes' message types.
 */
public final class Schemas {
    private Schemas() {}

    /** The metadata of every kind. */
    private static final Schema METADATA = open("ownerReferences", listBy("uid", ANY), "finalizers", set(ANY));

    private static final Schema CONDITIONS = listBy("type", ANY);

    private static final Schema CONTAINERS = listBy(
            "name",
            open(
                    "ports", listBy("containerPort", ANY),
                    "env", listBy("name", ANY),
                    "volumeMounts", listBy("mountPath", ANY),
                    "volumeDevices", listBy("devicePath", ANY)));

    private static final Schema POD_SPEC = open(
            "volumes",
            listBy(
                    "name",
                    open("ephemeral", open("volumeClaimTemplate", open("metadata", METADATA)))
                            .with(RETAIN_KEYS)),
            "initContainers",
            CONTAINERS,
            "containers",
            CONTAINERS,
            "ephemeralContainers",
            CONTAINERS,
            "imagePullSecrets",
            listBy("name", ANY),
            "hostAliases",
            listBy("ip", ANY),
            "topologySpreadConstraints",
            listBy("topologyKey", ANY),
            "schedulingGates",
            listBy("name", ANY),
            "resourceClaims",
            listBy("name", ANY));

    /** Node of core/v1. */
    public static final Schema NODE = open(
            "metadata",
            METADATA,
            "spec",
            open("podCIDRs", set(ANY)),
            "status",
            open("conditions", CONDITIONS, "addresses", listBy("type", ANY)));

    /** Pod of core/v1. */
    public static final Schema POD = open(
            "metadata",
            METADATA,
            "spec",
            POD_SPEC,
            "status",
            open(
                    "conditions",
                    CONDITIONS,
                    "podIPs",
                    listBy("ip", ANY),
                    "hostIPs",
                    listBy("ip", ANY),
                    "resourceClaimStatuses",
                    listBy("name", ANY)));

    /** A kind without merged lists of its own, such as Lease and Event. */
    public static final Schema PLAIN = open("metadata", METADATA);

    /** A kind whose only merged list is the status's conditions, such as Namespace. */
    public static final Schema WITH_CONDITIONS = open("metadata", METADATA, "status", open("conditions", CONDITIONS));

    private static final Schema POD_TEMPLATE = open("metadata", METADATA, "spec", POD_SPEC);

    private static final Schema DAEMON_SET = open(
            "metadata", METADATA, "spec", open("template", POD_TEMPLATE), "status", open("conditions", CONDITIONS));

    private static final Schema DEPLOYMENT = open(
            "metadata",
            METADATA,
            "spec",
            open("template", POD_TEMPLATE, "strategy", open().with(RETAIN_KEYS)),
            "status",
            open("conditions", CONDITIONS));

    private static final Map<String, Schema> OTHERS = Map.ofEntries(
            Map.entry("v1/Node", NODE),
            Map.entry("v1/Pod", POD),
            Map.entry("v1/Namespace", WITH_CONDITIONS),
            Map.entry("v1/ServiceAccount", open("metadata", METADATA, "secrets", listBy("name", ANY))),
            Map.entry(
                    "v1/Service",
                    open(
                            "metadata",
                            METADATA,
                            "spec",
                            open("ports", listBy("port", ANY)),
                            "status",
                            open("conditions", CONDITIONS))),
            Map.entry("apps/v1/DaemonSet", DAEMON_SET),
            Map.entry("apps/v1/Deployment", DEPLOYMENT),
            Map.entry(
                    "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
                    open(
                            "metadata",
                            METADATA,
                            "webhooks",
                            listBy("name", open("matchConditions", listBy("name", ANY))))),
            Map.entry(
                    "storage.k8s.io/v1/CSINode",
                    open("metadata", METADATA, "spec", open("drivers", listBy("name", ANY)))),
            Map.entry(
                    "storage.k8s.io/v1/CSIDriver",
                    open("metadata", METADATA, "spec", open("volumeLifecycleModes", set(ANY)))),
            Map.entry("v1/PersistentVolumeClaim", WITH_CONDITIONS),
            Map.entry(
                    "policy/v1/PodDisruptionBudget",
                    open(
                            "metadata",
                            METADATA,
                            "spec",
                            open("selector", open().with(REPLACE)),
                            "status",
                            open("conditions", CONDITIONS))));

    /** How the lists of {@code kind} are merged; a kind that has no merged lists of its own has those of its metadata. */
    public static Schema of(String apiVersion, String kind) {
        return OTHERS.getOrDefault(apiVersion + "/" + kind, PLAIN);
    }
}
