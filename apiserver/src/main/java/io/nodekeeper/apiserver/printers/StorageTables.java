package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.StorageClassName;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The columns of persistent volumes, their claims and classes, as Kubernetes prints them. */
public final class StorageTables {
    /** The access modes in the order in which they show, and their short forms. */
    private static final List<Map.Entry<String, String>> MODES = List.of(
            Map.entry("ReadWriteOnce", "RWO"),
            Map.entry("ReadOnlyMany", "ROX"),
            Map.entry("ReadWriteMany", "RWX"),
            Map.entry("ReadWriteOncePod", "RWOP"));

    /** Marks the class of claims without one. */
    private static final List<String> DEFAULT =
            List.of("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class");

    public static final Table PERSISTENT_VOLUMES = new Table(List.of(
            Tables.name(),
            Tables.column("Capacity", volume -> storage(volume.object("spec"))),
            Tables.column("Access Modes", volume -> modes(volume.object("spec").array("accessModes"))),
            Tables.column("Reclaim Policy", volume -> volume.object("spec").text("persistentVolumeReclaimPolicy")),
            Tables.column(
                    "Status", volume -> phase(volume, volume.object("status").text("phase"))),
            Tables.column("Claim", volume -> claim(volume.object("spec").object("claimRef"))),
            Tables.column("StorageClass", StorageClassName::of),
            Tables.column("VolumeAttributesClass", volume -> orUnset(volume, "volumeAttributesClassName")),
            Tables.column("Reason", volume -> volume.object("status").text("reason")),
            Tables.age(),
            Tables.wide("VolumeMode", volume -> orUnset(volume, "volumeMode"))));

    public static final Table PERSISTENT_VOLUME_CLAIMS = new Table(List.of(
            Tables.name(),
            Tables.column("Status", claim -> phase(claim, claim.object("status").text("phase"))),
            Tables.column("Volume", claim -> claim.object("spec").text("volumeName")),
            Tables.column("Capacity", claim -> hasVolume(claim) ? storage(claim.object("status")) : ""),
            Tables.column(
                    "Access Modes",
                    claim -> hasVolume(claim) ? modes(claim.object("status").array("accessModes")) : ""),
            Tables.column("StorageClass", StorageClassName::of),
            Tables.column("VolumeAttributesClass", claim -> orUnset(claim, "volumeAttributesClassName")),
            Tables.age(),
            Tables.wide("VolumeMode", claim -> orUnset(claim, "volumeMode"))));

    public static final Table STORAGE_CLASSES = new Table(List.of(
            Tables.column("Name", StorageTables::className),
            Tables.column("Provisioner", storage -> storage.text("provisioner")),
            Tables.column("ReclaimPolicy", storage -> storage.text("reclaimPolicy")),
            Tables.column("VolumeBindingMode", storage -> storage.text("volumeBindingMode")),
            Tables.flag("AllowVolumeExpansion", storage -> storage.bool("allowVolumeExpansion")),
            Tables.age()));

    private StorageTables() {}

    private static String phase(JsonObject object, String phase) {
        return object.object("metadata").has("deletionTimestamp") ? "Terminating" : phase;
    }

    private static boolean hasVolume(JsonObject claim) {
        return !claim.object("spec").text("volumeName").isEmpty();
    }

    /** The size in {@code part}. A claim that names its volume before it is bound has none yet, which shows as 0. */
    private static String storage(JsonObject part) {
        return part.object("capacity")
                .get("storage")
                .flatMap(Quantity::from)
                .orElse(Quantity.ZERO)
                .toString();
    }

    private static String modes(JsonArray modes) {
        Set<String> names = modes.strings().collect(Collectors.toSet());
        return MODES.stream()
                .filter(mode -> names.contains(mode.getKey()))
                .map(Map.Entry::getValue)
                .collect(Collectors.joining(","));
    }

    private static String claim(JsonObject claim) {
        return claim.isEmpty() ? "" : claim.text("namespace") + "/" + claim.text("name");
    }

    private static String className(JsonObject storage) {
        JsonObject metadata = storage.object("metadata");
        boolean isDefault = DEFAULT.stream()
                .anyMatch(name -> metadata.object("annotations").text(name).equals("true"));
        return metadata.text("name") + (isDefault ? " (default)" : "");
    }

    private static String orUnset(JsonObject object, String field) {
        JsonObject spec = object.object("spec");
        return spec.has(field) ? spec.text(field) : "<unset>";
    }
}
