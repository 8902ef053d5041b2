package io.nodekeeper.apiserver.wire;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.V1;
import io.kubernetes.client.proto.V1Admissionregistration;
import io.kubernetes.client.proto.V1Apps;
import io.kubernetes.client.proto.V1Authentication;
import io.kubernetes.client.proto.V1Authorization;
import io.kubernetes.client.proto.V1Batch;
import io.kubernetes.client.proto.V1Certificates;
import io.kubernetes.client.proto.V1Coordination;
import io.kubernetes.client.proto.V1Discovery;
import io.kubernetes.client.proto.V1Events;
import io.kubernetes.client.proto.V1Networking;
import io.kubernetes.client.proto.V1Node;
import io.kubernetes.client.proto.V1Policy;
import io.kubernetes.client.proto.V1Rbac;
import io.kubernetes.client.proto.V1Scheduling;
import io.kubernetes.client.proto.V1Storage;
import io.kubernetes.client.proto.V1beta1Policy;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Kubernetes' message types by apiVersion and kind. Loads the classes of a group at its first use, because core/v1
 * alone has thousands. Thread-safe.
 */
public final class MessageTypes {
    private static final Map<String, Supplier<FileDescriptor>> FILES = Map.ofEntries(
            Map.entry("v1", V1::getDescriptor),
            Map.entry("admissionregistration.k8s.io/v1", V1Admissionregistration::getDescriptor),
            Map.entry("apps/v1", V1Apps::getDescriptor),
            Map.entry("authentication.k8s.io/v1", V1Authentication::getDescriptor),
            Map.entry("authorization.k8s.io/v1", V1Authorization::getDescriptor),
            Map.entry("batch/v1", V1Batch::getDescriptor),
            Map.entry("certificates.k8s.io/v1", V1Certificates::getDescriptor),
            Map.entry("coordination.k8s.io/v1", V1Coordination::getDescriptor),
            Map.entry("discovery.k8s.io/v1", V1Discovery::getDescriptor),
            Map.entry("events.k8s.io/v1", V1Events::getDescriptor),
            Map.entry("networking.k8s.io/v1", V1Networking::getDescriptor),
            Map.entry("node.k8s.io/v1", V1Node::getDescriptor),
            Map.entry("policy/v1", V1Policy::getDescriptor),
            Map.entry("policy/v1beta1", V1beta1Policy::getDescriptor),
            Map.entry("rbac.authorization.k8s.io/v1", V1Rbac::getDescriptor),
            Map.entry("scheduling.k8s.io/v1", V1Scheduling::getDescriptor),
            Map.entry("storage.k8s.io/v1", V1Storage::getDescriptor));

    private static final Map<String, MessageType> FOUND = new ConcurrentHashMap<>();

    private MessageTypes() {}

    /**
     * The message type of {@code kind}.
     *
     * @throws ProtobufException if Kubernetes has no such kind
     */
    static MessageType find(String apiVersion, String kind) {
        String name = apiVersion + "/" + kind;
        MessageType known = FOUND.get(name);
        if (known != null) {
            return known;
        }
        Descriptor descriptor = descriptor(apiVersion, kind)
                .orElseThrow(() -> new ProtobufException(
                        "no kind \"" + kind + "\" is registered for version \"" + apiVersion + "\""));
        MessageType made = MessageType.of(descriptor);
        // Caches only kinds of versions that exist, so that requests cannot fill the memory: DeleteOptions are of any
        // version.
        if (FILES.containsKey(apiVersion)) {
            FOUND.put(name, made);
        }
        return made;
    }

    /** The descriptor of {@code kind}, if Kubernetes has such a kind. */
    public static Optional<Descriptor> descriptor(String apiVersion, String kind) {
        // DeleteOptions exist in all groups: clients send them with the apiVersion of the object to delete.
        if (kind.equals("DeleteOptions")) {
            return Optional.of(Meta.DeleteOptions.getDescriptor());
        }
        return Optional.ofNullable(FILES.get(apiVersion)).map(file -> file.get().findMessageTypeByName(kind));
    }

    /** How many types are cached. */
    static int cached() {
        return FOUND.size();
    }

    /** The descriptor of Status. */
    public static Descriptor status() {
        return Meta.Status.getDescriptor();
    }

    /** The descriptor of ListMeta. */
    public static Descriptor listMeta() {
        return Meta.ListMeta.getDescriptor();
    }
}
