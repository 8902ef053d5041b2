package io.nodekeeper.apiserver.schema;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.Set;

/**
 * Which objects an apply takes as one value that has one owner: the {@code mapType} and {@code structType} of Kubernetes'
 * Go types, which descriptors do not have.
 */
public final class AtomicTypes {
    private static final Set<String> MESSAGES = Set.of(
            "ConfigMapKeySelector",
            "CrossVersionObjectReference",
            "EndpointAddress",
            "EndpointPort",
            "FileKeySelector",
            "LabelSelector",
            "LocalObjectReference",
            "NodeSelector",
            "NodeSelectorTerm",
            "ObjectFieldSelector",
            "ObjectReference",
            "OwnerReference",
            "ResourceFieldSelector",
            "RoleRef",
            "ScopeSelector",
            "SecretKeySelector",
            "SecretReference",
            "Subject",
            "TopologySelectorTerm",
            "TypedLocalObjectReference");

    private static final Set<String> MAPS = Set.of(
            "PodSpec.nodeSelector",
            "ReplicationControllerSpec.selector",
            "Scheduling.nodeSelector",
            "ServiceSpec.selector");

    /** Fields of atomic types that are merged nevertheless. */
    private static final Set<String> MERGED = Set.of("PersistentVolumeSpec.claimRef");

    private AtomicTypes() {}

    /** Whether objects of this type are one value unless their field says otherwise. */
    public static boolean isAtomic(Descriptor message) {
        return MESSAGES.contains(message.getName());
    }

    /** Whether {@code field} merges objects although their type is atomic. */
    public static boolean isMerged(FieldDescriptor field) {
        return MERGED.contains(name(field));
    }

    /** Whether the map or message in {@code field} is one value. */
    public static boolean isAtomic(FieldDescriptor field) {
        return field.isMapField() ? MAPS.contains(name(field)) : isAtomic(field.getMessageType()) && !isMerged(field);
    }

    private static String name(FieldDescriptor field) {
        return field.getContainingType().getName() + "." + field.getName();
    }
}
