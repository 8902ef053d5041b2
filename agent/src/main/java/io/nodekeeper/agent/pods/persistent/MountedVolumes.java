package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.VolumeKind;
import io.nodekeeper.agent.stats.MountedVolume;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The volumes of a pod as statistics measure them: all but paths of the host, of which no pod owns what is there. Pure. */
public final class MountedVolumes {
    private MountedVolumes() {}

    /** The volumes of {@code pod} whose names are in {@code paths}. */
    public static List<MountedVolume> of(Pod pod, Map<String, Path> paths) {
        List<MountedVolume> mounted = new ArrayList<>();
        for (JsonObject volume : pod.spec().array("volumes").objects().toList()) {
            Optional<VolumeKind> kind = VolumeKind.of(volume).filter(found -> found != VolumeKind.HOST_PATH);
            Optional<Path> path = Optional.ofNullable(paths.get(volume.text("name")));
            if (kind.isPresent() && path.isPresent()) {
                mounted.add(new MountedVolume(
                        pod.namespace(),
                        pod.name(),
                        pod.uid(),
                        volume.text("name"),
                        path.get(),
                        Optional.of(ClaimRules.claimName(pod, volume)).filter(claim -> !claim.isEmpty()),
                        !kind.get().isPersistent()));
            }
        }
        return mounted;
    }
}
