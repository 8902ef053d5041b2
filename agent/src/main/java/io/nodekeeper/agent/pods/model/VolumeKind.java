package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.json.JsonObject;
import java.util.Arrays;
import java.util.Optional;

/** The kinds of volumes that this agent can prepare. */
public enum VolumeKind {
    /** A directory that lives as long as its pod. */
    EMPTY_DIR("emptyDir", "kubernetes.io~empty-dir"),
    /** A path of the host. */
    HOST_PATH("hostPath", "kubernetes.io~host-path");

    private final String field;
    private final String directory;

    VolumeKind(String field, String directory) {
        this.field = field;
        this.directory = directory;
    }

    /** Its field in an entry of {@code spec.volumes}. */
    public String field() {
        return field;
    }

    /** The kubelet's directory for volumes of this kind, below the pod's {@code volumes}. */
    public String directory() {
        return directory;
    }

    /** The kind of an entry of {@code spec.volumes}; empty if this agent cannot prepare it. */
    public static Optional<VolumeKind> of(JsonObject volume) {
        return Arrays.stream(values()).filter(kind -> volume.has(kind.field)).findFirst();
    }

    /** The field that names the kind of any volume; {@code (none)} without one. */
    public static String name(JsonObject volume) {
        return volume.fields().keySet().stream()
                .filter(field -> !field.equals("name"))
                .findFirst()
                .orElse("(none)");
    }
}
