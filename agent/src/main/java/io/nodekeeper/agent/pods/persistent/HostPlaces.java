package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/** The places outside of a pod's directory that the agent itself looks at for its volumes, and that may hang. Pure. */
public final class HostPlaces {
    private final PodFiles files;
    private final Map<String, Callable<Boolean>> looks = new TreeMap<>();

    private HostPlaces(PodFiles files) {
        this.files = files;
    }

    /**
     * Those of {@code pod}, whose persistent volumes are {@code mounted}: by a name that all pods have for the same place, what looks
     * at it as the preparation of the volume does. It blocks, and finds whether the place is as it should be.
     */
    public static Map<String, Callable<Boolean>> of(Pod pod, List<PersistentVolumes.Prepared> mounted, PodFiles files) {
        HostPlaces places = new HostPlaces(files);
        pod.spec()
                .array("volumes")
                .objects()
                .filter(volume -> volume.has("hostPath"))
                .forEach(volume -> places.add(volume.object("hostPath")));
        for (PersistentVolumes.Prepared volume : mounted) {
            switch (volume.source()) {
                case PersistentSource.Host(String name, JsonObject source) -> places.add(source);
                case PersistentSource.Local(String name, String path, boolean readOnly) ->
                    places.add("local path " + path, () -> files.localDirectory(path));
                case PersistentSource.Csi(CsiVolume csi) -> {
                    // Of others the agent does not touch the content. One in the pod's spec is the pod's alone.
                    if (volume.givesGroup() && !csi.inline()) {
                        volume.path()
                                .ifPresent(path -> places.looks.put("volume " + csi.name(), () -> Files.exists(path)));
                    }
                }
            }
        }
        return places.looks;
    }

    /** A path without a type is not looked at. */
    private void add(JsonObject source) {
        String type = source.text("type");
        if (!type.isEmpty()) {
            add("host path " + source.text("path") + " of type " + type, () -> files.hostPath(source));
        }
    }

    /** What is wrong with it, the preparation of the volume says. */
    private void add(String place, Callable<Path> check) {
        looks.put(place, () -> {
            try {
                check.call();
                return true;
            } catch (IOException e) {
                return false;
            }
        });
    }
}
