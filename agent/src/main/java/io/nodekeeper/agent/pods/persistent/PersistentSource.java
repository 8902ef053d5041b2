package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.api.json.JsonObject;

/** Where the content of a pod's persistent volume is. Immutable. */
public sealed interface PersistentSource {
    /** The name of the PersistentVolume, or of the pod's volume if it has none. */
    String name();

    /** A volume of a CSI driver. */
    record Csi(CsiVolume volume) implements PersistentSource {
        @Override
        public String name() {
            return volume.name();
        }
    }

    /**
     * A path of the host.
     *
     * @param source the {@code hostPath} of the PersistentVolume
     */
    record Host(String name, JsonObject source) implements PersistentSource {}

    /**
     * A directory of this node that a {@code local} PersistentVolume names.
     *
     * @param readOnly whether the pod asks to read it only
     */
    record Local(String name, String path, boolean readOnly) implements PersistentSource {}
}
