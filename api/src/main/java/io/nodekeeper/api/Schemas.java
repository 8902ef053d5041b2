package io.nodekeeper.api;

import static io.nodekeeper.api.Schema.Scalar.ANY;
import static io.nodekeeper.api.Schema.Scalar.BOOLEAN;
import static io.nodekeeper.api.Schema.Scalar.INTEGER;
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

/** The shapes of the kinds that Nodekeeper serves: facts of Kubernetes' API types. A pod's spec is open: it is the scheduler's and the runtime's business. */
public final class Schemas {
    private Schemas() {}

    /** The metadata of every kind. */
    static final Schema METADATA = object(
            "name", STRING,
            "generateName", STRING,
            "namespace", STRING,
            "selfLink", STRING,
            "uid", STRING,
            "resourceVersion", STRING,
            "generation", INTEGER,
            "creationTimestamp", TIME,
            "deletionTimestamp", TIME,
            "deletionGracePeriodSeconds", INTEGER,
            "labels", map(STRING),
            "annotations", map(STRING),
            "ownerReferences",
                    listBy(
                            "uid",
                            object(
                                    "apiVersion", STRING,
                                    "kind", STRING,
                                    "name", STRING,
                                    "uid", STRING,
                                    "controller", BOOLEAN,
                                    "blockOwnerDeletion", BOOLEAN)),
            "finalizers", set(STRING),
            "managedFields", list(ANY));

    static final Schema OBJECT_REFERENCE = object(
            "kind", STRING,
            "namespace", STRING,
            "name", STRING,
            "uid", STRING,
            "apiVersion", STRING,
            "resourceVersion", STRING,
            "fieldPath", STRING);

    static final Schema LABEL_SELECTOR = object(
            "matchLabels", map(STRING),
            "matchExpressions", list(object("key", STRING, "operator", STRING, "values", list(STRING))));

    private static final Schema NODE_CONDITION = object(
            "type", STRING,
            "status", STRING,
            "lastHeartbeatTime", TIME,
            "lastTransitionTime", TIME,
            "reason", STRING,
            "message", STRING);

    private static final Schema POD_CONDITION = object(
            "type", STRING,
            "observedGeneration", INTEGER,
            "status", STRING,
            "lastProbeTime", TIME,
            "lastTransitionTime", TIME,
            "reason", STRING,
            "message", STRING);

    /** Node of core/v1. */
    public static final Schema NODE = kind(
            object(
                    "podCIDR", STRING,
                    "podCIDRs", set(STRING),
                    "providerID", STRING,
                    "unschedulable", BOOLEAN,
                    "taints", list(object("key", STRING, "value", STRING, "effect", STRING, "timeAdded", TIME)),
                    "configSource", ANY,
                    "externalID", STRING),
            object(
                    "capacity", map(QUANTITY),
                    "allocatable", map(QUANTITY),
                    "phase", STRING,
                    "conditions", listBy("type", NODE_CONDITION),
                    "addresses", listBy("type", object("type", STRING, "address", STRING)),
                    "daemonEndpoints", object("kubeletEndpoint", object("Port", INTEGER)),
                    "nodeInfo",
                            object(
                                    "machineID", STRING,
                                    "systemUUID", STRING,
                                    "bootID", STRING,
                                    "kernelVersion", STRING,
                                    "osImage", STRING,
                                    "containerRuntimeVersion", STRING,
                                    "kubeletVersion", STRING,
                                    "kubeProxyVersion", STRING,
                                    "operatingSystem", STRING,
                                    "architecture", STRING,
                                    "swap", object("capacity", INTEGER)),
                    "images", list(object("names", list(STRING), "sizeBytes", INTEGER)),
                    "volumesInUse", list(STRING),
                    "volumesAttached", list(object("name", STRING, "devicePath", STRING)),
                    "config", ANY,
                    "runtimeHandlers", list(ANY),
                    "features", ANY,
                    "declaredFeatures", list(STRING)));

    /** Lease of coordination.k8s.io/v1. */
    public static final Schema LEASE = plain(
            "spec",
            object(
                    "holderIdentity", STRING,
                    "leaseDurationSeconds", INTEGER,
                    "acquireTime", MICRO_TIME,
                    "renewTime", MICRO_TIME,
                    "leaseTransitions", INTEGER,
                    "strategy", STRING,
                    "preferredHolder", STRING));

    /** Namespace of core/v1. */
    public static final Schema NAMESPACE = kind(
            object("finalizers", list(STRING)),
            object(
                    "phase",
                    STRING,
                    "conditions",
                    listBy(
                            "type",
                            object(
                                    "type", STRING,
                                    "status", STRING,
                                    "lastTransitionTime", TIME,
                                    "reason", STRING,
                                    "message", STRING))));

    /** What a pod shall be: of a Pod, and of the template of a kind that makes Pods. */
    static final Schema POD_SPEC = open(
            "nodeName",
            STRING,
            "restartPolicy",
            STRING,
            "schedulerName",
            STRING,
            "serviceAccountName",
            STRING,
            "terminationGracePeriodSeconds",
            INTEGER,
            "hostNetwork",
            BOOLEAN,
            "containers",
            listBy("name", container()),
            "initContainers",
            listBy("name", container()),
            "volumes",
            listBy("name", open("name", STRING)),
            "imagePullSecrets",
            listBy("name", open("name", STRING)),
            "hostAliases",
            listBy("ip", open("ip", STRING)),
            "tolerations",
            list(object(
                    "key", STRING,
                    "operator", STRING,
                    "value", STRING,
                    "effect", STRING,
                    "tolerationSeconds", INTEGER)));

    /** Pod of core/v1. */
    public static final Schema POD = kind(
            POD_SPEC,
            open(
                    "phase", STRING,
                    "reason", STRING,
                    "message", STRING,
                    "conditions", listBy("type", POD_CONDITION),
                    "hostIP", STRING,
                    "podIP", STRING,
                    "podIPs", listBy("ip", open("ip", STRING)),
                    "startTime", TIME,
                    "containerStatuses", list(open("name", STRING, "ready", BOOLEAN, "restartCount", INTEGER)),
                    "initContainerStatuses", list(open("name", STRING, "ready", BOOLEAN, "restartCount", INTEGER)),
                    "nominatedNodeName", STRING));

    /** Event of core/v1. */
    public static final Schema EVENT = plain(
            "involvedObject", OBJECT_REFERENCE,
            "reason", STRING,
            "message", STRING,
            "source", object("component", STRING, "host", STRING),
            "firstTimestamp", TIME,
            "lastTimestamp", TIME,
            "count", INTEGER,
            "type", STRING,
            "eventTime", MICRO_TIME,
            "series", object("count", INTEGER, "lastObservedTime", MICRO_TIME),
            "action", STRING,
            "related", OBJECT_REFERENCE,
            "reportingComponent", STRING,
            "reportingInstance", STRING);

    /** A kind of the usual form. */
    static Schema kind(Schema spec, Schema status) {
        return plain("spec", spec, "status", status);
    }

    /** A kind with these fields besides those of every kind. */
    static Schema plain(Object... namesAndSchemas) {
        Object[] all = new Object[namesAndSchemas.length + 6];
        System.arraycopy(new Object[] {"apiVersion", STRING, "kind", STRING, "metadata", METADATA}, 0, all, 0, 6);
        System.arraycopy(namesAndSchemas, 0, all, 6, namesAndSchemas.length);
        return object(all);
    }

    private static Schema container() {
        return open(
                "name",
                STRING,
                "image",
                STRING,
                "imagePullPolicy",
                STRING,
                "command",
                list(STRING),
                "args",
                list(STRING),
                "env",
                listBy("name", open("name", STRING, "value", STRING)),
                "ports",
                listBy("containerPort", open("containerPort", INTEGER, "protocol", STRING, "name", STRING)),
                "volumeMounts",
                listBy("mountPath", open("mountPath", STRING)));
    }
}
