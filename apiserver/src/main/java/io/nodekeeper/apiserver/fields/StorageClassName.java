package io.nodekeeper.apiserver.fields;

import io.nodekeeper.api.json.JsonObject;

/** The name of the StorageClass of a volume or of a claim. */
public final class StorageClassName {
    /** Names the class of volumes and claims that were made before there was a field for it. It comes first, as in Kubernetes. */
    private static final String ANNOTATION = "volume.beta.kubernetes.io/storage-class";

    private StorageClassName() {}

    /** The name of the class of {@code object}; empty if it has none. */
    public static String of(JsonObject object) {
        JsonObject annotations = object.object("metadata").object("annotations");
        return annotations.has(ANNOTATION)
                ? annotations.text(ANNOTATION)
                : object.object("spec").text("storageClassName");
    }
}
