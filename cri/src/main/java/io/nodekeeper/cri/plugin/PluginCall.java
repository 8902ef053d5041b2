package io.nodekeeper.cri.plugin;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One call to a plugin. Immutable.
 *
 * @param <T> the answer
 */
public sealed interface PluginCall<T> {
    /** The name of the call in its protocol. */
    default String method() {
        return getClass().getSimpleName();
    }

    /** An answer without content. */
    record Done() {}

    /** Asks a plugin who it is. */
    record GetInfo() implements PluginCall<Identity> {}

    /**
     * The answer to {@link GetInfo}.
     *
     * @param type such as {@code CSIPlugin}
     * @param endpoint the socket of its service; empty if it is the one that was asked
     * @param versions the versions of its service
     */
    record Identity(String type, String name, String endpoint, List<String> versions) {
        /** Keeps a copy. */
        public Identity {
            versions = List.copyOf(versions);
        }
    }

    /** Tells a plugin whether it is registered, and why not. */
    record NotifyRegistrationStatus(boolean registered, String error) implements PluginCall<Done> {}

    /** Asks a CSI driver about this node. */
    record NodeGetInfo() implements PluginCall<NodeInfo> {}

    /**
     * The answer to {@link NodeGetInfo}.
     *
     * @param nodeId the driver's name of the node
     * @param mostVolumes how many of its volumes may be attached to the node; 0 if it does not say
     * @param topology where the node is, as labels
     */
    record NodeInfo(String nodeId, long mostVolumes, Map<String, String> topology) {
        /** Keeps a copy. */
        public NodeInfo {
            topology = Map.copyOf(topology);
        }
    }

    /** Asks a CSI driver what it can do. */
    record NodeGetCapabilities() implements PluginCall<Set<Capability>> {}

    /** What a CSI driver can do on a node. */
    enum Capability {
        /** It mounts a volume at a staging path first, once for all pods. */
        STAGE_UNSTAGE_VOLUME,
        /** It tells several writers of one node from a single one. */
        SINGLE_NODE_MULTI_WRITER,
        /** It gives a volume to a group itself. */
        VOLUME_MOUNT_GROUP
    }

    /** The access mode of a volume in CSI's words. */
    enum Access {
        /** One node writes. */
        SINGLE_NODE_WRITER(1),
        /** Many nodes read. */
        MULTI_NODE_READER_ONLY(3),
        /** Many nodes write. */
        MULTI_NODE_MULTI_WRITER(5),
        /** One pod of one node writes. */
        SINGLE_NODE_SINGLE_WRITER(6),
        /** Several pods of one node write. */
        SINGLE_NODE_MULTI_WRITER(7);

        private final int number;

        Access(int number) {
            this.number = number;
        }

        /** Its number in the protocol. */
        int number() {
            return number;
        }
    }

    /**
     * What is mounted. Its text has no secrets.
     *
     * @param handle the driver's name of the volume
     * @param stagingPath where it is mounted for all pods of the node; empty if the driver does not do that
     * @param fsType the type of its file system; may be empty
     * @param mountGroup the group that the driver gives it to; may be empty
     * @param publishContext what the attachment says
     * @param volumeContext the attributes of the volume
     */
    record Volume(
            String handle,
            String stagingPath,
            String fsType,
            List<String> mountOptions,
            String mountGroup,
            Access access,
            Map<String, String> publishContext,
            Map<String, String> secrets,
            Map<String, String> volumeContext) {
        /** Keeps copies. */
        public Volume {
            mountOptions = List.copyOf(mountOptions);
            publishContext = Map.copyOf(publishContext);
            secrets = Map.copyOf(secrets);
            volumeContext = Map.copyOf(volumeContext);
        }

        @Override
        public String toString() {
            return "Volume[" + handle + "]";
        }
    }

    /** Mounts a volume at its staging path. */
    record NodeStageVolume(Volume volume) implements PluginCall<Done> {}

    /** Undoes {@link NodeStageVolume}. */
    record NodeUnstageVolume(String handle, String stagingPath) implements PluginCall<Done> {}

    /** Mounts a volume for a pod. */
    record NodePublishVolume(Volume volume, String target, boolean readOnly) implements PluginCall<Done> {}

    /** Undoes {@link NodePublishVolume}. */
    record NodeUnpublishVolume(String handle, String target) implements PluginCall<Done> {}
}
