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
import java.util.Set;

/** The node's own part of persistent volumes: paths of the host, and the pod's group. */
final class PersistentPaths {
    private PersistentPaths() {}

    /**
     * Makes volumes available, and gives them to the pod's group. Blocks. The result is where each is, by the name that the pod
     * gives it.
     *
     * @param given the names of those that the group has already; further names are added, also after the deadline of the call
     * @throws VolumeException if a volume cannot be used
     */
    static Map<String, Path> of(Pod pod, List<PersistentVolumes.Prepared> volumes, PodFiles files, Set<String> given) {
        Map<String, Path> paths = new HashMap<>();
        for (PersistentVolumes.Prepared volume : volumes) {
            try {
                Path path = path(pod, volume, files);
                if (volume.givesGroup() && !given.contains(volume.name())) {
                    files.giveToGroup(pod, path);
                    given.add(volume.name());
                }
                paths.put(volume.name(), path);
            } catch (IOException e) {
                throw new VolumeException(volume.source().name(), String.valueOf(e.getMessage()), e);
            }
        }
        return paths;
    }

    /** Where volumes are that were mounted before, by the name that the pod gives them. Touches no disk. */
    static Map<String, Path> known(Pod pod, List<PersistentVolumes.Prepared> volumes, PodFiles files) {
        Map<String, Path> paths = new HashMap<>();
        for (PersistentVolumes.Prepared volume : volumes) {
            paths.put(
                    volume.name(),
                    switch (volume.source()) {
                        case PersistentSource.Csi csi -> volume.path().orElseThrow();
                        case PersistentSource.Host(String name, var source) -> Path.of(source.text("path"));
                        case PersistentSource.Local(String name, String path, boolean readOnly) ->
                            files.localPath(pod, name);
                    });
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
