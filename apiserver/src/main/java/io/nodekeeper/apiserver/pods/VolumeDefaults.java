package io.nodekeeper.apiserver.pods;

import static io.nodekeeper.apiserver.fields.ObjectFields.each;
import static io.nodekeeper.apiserver.fields.ObjectFields.inside;
import static io.nodekeeper.apiserver.fields.ObjectFields.number;
import static io.nodekeeper.apiserver.fields.ObjectFields.text;
import static io.nodekeeper.apiserver.fields.ObjectFields.value;

import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.pods.validation.VolumeRules;
import java.util.List;

/** Kubernetes' defaults of volumes. */
final class VolumeDefaults {
    /** The default file mode: octal 0644. */
    static final long MODE = 420;

    private static final long TOKEN_SECONDS = 3_600;
    private static final List<String> WITH_MODE = List.of("secret", "configMap", "downwardAPI", "projected");

    private VolumeDefaults() {}

    static JsonObject volume(JsonObject given) {
        JsonObject volume =
                VolumeRules.SOURCES.stream().anyMatch(given::has) ? given : given.with("emptyDir", JsonObject.EMPTY);
        for (String source : WITH_MODE) {
            volume = inside(volume, source, files -> value(files, "defaultMode", JsonNumber.of(MODE)));
        }
        volume = inside(volume, "downwardAPI", VolumeDefaults::downward);
        volume = inside(volume, "projected", projected -> each(projected, "sources", VolumeDefaults::source));
        volume = inside(volume, "hostPath", path -> value(path, "type", new JsonString("")));
        volume = inside(volume, "iscsi", disk -> text(disk, "iscsiInterface", "default"));
        volume = inside(
                volume,
                "rbd",
                rbd -> text(text(text(rbd, "pool", "rbd"), "user", "admin"), "keyring", "/etc/ceph/keyring"));
        volume = inside(volume, "azureDisk", VolumeDefaults::azureDisk);
        volume = inside(volume, "scaleIO", disk -> text(text(disk, "storageMode", "ThinProvisioned"), "fsType", "xfs"));
        volume = inside(
                volume,
                "image",
                image -> text(image, "pullPolicy", SharedDefaults.pullPolicy(image.text("reference"))));
        return inside(
                volume,
                "ephemeral",
                ephemeral -> inside(
                        ephemeral,
                        "volumeClaimTemplate",
                        claim -> inside(claim, "spec", spec -> text(spec, "volumeMode", "Filesystem"))));
    }

    private static JsonObject downward(JsonObject files) {
        return each(files, "items", SharedDefaults::fieldSource);
    }

    private static JsonObject source(JsonObject given) {
        JsonObject source = inside(given, "downwardAPI", VolumeDefaults::downward);
        return inside(
                source,
                "serviceAccountToken",
                token -> token.has("expirationSeconds") ? token : number(token, "expirationSeconds", TOKEN_SECONDS));
    }

    private static JsonObject azureDisk(JsonObject given) {
        JsonObject disk = text(given, "cachingMode", "ReadWrite");
        disk = text(disk, "fsType", "ext4");
        disk = text(disk, "kind", "Shared");
        return value(disk, "readOnly", JsonBool.FALSE);
    }
}
