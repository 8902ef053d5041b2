package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.pods.containers.PodLabels;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures the logs of containers, which kubelets put into {@code NAMESPACE_POD_UID/CONTAINER} below one directory.
 * Immutable.
 *
 * @param directory usually {@code /var/log/pods}
 */
record LogFiles(Path directory) {
    /** The most files of a container: a kubelet keeps 5. */
    private static final int MOST_FILES = 1_000;

    /**
     * By id of a container: what its logs use; without the containers that have no directory of logs. Containers of the same name share
     * one, with the logs of all of them; it counts for the one that runs. Blocks.
     */
    Map<String, DiskUse> read(List<RunningPod> pods) throws IOException {
        Map<String, DiskUse> used = new HashMap<>();
        for (RunningPod pod : pods) {
            Path logs = PodLabels.logDirectory(directory, pod.namespace(), pod.name(), pod.uid());
            Map<String, String> ids = new HashMap<>();
            pod.ended().forEach(container -> ids.put(container.name(), container.id()));
            pod.containers().forEach(container -> ids.put(container.name(), container.id()));
            for (Map.Entry<String, String> container : ids.entrySet()) {
                Path own = logs.resolve(container.getKey()).normalize();
                // Names come from the runtime, which takes them from the API.
                if (own.startsWith(directory) && Files.isDirectory(own)) {
                    used.put(container.getValue(), use(own));
                }
            }
        }
        return used;
    }

    /** Files that are removed meanwhile do not count. */
    private static DiskUse use(Path logs) throws IOException {
        DiskUse sum = DiskUse.NONE;
        int count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(logs)) {
            for (Path file : files) {
                if (++count > MOST_FILES) {
                    throw new IOException(logs + " has more than " + MOST_FILES + " files, which is the limit");
                }
                try {
                    BasicFileAttributes log = Files.readAttributes(file, BasicFileAttributes.class);
                    sum = sum.plus(new DiskUse(log.size(), 1));
                } catch (NoSuchFileException e) {
                    // Rotated since the directory was listed.
                }
            }
        } catch (NoSuchFileException e) {
            return DiskUse.NONE;
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return sum;
    }
}
