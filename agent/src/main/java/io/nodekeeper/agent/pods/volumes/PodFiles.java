package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.VolumeKind;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The files of pods, in the kubelet's layout: {@code ROOT/pods/UID} with {@code volumes} and {@code etc-hosts}, and the
 * pods' logs. All methods block on the disk. Thread-safe: it has no state of its own.
 */
public final class PodFiles {
    private static final String OPEN_DIRECTORY = "rwxrwxrwx";
    private static final String PRIVATE_DIRECTORY = "rwxr-x---";
    /** Directory and set-group-id: files in it get its group. */
    private static final int SET_GROUP = 0_2777;

    private final Path pods;
    private final Path logs;

    /** The files below {@code root}, the agent's root directory, and {@code logs}. */
    public PodFiles(Path root, Path logs) {
        this.pods = root.resolve("pods");
        this.logs = logs;
    }

    /**
     * Makes the directories and volumes of {@code pod}; keeps what is there.
     *
     * @throws IOException if a volume cannot be made; the message names it
     */
    public void prepare(Pod pod) throws IOException {
        make(directory(pod.uid()), PRIVATE_DIRECTORY);
        for (JsonObject volume : pod.spec().array("volumes").objects().toList()) {
            Optional<VolumeKind> kind = VolumeKind.of(volume);
            String name = volume.text("name");
            if (kind.isEmpty()) {
                throw new IOException("volume \"" + name + "\": kind " + VolumeKind.name(volume) + " is not supported");
            }
            switch (kind.get()) {
                case EMPTY_DIR -> emptyDir(pod, name);
                case HOST_PATH -> HostPaths.check(name, volume.object("hostPath"));
            }
        }
    }

    /** The path of each volume of {@code pod}, by its name. */
    public Map<String, Path> volumes(Pod pod) {
        Map<String, Path> paths = new HashMap<>();
        pod.spec()
                .array("volumes")
                .objects()
                .forEach(volume -> VolumeKind.of(volume)
                        .ifPresent(kind -> paths.put(
                                volume.text("name"),
                                kind == VolumeKind.HOST_PATH
                                        ? Path.of(volume.object("hostPath").text("path"))
                                        : volume(pod.uid(), kind, volume.text("name")))));
        return paths;
    }

    /** Where the pod's {@code /etc/hosts} is. */
    public Path hosts(String uid) {
        return directory(uid).resolve("etc-hosts");
    }

    /** Writes the pod's {@code /etc/hosts}. */
    public void writeHosts(String uid, String text) throws IOException {
        Files.writeString(hosts(uid), text);
        Files.setPosixFilePermissions(hosts(uid), PosixFilePermissions.fromString("rw-r--r--"));
    }

    /** Removes the log of a container. */
    public void removeLog(Path log) throws IOException {
        Files.deleteIfExists(log);
    }

    /** Removes everything of a pod; content of hostPath volumes stays. */
    public void remove(String uid) throws IOException {
        removeTree(directory(uid));
        for (Path directory : children(logs)) {
            if (directory.getFileName().toString().endsWith("_" + uid)) {
                removeTree(directory);
            }
        }
    }

    /** The UIDs of the pods that have a directory. */
    public List<String> uids() throws IOException {
        List<String> uids = new ArrayList<>();
        children(pods).forEach(path -> uids.add(path.getFileName().toString()));
        return uids;
    }

    private void emptyDir(Pod pod, String name) throws IOException {
        Path path = volume(pod.uid(), VolumeKind.EMPTY_DIR, name);
        make(path, OPEN_DIRECTORY);
        Optional<Long> group = pod.spec().object("securityContext").number("fsGroup");
        if (group.isPresent()) {
            Files.setAttribute(path, "unix:gid", group.get().intValue(), LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(path, "unix:mode", SET_GROUP, LinkOption.NOFOLLOW_LINKS);
        }
    }

    private Path directory(String uid) {
        // The UID is the API's; a static pod's is a hash. Neither may lead out of the directory.
        Path directory = pods.resolve(uid).normalize();
        if (uid.isEmpty() || !pods.equals(directory.getParent())) {
            throw new IllegalArgumentException("a pod's UID must name a directory, got \"" + uid + "\"");
        }
        return directory;
    }

    private Path volume(String uid, VolumeKind kind, String name) {
        return directory(uid).resolve("volumes").resolve(kind.directory()).resolve(name);
    }

    private static void make(Path directory, String rights) throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory);
            // Afterwards, because the process has a umask.
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(rights));
        }
    }

    private static List<Path> children(Path parent) throws IOException {
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(parent)) {
            stream.forEach(children::add);
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return children;
    }

    /** Does not follow links, so nothing outside of the tree is removed. */
    private static void removeTree(Path tree) throws IOException {
        if (!Files.exists(tree, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException error) throws IOException {
                if (error != null) {
                    throw error;
                }
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
