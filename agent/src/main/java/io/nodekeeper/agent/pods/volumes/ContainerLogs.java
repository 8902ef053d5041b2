package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.Pod;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The logs of containers and the links to them, which collectors of logs read: {@code POD_NAMESPACE_CONTAINER-ID.log} in the
 * directory {@code containers} beside that of the logs, a kubelet's {@code /var/log/containers}. All methods block on the disk.
 */
final class ContainerLogs {
    /** The longest name of a file. */
    private static final int MOST_NAME = 255;

    private static final String SUFFIX = ".log";

    private ContainerLogs() {}

    /** Links the log of a container that has one; a driver may write it elsewhere. */
    static void link(Path logs, Pod pod, String container, int attempt, String id) throws IOException {
        Path log = log(logs, pod, container, attempt);
        if (!Files.exists(log, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Path link = linkOf(logs, pod, container, id);
        Files.createDirectories(directory(logs));
        Files.deleteIfExists(link);
        Files.createSymbolicLink(link, log);
    }

    /** Removes the log, the rotated ones beside it, and the link. */
    static void remove(Path logs, Pod pod, String container, int attempt, String id) throws IOException {
        Files.deleteIfExists(linkOf(logs, pod, container, id));
        Path log = log(logs, pod, container, attempt);
        String name = log.getFileName() + ".";
        for (Path file : PodDirectories.children(log.resolveSibling(""))) {
            if (file.getFileName().toString().startsWith(name)) {
                Files.deleteIfExists(file);
            }
        }
        Files.deleteIfExists(log);
    }

    /** Removes all links into a pod's directory of logs, {@code NAMESPACE_NAME_UID}. */
    static void removeLinks(Path podLogs) throws IOException {
        String[] parts = podLogs.getFileName().toString().split("_", 3);
        Path directory = directory(podLogs.resolveSibling(""));
        if (parts.length < 3) {
            return;
        }
        String prefix = parts[1] + "_" + parts[0] + "_";
        try (DirectoryStream<Path> links = Files.newDirectoryStream(
                directory, path -> path.getFileName().toString().startsWith(prefix))) {
            for (Path link : links) {
                if (Files.isSymbolicLink(link) && Files.readSymbolicLink(link).startsWith(podLogs)) {
                    Files.deleteIfExists(link);
                }
            }
        } catch (NoSuchFileException e) {
            // No container of this node was linked.
            return;
        }
    }

    private static Path log(Path logs, Pod pod, String container, int attempt) {
        return PodLabels.logDirectory(logs, pod).resolve(PodLabels.logPath(container, attempt));
    }

    private static Path linkOf(Path logs, Pod pod, String container, String id) {
        String name = pod.name() + "_" + pod.namespace() + "_" + container + "-" + id;
        return directory(logs)
                .resolve(name.substring(0, Math.min(name.length(), MOST_NAME - SUFFIX.length())) + SUFFIX);
    }

    private static Path directory(Path logs) {
        return logs.resolveSibling("containers");
    }
}
