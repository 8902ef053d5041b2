package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.json.JsonObject;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** The kinds of volumes that this agent can prepare. */
public enum VolumeKind {
    /** A directory that lives as long as its pod. */
    EMPTY_DIR("emptyDir", "kubernetes.io~empty-dir"),
    /** A path of the host. */
    HOST_PATH("hostPath", "kubernetes.io~host-path"),
    /** Files with the values of a ConfigMap. */
    CONFIG_MAP("configMap", "kubernetes.io~configmap"),
    /** Files with the values of a Secret. */
    SECRET("secret", "kubernetes.io~secret"),
    /** Files with fields of the pod. */
    DOWNWARD_API("downwardAPI", "kubernetes.io~downward-api"),
    /** Files of several sources in one directory. */
    PROJECTED("projected", "kubernetes.io~projected"),
    /** A volume of the cluster that a claim is bound to. */
    PERSISTENT_VOLUME_CLAIM("persistentVolumeClaim", "kubernetes.io~csi"),
    /** The same with a claim that is made for the pod. */
    EPHEMERAL("ephemeral", "kubernetes.io~csi"),
    /** A volume of a CSI driver that lives as long as its pod. */
    CSI("csi", "kubernetes.io~csi");

    private static final Set<VolumeKind> FROM_API = EnumSet.of(CONFIG_MAP, SECRET, DOWNWARD_API, PROJECTED);

    private static final Set<VolumeKind> PERSISTENT = EnumSet.of(PERSISTENT_VOLUME_CLAIM, EPHEMERAL, CSI);

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

    /** The kubelet's directory for volumes of this kind (of persistent ones for those of CSI drivers), below the pod's {@code volumes}. */
    public String directory() {
        return directory;
    }

    /** Whether the node writes its files from objects of the API and keeps them up to date; containers only read them. */
    public boolean isFromApi() {
        return FROM_API.contains(this);
    }

    /** Whether something else than the pod says where its content is: a claim, or a driver. */
    public boolean isPersistent() {
        return PERSISTENT.contains(this);
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
