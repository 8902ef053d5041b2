package io.nodekeeper.agent.stats;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A volume of a pod that the agent runs. Immutable.
 *
 * @param namespace of the pod
 * @param pod its name
 * @param uid its UID
 * @param name of the volume in the pod
 * @param path where it is on the node
 * @param claim the name of the PersistentVolumeClaim behind it
 * @param counted whether its files are counted if it is no file system of its own; else all that is used of its file system counts
 */
public record MountedVolume(
        String namespace, String pod, String uid, String name, Path path, Optional<String> claim, boolean counted) {

    /** As messages name it. */
    String text() {
        return namespace + "/" + pod + "/" + name;
    }
}
