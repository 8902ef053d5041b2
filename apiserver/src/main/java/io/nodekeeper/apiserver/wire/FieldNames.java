package io.nodekeeper.apiserver.wire;

import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.Map;
import java.util.Set;

/** What a field of a message is called in JSON, where it is not the same: facts of Kubernetes. */
public final class FieldNames {
    /** Structs that Go embeds: in JSON their fields are the holder's own. */
    private static final Set<String> INLINED = Set.of(
            "Probe.handler",
            "LifecycleHandler.handler",
            "Volume.volumeSource",
            "PersistentVolumeSpec.persistentVolumeSource",
            "EphemeralContainer.ephemeralContainerCommon",
            "ConfigMapEnvSource.localObjectReference",
            "ConfigMapKeySelector.localObjectReference",
            "ConfigMapProjection.localObjectReference",
            "ConfigMapVolumeSource.localObjectReference",
            "SecretEnvSource.localObjectReference",
            "SecretKeySelector.localObjectReference",
            "SecretProjection.localObjectReference",
            "IngressRule.ingressRuleValue");

    /** Names that were made from Go's instead of JSON's. */
    private static final Map<String, String> OTHERWISE = Map.of("uID", "uid", "aPIGroup", "apiGroup");

    private FieldNames() {}

    /** The field's name in JSON. */
    public static String json(FieldDescriptor field) {
        return OTHERWISE.getOrDefault(field.getName(), field.getName());
    }

    /** Whether the fields of the message in {@code field} belong to the object that holds it. */
    public static boolean isInlined(FieldDescriptor field) {
        return INLINED.contains(field.getContainingType().getName() + "." + field.getName());
    }
}
