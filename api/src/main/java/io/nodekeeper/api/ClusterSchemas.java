package io.nodekeeper.api;

import static io.nodekeeper.api.Schema.Scalar.ANY;
import static io.nodekeeper.api.Schema.Scalar.BOOLEAN;
import static io.nodekeeper.api.Schema.Scalar.BYTES;
import static io.nodekeeper.api.Schema.Scalar.INTEGER;
import static io.nodekeeper.api.Schema.Scalar.INT_OR_STRING;
import static io.nodekeeper.api.Schema.Scalar.MICRO_TIME;
import static io.nodekeeper.api.Schema.Scalar.QUANTITY;
import static io.nodekeeper.api.Schema.Scalar.STRING;
import static io.nodekeeper.api.Schema.Scalar.TIME;
import static io.nodekeeper.api.Schema.list;
import static io.nodekeeper.api.Schema.listBy;
import static io.nodekeeper.api.Schema.map;
import static io.nodekeeper.api.Schema.object;
import static io.nodekeeper.api.Schema.open;
import static io.nodekeeper.api.Schema.set;

/** The shapes of what clients of node health also ask for: facts of Kubernetes' API types. */
public final class ClusterSchemas {
    private static final Schema CONDITION = object(
            "type", STRING,
            "status", STRING,
            "observedGeneration", INTEGER,
            "lastTransitionTime", TIME,
            "reason", STRING,
            "message", STRING);

    private static final Schema POD_TEMPLATE = object("metadata", Schemas.METADATA, "spec", Schemas.POD_SPEC);

    private ClusterSchemas() {}

    /** ServiceAccount of core/v1. */
    public static final Schema SERVICE_ACCOUNT = Schemas.plain(
            "secrets", listBy("name", Schemas.OBJECT_REFERENCE),
            "imagePullSecrets", list(object("name", STRING)),
            "automountServiceAccountToken", BOOLEAN);

    /** Secret of core/v1. */
    public static final Schema SECRET =
            Schemas.plain("immutable", BOOLEAN, "data", map(BYTES), "stringData", map(STRING), "type", STRING);

    /** ConfigMap of core/v1. */
    public static final Schema CONFIG_MAP =
            Schemas.plain("immutable", BOOLEAN, "data", map(STRING), "binaryData", map(BYTES));

    /** Service of core/v1. */
    public static final Schema SERVICE = Schemas.kind(
            open(
                    "ports",
                    listBy(
                            "port",
                            object(
                                    "name", STRING,
                                    "protocol", STRING,
                                    "appProtocol", STRING,
                                    "port", INTEGER,
                                    "targetPort", INT_OR_STRING,
                                    "nodePort", INTEGER)),
                    "selector",
                    map(STRING),
                    "clusterIP",
                    STRING,
                    "clusterIPs",
                    list(STRING),
                    "type",
                    STRING,
                    "externalIPs",
                    list(STRING),
                    "sessionAffinity",
                    STRING,
                    "externalName",
                    STRING,
                    "publishNotReadyAddresses",
                    BOOLEAN),
            object("loadBalancer", ANY, "conditions", listBy("type", CONDITION)));

    /** DaemonSet of apps/v1. */
    public static final Schema DAEMON_SET = Schemas.kind(
            object(
                    "selector", Schemas.LABEL_SELECTOR,
                    "template", POD_TEMPLATE,
                    "updateStrategy",
                            object(
                                    "type",
                                    STRING,
                                    "rollingUpdate",
                                    object("maxUnavailable", INT_OR_STRING, "maxSurge", INT_OR_STRING)),
                    "minReadySeconds", INTEGER,
                    "revisionHistoryLimit", INTEGER),
            object(
                    "currentNumberScheduled", INTEGER,
                    "numberMisscheduled", INTEGER,
                    "desiredNumberScheduled", INTEGER,
                    "numberReady", INTEGER,
                    "observedGeneration", INTEGER,
                    "updatedNumberScheduled", INTEGER,
                    "numberAvailable", INTEGER,
                    "numberUnavailable", INTEGER,
                    "collisionCount", INTEGER,
                    "conditions", listBy("type", CONDITION)));

    /** CSINode of storage.k8s.io/v1. */
    public static final Schema CSI_NODE = Schemas.plain(
            "spec",
            object(
                    "drivers",
                    listBy(
                            "name",
                            object(
                                    "name",
                                    STRING,
                                    "nodeID",
                                    STRING,
                                    "topologyKeys",
                                    list(STRING),
                                    "allocatable",
                                    object("count", INTEGER)))));

    /** CSIDriver of storage.k8s.io/v1. */
    public static final Schema CSI_DRIVER = Schemas.plain(
            "spec",
            object(
                    "attachRequired", BOOLEAN,
                    "podInfoOnMount", BOOLEAN,
                    "volumeLifecycleModes", set(STRING),
                    "storageCapacity", BOOLEAN,
                    "fsGroupPolicy", STRING,
                    "tokenRequests", list(object("audience", STRING, "expirationSeconds", INTEGER)),
                    "requiresRepublish", BOOLEAN,
                    "seLinuxMount", BOOLEAN,
                    "nodeAllocatableUpdatePeriodSeconds", INTEGER));

    /** VolumeAttachment of storage.k8s.io/v1. */
    public static final Schema VOLUME_ATTACHMENT = Schemas.kind(
            object(
                    "attacher",
                    STRING,
                    "source",
                    object("persistentVolumeName", STRING, "inlineVolumeSpec", ANY),
                    "nodeName",
                    STRING),
            object(
                    "attached", BOOLEAN,
                    "attachmentMetadata", map(STRING),
                    "attachError", object("time", TIME, "message", STRING, "errorCode", INTEGER),
                    "detachError", object("time", TIME, "message", STRING, "errorCode", INTEGER)));

    /** RuntimeClass of node.k8s.io/v1. */
    public static final Schema RUNTIME_CLASS = Schemas.plain(
            "handler",
            STRING,
            "overhead",
            object("podFixed", map(QUANTITY)),
            "scheduling",
            object("nodeSelector", map(STRING), "tolerations", list(ANY)));

    /** PodDisruptionBudget of policy/v1. */
    public static final Schema POD_DISRUPTION_BUDGET = Schemas.kind(
            object(
                    "minAvailable", INT_OR_STRING,
                    "selector", Schemas.LABEL_SELECTOR,
                    "maxUnavailable", INT_OR_STRING,
                    "unhealthyPodEvictionPolicy", STRING),
            object(
                    "observedGeneration", INTEGER,
                    "disruptedPods", map(TIME),
                    "disruptionsAllowed", INTEGER,
                    "currentHealthy", INTEGER,
                    "desiredHealthy", INTEGER,
                    "expectedPods", INTEGER,
                    "conditions", listBy("type", CONDITION)));

    /** Event of events.k8s.io/v1: another form of core/v1's. */
    public static final Schema EVENT = Schemas.plain(
            "eventTime", MICRO_TIME,
            "series", object("count", INTEGER, "lastObservedTime", MICRO_TIME),
            "reportingController", STRING,
            "reportingInstance", STRING,
            "action", STRING,
            "reason", STRING,
            "regarding", Schemas.OBJECT_REFERENCE,
            "related", Schemas.OBJECT_REFERENCE,
            "note", STRING,
            "type", STRING,
            "deprecatedSource", object("component", STRING, "host", STRING),
            "deprecatedFirstTimestamp", TIME,
            "deprecatedLastTimestamp", TIME,
            "deprecatedCount", INTEGER);

    /** Eviction of policy/v1, and of v1beta1. */
    public static final Schema EVICTION = Schemas.plain(
            "deleteOptions",
            open(
                    "gracePeriodSeconds", INTEGER,
                    "preconditions", object("uid", STRING, "resourceVersion", STRING),
                    "orphanDependents", BOOLEAN,
                    "propagationPolicy", STRING,
                    "dryRun", list(STRING)));

    /** Binding of core/v1. */
    public static final Schema BINDING = Schemas.plain("target", Schemas.OBJECT_REFERENCE);
}
