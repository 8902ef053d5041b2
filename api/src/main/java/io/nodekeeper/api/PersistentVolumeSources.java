package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Finds what a PersistentVolume consists of, such as {@code csi}; the API allows one source. Stateless. */
public final class PersistentVolumeSources {
    /** The fields of a spec that are no source. */
    private static final Set<String> OTHERS = Set.of(
            "capacity",
            "accessModes",
            "claimRef",
            "persistentVolumeReclaimPolicy",
            "storageClassName",
            "mountOptions",
            "volumeMode",
            "nodeAffinity",
            "volumeAttributesClassName");

    private PersistentVolumeSources() {}

    /** The sources in the spec of a PersistentVolume, by their names and in its order. */
    public static Map<String, JsonValue> of(JsonObject spec) {
        Map<String, JsonValue> sources = new LinkedHashMap<>();
        spec.fields().forEach((name, value) -> {
            if (!OTHERS.contains(name) && spec.has(name)) {
                sources.put(name, value);
            }
        });
        return sources;
    }
}
