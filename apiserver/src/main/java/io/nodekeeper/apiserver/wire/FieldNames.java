package io.nodekeeper.apiserver.wire;

import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.Map;
import java.util.Set;

/** The names of messages' fields in Kubernetes' JSON. */
public final class FieldNames {
    /** Embedded Go structs: in JSON, their fields belong to the outer object. */
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
            "IngressRule.ingressRuleValue",
            "RuleWithOperations.rule");

    /** Fields whose protobuf name derives from Go's name and differs from JSON's. */
    private static final Map<String, String> OTHERWISE =
            Map.of("uID", "uid", "aPIGroup", "apiGroup", "Webhooks", "webhooks");

    private FieldNames() {}

    /** The name in JSON. */
    public static String json(FieldDescriptor field) {
        return OTHERWISE.getOrDefault(field.getName(), field.getName());
    }

    /** Whether the fields of the message in {@code field} belong to the outer object in JSON. */
    public static boolean isInlined(FieldDescriptor field) {
        return INLINED.contains(field.getContainingType().getName() + "." + field.getName());
    }
}
