package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Validates volumes. */
public final class VolumeRules {
    /** The types of volumes, in the order in which Kubernetes checks them. */
    public static final List<String> SOURCES = List.of(
            "emptyDir",
            "hostPath",
            "gitRepo",
            "gcePersistentDisk",
            "awsElasticBlockStore",
            "secret",
            "nfs",
            "iscsi",
            "glusterfs",
            "flocker",
            "persistentVolumeClaim",
            "rbd",
            "cinder",
            "cephfs",
            "quobyte",
            "downwardAPI",
            "fc",
            "flexVolume",
            "configMap",
            "azureFile",
            "vsphereVolume",
            "photonPersistentDisk",
            "portworxVolume",
            "azureDisk",
            "storageos",
            "projected",
            "scaleIO",
            "csi",
            "ephemeral",
            "image");

    /** The required fields of each type. */
    private static final Map<String, List<String>> REQUIRED = Map.ofEntries(
            Map.entry("gitRepo", List.of("repository")),
            Map.entry("gcePersistentDisk", List.of("pdName")),
            Map.entry("awsElasticBlockStore", List.of("volumeID")),
            Map.entry("secret", List.of("secretName")),
            Map.entry("nfs", List.of("server", "path")),
            Map.entry("iscsi", List.of("targetPortal", "iqn")),
            Map.entry("glusterfs", List.of("endpoints", "path")),
            Map.entry("persistentVolumeClaim", List.of("claimName")),
            Map.entry("rbd", List.of("image")),
            Map.entry("cinder", List.of("volumeID")),
            Map.entry("quobyte", List.of("registry", "volume")),
            Map.entry("flexVolume", List.of("driver")),
            Map.entry("configMap", List.of("name")),
            Map.entry("azureFile", List.of("secretName", "shareName")),
            Map.entry("vsphereVolume", List.of("volumePath")),
            Map.entry("photonPersistentDisk", List.of("pdID")),
            Map.entry("portworxVolume", List.of("volumeID")),
            Map.entry("azureDisk", List.of("diskName", "diskURI")),
            Map.entry("storageos", List.of("volumeName")),
            Map.entry("scaleIO", List.of("gateway", "system", "volumeName")),
            Map.entry("csi", List.of("driver")));

    private static final List<String> HOST_PATHS = List.of(
            "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket");
    private static final List<String> PULL_POLICIES = List.of("Always", "IfNotPresent", "Never");

    private VolumeRules() {}

    /** Checks the volumes of {@code spec}, and returns the well-formed ones by name. */
    static Map<String, JsonObject> check(FieldCheck spec, String podName) {
        Map<String, JsonObject> known = new LinkedHashMap<>();
        List<FieldCheck> volumes = spec.items("volumes");
        Set<String> made = new HashSet<>();
        for (FieldCheck volume : volumes) {
            if (volume.has("ephemeral") && !podName.isEmpty()) {
                made.add(podName + "-" + volume.text("name"));
            }
        }
        for (FieldCheck volume : volumes) {
            int before = volume.errors().size();
            source(volume, podName);
            volume.requiredLabel("name");
            String name = volume.text("name");
            if (known.containsKey(name)) {
                volume.duplicate("name", name);
            } else if (volume.errors().size() == before) {
                known.put(name, volume.value());
            }
            if (made.contains(volume.object("persistentVolumeClaim").text("claimName"))) {
                volume.object("persistentVolumeClaim")
                        .invalid("claimName", "must not reference a PVC that gets created for an ephemeral volume");
            }
        }
        return known;
    }

    private static void source(FieldCheck volume, String podName) {
        List<String> sources = new ArrayList<>();
        for (String source : SOURCES) {
            if (volume.has(source)) {
                sources.add(source);
            }
        }
        if (sources.isEmpty()) {
            volume.required("", "must specify a volume type");
            return;
        }
        for (String other : sources.subList(1, sources.size())) {
            volume.forbidden(other, "may not specify more than 1 volume type");
        }
        String kind = sources.getFirst();
        FieldCheck source = volume.object(kind);
        REQUIRED.getOrDefault(kind, List.of()).forEach(source::require);
        special(kind, source, volume, podName);
    }

    private static void special(String kind, FieldCheck source, FieldCheck volume, String podName) {
        switch (kind) {
            case "emptyDir" -> {
                if (source.value()
                        .get("sizeLimit")
                        .flatMap(Quantity::from)
                        .filter(Quantity::isNegative)
                        .isPresent()) {
                    source.forbidden("sizeLimit", "SizeLimit field must be a valid resource quantity");
                }
            }
            case "hostPath" -> {
                if (source.require("path")) {
                    Paths.noBacksteps(source, "path", source.text("path"));
                    source.oneOfIfSet("type", HOST_PATHS);
                }
            }
            case "gitRepo" -> Paths.descending(source, "directory", source.text("directory"));
            case "gcePersistentDisk", "awsElasticBlockStore" -> source.range("partition", 0, 255);
            case "secret", "configMap" -> {
                FileRules.mode(source, "defaultMode");
                source.items("items").forEach(FileRules::keyToPath);
            }
            case "downwardAPI" -> {
                FileRules.mode(source, "defaultMode");
                source.items("items").forEach(DownwardRules::file);
            }
            case "projected" -> ProjectionRules.check(source);
            case "nfs" -> absolute(source);
            case "rbd", "cephfs" -> {
                if (source.value().array("monitors").isEmpty()) {
                    source.required("monitors", "");
                }
            }
            case "csi" -> csi(source);
            case "ephemeral" -> ephemeral(source, volume, podName);
            case "image" -> {
                source.require("reference");
                source.oneOfIfSet("pullPolicy", PULL_POLICIES);
            }
            default -> disks(kind, source, volume);
        }
    }

    /** Checks the rarely used types. */
    private static void disks(String kind, FieldCheck source, FieldCheck volume) {
        switch (kind) {
            case "iscsi" -> iscsi(source, volume);
            case "fc" -> fibreChannel(source);
            case "flocker" -> {
                boolean name = !source.text("datasetName").isEmpty();
                boolean id = !source.text("datasetUUID").isEmpty();
                if (!name && !id) {
                    source.required("", "one of datasetName and datasetUUID is required");
                }
                if (name && id) {
                    source.invalid("", "resource", "datasetName and datasetUUID can not be specified simultaneously");
                }
                if (source.text("datasetName").contains("/")) {
                    source.invalid("datasetName", "must not contain '/'");
                }
            }
            case "flexVolume" ->
                source.value().object("options").fields().keySet().forEach(key -> {
                    String space = "." + key.split("/", 2)[0].toLowerCase(Locale.ROOT);
                    if (space.endsWith(".kubernetes.io") || space.endsWith(".k8s.io")) {
                        source.invalid("options[" + key + "]", key, "kubernetes.io and k8s.io namespaces are reserved");
                    }
                });
            case "azureDisk" -> {
                source.oneOfIfSet("cachingMode", List.of("None", "ReadOnly", "ReadWrite"));
                source.oneOfIfSet("kind", List.of("Dedicated", "Managed", "Shared"));
            }
            default -> {
                // Kubernetes checks only the required fields of the other types.
            }
        }
    }

    private static void iscsi(FieldCheck disk, FieldCheck volume) {
        String name = disk.text("iqn");
        if (!name.isEmpty() && !name.startsWith("iqn") && !name.startsWith("eui") && !name.startsWith("naa")) {
            disk.invalid("iqn", "must be valid format starting with iqn, eui, or naa");
        }
        disk.range("lun", 0, 255);
        if ((disk.bool("chapAuthDiscovery") || disk.bool("chapAuthSession")) && !disk.has("secretRef")) {
            disk.required("secretRef", "");
        }
        String whole = volume.text("name") + ":" + disk.text("targetPortal");
        if (disk.has("initiatorName") && whole.length() > 64) {
            volume.invalid(
                    "name",
                    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if"
                            + " iscsi.initiatorName is specified.");
        }
    }

    private static void fibreChannel(FieldCheck disk) {
        boolean names = !disk.value().array("targetWWNs").isEmpty();
        boolean ids = !disk.value().array("wwids").isEmpty();
        if (!names && !ids) {
            disk.required("targetWWNs", "must specify either targetWWNs or wwids, but not both");
        }
        if (names && ids) {
            disk.invalid("targetWWNs", "targetWWNs and wwids can not be specified simultaneously");
        }
        if (names && !disk.has("lun")) {
            disk.required("lun", "lun is required if targetWWNs is specified");
        }
        disk.range("lun", 0, 255);
    }

    private static void csi(FieldCheck source) {
        if (!source.text("driver").isEmpty()) {
            source.form("driver", source.text("driver").toLowerCase(Locale.ROOT), Names::subdomainFault);
        }
        if (source.has("nodePublishSecretRef")) {
            FieldCheck secret = source.object("nodePublishSecretRef");
            if (secret.require("name")) {
                secret.form("name", Names::subdomainFault);
            }
        }
    }

    private static void ephemeral(FieldCheck source, FieldCheck volume, String podName) {
        if (!source.has("volumeClaimTemplate")) {
            source.required("volumeClaimTemplate", "");
            return;
        }
        FieldCheck claim = source.object("volumeClaimTemplate").object("spec");
        if (claim.value().array("accessModes").isEmpty()) {
            claim.required("accessModes", "at least 1 access mode is required");
        }
        if (!claim.value().object("resources").object("requests").has("storage")) {
            claim.required("resources[storage]", "");
        }
        String name = podName + "-" + volume.text("name");
        if (!podName.isEmpty() && !volume.text("name").isEmpty()) {
            Names.subdomainFault(name)
                    .ifPresent(fault -> volume.invalid("name", "PVC name " + FieldCheck.quoted(name) + ": " + fault));
        }
    }

    private static void absolute(FieldCheck nfs) {
        if (!nfs.text("path").startsWith("/")) {
            nfs.invalid("path", "must be an absolute path");
        }
    }
}
