package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.csi.StorageTypes;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Finds out what a pod's persistent volume is: its claim, the volume behind it, the driver's rules. Confined to its loop. */
final class Sources {
    private final ObjectCache objects;

    Sources(ObjectCache objects) {
        this.objects = objects;
    }

    /** The source of an entry of the pod's {@code spec.volumes}; fails with {@link PersistentException}. */
    CompletableFuture<PersistentSource> of(Pod pod, JsonObject volume, Duration age) {
        if (volume.has("csi")) {
            return CompletableFuture.completedFuture(
                    new PersistentSource.Csi(CsiVolume.inline(pod.uid(), pod.namespace(), volume)));
        }
        String name = ClaimRules.claimName(pod, volume);
        String about = "error processing PVC " + pod.namespace() + "/" + name + ": ";
        return read(
                        StorageTypes.CLAIMS,
                        pod.namespace(),
                        name,
                        age,
                        volume,
                        about + "failed to fetch PVC from API server: ")
                .thenCompose(claim -> {
                    String bound = ClaimRules.boundVolume(pod, volume, claim);
                    return read(
                                    StorageTypes.VOLUMES,
                                    "",
                                    bound,
                                    age,
                                    volume,
                                    about + "failed to fetch PV " + bound + " from API server: ")
                            .thenApply(found -> ClaimRules.source(pod, volume, claim.orElseThrow(), found));
                });
    }

    /** The rules of the driver of that name; fails if they cannot be read. */
    CompletableFuture<DriverPolicy> policy(String driver) {
        return objects.get(StorageTypes.CSI_DRIVERS, "", driver, ObjectCache.RECENT)
                .thenApply(DriverPolicy::of);
    }

    private CompletableFuture<Optional<JsonObject>> read(
            ResourceType type, String namespace, String name, Duration age, JsonObject volume, String why) {
        return objects.get(type, namespace, name, age)
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(
                        ClaimRules.unprocessed(volume.text("name"), why + Failures.text(error))));
    }
}
