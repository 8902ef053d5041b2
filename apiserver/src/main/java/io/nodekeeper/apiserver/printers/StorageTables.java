package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The columns of persistent volumes, their claims and classes, as Kubernetes prints them. */
public final class StorageTables {
    private static final Map<String, String> MODES =
            Map.of("ReadWriteOnce", "RWO", "ReadOnlyMany", "ROX", "ReadWriteMany", "RWX", "ReadWriteOncePod", "RWOP");

    public static final Table PERSISTENT_VOLUMES = new Table(List.of(
            Tables.name(),
            Tables.column(
                    "Capacity",
                    volume -> volume.object("spec").object("capacity").text("storage")),
            Tables.column("Access Modes", volume -> modes(volume.object("spec").array("accessModes"))),
            Tables.column("Reclaim Policy", volume -> volume.object("spec").text("persistentVolumeReclaimPolicy")),
            Tables.column(
                    "Status", volume -> phase(volume, volume.object("status").text("phase"))),
            Tables.column("Claim", volume -> claim(volume.object("spec").object("claimRef"))),
            Tables.column("StorageClass", volume -> volume.object("spec").text("storageClassName")),
            Tables.column("VolumeAttributesClass", volume -> attributesClass(volume)),
            Tables.column("Reason", volume -> volume.object("status").text("reason")),
            Tables.age(),
            Tables.wide("VolumeMode", volume -> volume.object("spec").text("volumeMode"))));

    public static final Table PERSISTENT_VOLUME_CLAIMS = new Table(List.of(
            Tables.name(),
            Tables.column("Status", claim -> phase(claim, claim.object("status").text("phase"))),
            Tables.column("Volume", claim -> claim.object("spec").text("volumeName")),
            Tables.column(
                    "Capacity",
                    claim -> claim.object("status").object("capacity").text("storage")),
            Tables.column("Access Modes", claim -> modes(claim.object("status").array("accessModes"))),
            Tables.column("StorageClass", claim -> claim.object("spec").text("storageClassName")),
            Tables.column("VolumeAttributesClass", claim -> attributesClass(claim)),
            Tables.age(),
            Tables.wide("VolumeMode", claim -> claim.object("spec").text("volumeMode"))));

    public static final Table STORAGE_CLASSES = new Table(List.of(
            Tables.name(),
            Tables.column("Provisioner", storage -> storage.text("provisioner")),
            Tables.column("ReclaimPolicy", storage -> storage.text("reclaimPolicy")),
            Tables.column("VolumeBindingMode", storage -> storage.text("volumeBindingMode")),
            Tables.column("AllowVolumeExpansion", storage -> Boolean.toString(storage.bool("allowVolumeExpansion"))),
            Tables.age()));

    private StorageTables() {}

    private static String phase(JsonObject object, String phase) {
        return object.object("metadata").has("deletionTimestamp") ? "Terminating" : phase;
    }

    private static String modes(JsonArray modes) {
        return modes.strings().map(mode -> MODES.getOrDefault(mode, mode)).collect(Collectors.joining(","));
    }

    private static String claim(JsonObject claim) {
        return claim.isEmpty() ? "" : claim.text("namespace") + "/" + claim.text("name");
    }

    private static String attributesClass(JsonObject object) {
        String name = object.object("spec").text("volumeAttributesClassName");
        return name.isEmpty() ? "<unset>" : name;
    }
}
