package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.pods.volumes.VolumeNeed;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Optional;

/**
 * How the cluster uses a CSI driver: what its CSIDriver says, or Kubernetes' defaults without one. Immutable.
 *
 * @param known whether there is a CSIDriver
 * @param attachRequired whether its volumes are attached to nodes
 * @param podInfoOnMount whether it receives the pod's names
 * @param requiresRepublish whether it is called again while a pod runs
 * @param fsGroupPolicy {@code ReadWriteOnceWithFSType}, {@code File} or {@code None}
 * @param lifecycleModes {@code Persistent}, {@code Ephemeral} or both
 * @param tokens the tokens of the pod's service account that it gets
 */
record DriverPolicy(
        boolean known,
        boolean attachRequired,
        boolean podInfoOnMount,
        boolean requiresRepublish,
        String fsGroupPolicy,
        List<String> lifecycleModes,
        List<VolumeNeed.Token> tokens) {

    static DriverPolicy of(Optional<JsonObject> driver) {
        JsonObject spec = driver.map(object -> object.object("spec")).orElse(JsonObject.EMPTY);
        List<String> modes = spec.array("volumeLifecycleModes").strings().toList();
        String policy = spec.text("fsGroupPolicy");
        return new DriverPolicy(
                driver.isPresent(),
                !spec.has("attachRequired") || spec.bool("attachRequired"),
                spec.bool("podInfoOnMount"),
                spec.bool("requiresRepublish"),
                policy.isEmpty() ? "ReadWriteOnceWithFSType" : policy,
                modes.isEmpty() ? List.of("Persistent") : modes,
                spec.array("tokenRequests").objects().map(VolumeNeed::token).toList());
    }

    /** Whether the node gives the files of {@code volume} to the pod's group. */
    boolean givesGroup(CsiVolume volume) {
        return switch (fsGroupPolicy) {
            case "File" -> !volume.readOnly();
            case "None" -> false;
            default ->
                !volume.readOnly()
                        && !volume.fsType().isEmpty()
                        && (volume.accessModes().contains("ReadWriteOnce")
                                || volume.accessModes().contains("ReadWriteOncePod"));
        };
    }

    /** Why an inline or persistent volume cannot be of {@code driver}; empty if it can. */
    Optional<String> modeFault(CsiVolume volume) {
        String mode = volume.inline() ? "Ephemeral" : "Persistent";
        if (lifecycleModes.contains(mode)) {
            return Optional.empty();
        }
        return Optional.of("volume mode \"" + mode + "\" not supported by driver " + volume.driver()
                + (known ? " (only supports " + lifecycleModes + ")" : " (no CSIDriver object)"));
    }
}
