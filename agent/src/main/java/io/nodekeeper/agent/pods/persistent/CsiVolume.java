package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.api.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * A volume of a CSI driver as a pod uses it. Immutable.
 *
 * @param name of the PersistentVolume, or of the pod's volume if it is an inline one
 * @param handle the driver's name of the volume
 * @param inline whether it is in the pod's spec, and lives as long as the pod
 * @param readOnly whether the pod only reads it
 * @param fsType the type of its file system; may be empty
 * @param accessModes those of the PersistentVolume
 * @param attributes for the driver
 * @param stageSecret the reference to the secret for staging; empty if there is none
 * @param publishSecret the same for publishing
 */
public record CsiVolume(
        String name,
        String driver,
        String handle,
        boolean inline,
        boolean readOnly,
        String fsType,
        List<String> accessModes,
        List<String> mountOptions,
        Map<String, String> attributes,
        JsonObject stageSecret,
        JsonObject publishSecret) {
    /** Keeps copies. */
    public CsiVolume {
        accessModes = List.copyOf(accessModes);
        mountOptions = List.copyOf(mountOptions);
        attributes = Map.copyOf(attributes);
    }

    /** The volume of a PersistentVolume, whose source is {@code csi}. */
    static CsiVolume of(JsonObject volume, boolean readOnly) {
        JsonObject spec = volume.object("spec");
        JsonObject csi = spec.object("csi");
        return new CsiVolume(
                volume.object("metadata").text("name"),
                csi.text("driver"),
                csi.text("volumeHandle"),
                false,
                readOnly,
                csi.text("fsType"),
                spec.array("accessModes").strings().toList(),
                spec.array("mountOptions").strings().toList(),
                csi.object("volumeAttributes").texts(),
                csi.object("nodeStageSecretRef"),
                csi.object("nodePublishSecretRef"));
    }

    /** The volume of an entry of {@code spec.volumes} with the field {@code csi}. */
    static CsiVolume inline(String uid, String namespace, JsonObject volume) {
        JsonObject csi = volume.object("csi");
        JsonObject secret = csi.object("nodePublishSecretRef");
        return new CsiVolume(
                volume.text("name"),
                csi.text("driver"),
                "csi-" + sha256(uid + volume.text("name")),
                true,
                csi.bool("readOnly"),
                csi.text("fsType"),
                List.of("ReadWriteOnce"),
                List.of(),
                csi.object("volumeAttributes").texts(),
                JsonObject.EMPTY,
                secret.isEmpty() ? secret : secret.with("namespace", namespace));
    }

    /** Kubernetes' name of the volume on a node, as in {@code volumesInUse}. */
    String uniqueName() {
        return uniqueName(driver, handle);
    }

    /** See {@link #uniqueName()}. */
    static String uniqueName(String driver, String handle) {
        return "kubernetes.io/csi/" + driver + "^" + handle;
    }

    /** The name of the VolumeAttachment to {@code node}. */
    String attachment(String node) {
        return "csi-" + sha256(handle + driver + node);
    }

    /** As hexadecimal digits. */
    static String sha256(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each JDK has SHA-256", e);
        }
    }
}
