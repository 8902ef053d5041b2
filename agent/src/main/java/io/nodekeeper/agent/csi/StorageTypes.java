package io.nodekeeper.agent.csi;

import io.nodekeeper.api.ResourceType;

/** The resources of the API that volumes are described by. */
public final class StorageTypes {
    private static final String GROUP = "storage.k8s.io";

    /** The drivers on a node. */
    static final ResourceType CSI_NODES = new ResourceType(GROUP, "v1", "csinodes", "CSINode", false);

    /** How the cluster uses a driver. */
    public static final ResourceType CSI_DRIVERS = new ResourceType(GROUP, "v1", "csidrivers", "CSIDriver", false);

    /** A VolumeAttachment says that a volume shall be, or is, attached to a node. */
    public static final ResourceType VOLUME_ATTACHMENTS =
            new ResourceType(GROUP, "v1", "volumeattachments", "VolumeAttachment", false);

    /** Volumes of the cluster. */
    public static final ResourceType VOLUMES =
            new ResourceType("", "v1", "persistentvolumes", "PersistentVolume", false);

    /** Requests for such volumes, which pods name. */
    public static final ResourceType CLAIMS =
            new ResourceType("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true);

    private StorageTypes() {}
}
