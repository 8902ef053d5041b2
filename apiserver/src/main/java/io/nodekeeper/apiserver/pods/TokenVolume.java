package io.nodekeeper.apiserver.pods;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.ObjectFields;

/** The volume that provides containers with the token of their service account, as in Kubernetes. */
public final class TokenVolume {
    /** The prefix of the volume's name. */
    public static final String PREFIX = "kube-api-access-";

    private static final String MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

    /** Kubernetes' sources. The lifetime of 3607 s is one that users hardly choose, so it identifies these tokens. */
    private static final JsonArray SOURCES = (JsonArray) Json.parse("""
            [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
             {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
             {"downwardAPI": {"items": [
               {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]""");

    private TokenVolume() {}

    /** Whether each container of {@code spec} already mounts a volume at the path of the token. */
    public static boolean isReplaced(JsonObject spec) {
        return spec.array("containers").objects().allMatch(TokenVolume::mountsOwn)
                && spec.array("initContainers").objects().allMatch(TokenVolume::mountsOwn);
    }

    private static boolean mountsOwn(JsonObject container) {
        return container
                .array("volumeMounts")
                .objects()
                .anyMatch(mount -> mount.text("mountPath").equals(MOUNT_PATH));
    }

    /** The spec with the volume and its mounts. Reuses an existing token volume, else adds one called {@code name}. */
    public static JsonObject with(JsonObject spec, String name) {
        String existing = spec.array("volumes")
                .objects()
                .map(volume -> volume.text("name"))
                .filter(known -> known.startsWith(PREFIX))
                .findFirst()
                .orElse("");
        JsonObject mount = JsonObject.builder()
                .put("name", existing.isEmpty() ? name : existing)
                .put("readOnly", true)
                .put("mountPath", MOUNT_PATH)
                .build();
        JsonObject mounted = ObjectFields.each(spec, "containers", container -> mounted(container, mount));
        mounted = ObjectFields.each(mounted, "initContainers", container -> mounted(container, mount));
        if (!existing.isEmpty()) {
            return mounted;
        }
        JsonObject volume = JsonObject.builder()
                .put("name", name)
                .put(
                        "projected",
                        JsonObject.builder()
                                .put("sources", SOURCES)
                                .put("defaultMode", VolumeDefaults.MODE)
                                .build())
                .build();
        return mounted.with("volumes", spec.array("volumes").plus(volume));
    }

    private static JsonObject mounted(JsonObject container, JsonObject mount) {
        return mountsOwn(container)
                ? container
                : container.with("volumeMounts", container.array("volumeMounts").plus(mount));
    }

    /** The spec with its service account, {@code default} if it has none, in the current and the deprecated field. */
    public static JsonObject named(JsonObject spec) {
        return PodDefaults.serviceAccount(
                ObjectFields.text(PodDefaults.serviceAccount(spec), "serviceAccountName", "default"));
    }
}
