package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.persistent.PersistentSource;
import io.nodekeeper.agent.pods.persistent.PersistentVolumes;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.agent.pods.volumes.VolumeException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Does the node's own part of persistent volumes: paths of the host, and the pod's group. Blocks. */
final class PersistentPaths {
    private PersistentPaths() {}

    /**
     * Where each volume is, by the name that the pod gives it.
     *
     * @throws VolumeException if a volume cannot be used
     */
    static Map<String, Path> of(Pod pod, List<PersistentVolumes.Prepared> volumes, PodFiles files) {
        Map<String, Path> paths = new HashMap<>();
        for (PersistentVolumes.Prepared volume : volumes) {
            try {
                Path path = path(pod, volume, files);
                if (volume.givesGroup()) {
                    files.giveToGroup(pod, path);
                }
                paths.put(volume.name(), path);
            } catch (IOException e) {
                throw new VolumeException(volume.source().name(), String.valueOf(e.getMessage()), e);
            }
        }
        return paths;
    }

    private static Path path(Pod pod, PersistentVolumes.Prepared volume, PodFiles files) throws IOException {
        return switch (volume.source()) {
            case PersistentSource.Csi csi -> volume.path().orElseThrow();
            case PersistentSource.Host(String name, var source) -> files.hostPath(source);
            case PersistentSource.Local(String name, String path, boolean readOnly) -> files.local(pod, name, path);
        };
    }
}
