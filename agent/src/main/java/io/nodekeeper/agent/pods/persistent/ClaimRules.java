package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.PersistentVolumeSources;
import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;

/** Decides whether a pod may use a claim and its volume, with a kubelet's messages. Pure. */
final class ClaimRules {
    private ClaimRules() {}

    /** The name of the claim that a volume of {@code pod} uses; of a generic ephemeral volume that of both. */
    static String claimName(Pod pod, JsonObject volume) {
        return volume.has("ephemeral")
                ? pod.name() + "-" + volume.text("name")
                : volume.object("persistentVolumeClaim").text("claimName");
    }

    /**
     * The name of the volume that {@code claim} is bound to.
     *
     * @throws PersistentException if the pod cannot use the claim
     */
    static String boundVolume(Pod pod, JsonObject volume, Optional<JsonObject> claim) {
        String name = claimName(pod, volume);
        String full = pod.namespace() + "/" + name;
        JsonObject found = claim.orElseThrow(() -> failed(
                volume,
                full,
                "failed to fetch PVC from API server: persistentvolumeclaims \"" + name + "\" not found"));
        if (volume.has("ephemeral") && !isOwner(pod, found)) {
            throw failed(
                    volume, full, "PVC " + full + " was not created for pod " + pod.fullName() + " (pod is not owner)");
        }
        if (found.object("metadata").has("deletionTimestamp")) {
            throw failed(volume, full, "PVC is being deleted");
        }
        String bound = found.object("spec").text("volumeName");
        if (bound.isEmpty() || !found.object("status").text("phase").equals("Bound")) {
            throw failed(volume, full, "PVC is not bound");
        }
        return bound;
    }

    /**
     * The source of the volume.
     *
     * @throws PersistentException if it is not the claim's, or not one that this agent can mount
     */
    static PersistentSource source(Pod pod, JsonObject volume, JsonObject claim, Optional<JsonObject> found) {
        String full = pod.namespace() + "/" + claimName(pod, volume);
        String name = claim.object("spec").text("volumeName");
        JsonObject persistent = found.orElseThrow(() -> failed(
                volume,
                full,
                "failed to fetch PV " + name + " from API server: persistentvolumes \"" + name + "\" not found"));
        JsonObject spec = persistent.object("spec");
        if (!spec.has("claimRef")) {
            throw failed(
                    volume,
                    full,
                    "found PV object " + name
                            + " but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim");
        }
        String uid = claim.object("metadata").text("uid");
        String reference = spec.object("claimRef").text("uid");
        if (!uid.equals(reference)) {
            throw failed(
                    volume,
                    full,
                    "found PV object " + name + " but its pv.Spec.ClaimRef.UID " + reference
                            + " does not point to claim.UID " + uid);
        }
        String mode = spec.text("volumeMode");
        if (!mode.isEmpty() && !mode.equals("Filesystem")) {
            throw failed(
                    volume,
                    full,
                    "volume " + volume.text("name") + " has volumeMode " + mode + ", but is specified in volumeMounts");
        }
        boolean readOnly = volume.object("persistentVolumeClaim").bool("readOnly");
        if (spec.has("csi")) {
            return new PersistentSource.Csi(CsiVolume.of(persistent, readOnly));
        }
        if (spec.has("hostPath")) {
            return new PersistentSource.Host(name, spec.object("hostPath"));
        }
        if (spec.has("local")) {
            return new PersistentSource.Local(name, spec.object("local").text("path"), readOnly);
        }
        String other =
                PersistentVolumeSources.of(spec).keySet().stream().findFirst().orElse("(none)");
        throw failed(volume, full, "PV " + name + ": spec." + other + " is not supported by this node's agent");
    }

    private static boolean isOwner(Pod pod, JsonObject claim) {
        return claim.object("metadata")
                .array("ownerReferences")
                .objects()
                .anyMatch(owner -> owner.bool("controller") && owner.text("uid").equals(pod.uid()));
    }

    private static PersistentException failed(JsonObject volume, String claim, String why) {
        return unprocessed(volume.text("name"), "error processing PVC " + claim + ": " + why);
    }

    /** What a kubelet says of a volume that it cannot even look up. */
    static PersistentException unprocessed(String volume, String why) {
        return new PersistentException("Unable to attach or mount volumes: unmounted volumes=[" + volume
                + "], unattached volumes=[], failed to process volumes=[" + volume + "]: " + why);
    }
}
