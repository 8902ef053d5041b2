package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.VolumeKind;
import io.nodekeeper.agent.pods.mounts.Mounts;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files of pods, in the kubelet's layout: {@code ROOT/pods/UID} with {@code volumes}, {@code volume-subpaths} and {@code
 * etc-hosts}, and the pods' logs. Secrets and tokens are only written to file systems in memory. All methods block on the disk.
 * Thread-safe for different pods: it has no state of its own.
 */
public final class PodFiles {
    private static final int OPEN_DIRECTORY = 0777;
    private static final int PRIVATE_DIRECTORY = 0750;
    /** Directory and set-group-id: files in it get its group. */
    private static final int SET_GROUP = 02770;

    /** The size of a volume in memory: its old and its new content, and a page for the link to each of its files. */
    private static final long MEMORY_VOLUME = 3L * VolumeContents.MOST_VOLUME_BYTES;

    /** The directory with a pod's logs: namespace, name and UID. */
    private static final Pattern LOGS = Pattern.compile("[-a-z0-9]+_[-.a-z0-9]+_([-0-9a-zA-Z]+)");

    private final Path pods;
    private final Path logs;
    private final Mounts mounts;

    /** The files below {@code root}, the agent's root directory, and {@code logs}. */
    public PodFiles(Path root, Path logs, Mounts mounts) {
        this.pods = root.resolve("pods");
        this.logs = logs;
        this.mounts = mounts;
    }

    /**
     * What the volumes of a pod are made from. Immutable.
     *
     * @param files of each volume from the API, by its name and their paths
     * @param allocatable the bytes of memory that the node's pods may use; 0 if not known
     * @param now for the name of the directory that holds new files
     */
    public record Contents(Map<String, SortedMap<String, FileContent>> files, long allocatable, Instant now) {}

    /**
     * Makes the directories of {@code pod}, and the volumes that are the node's own; keeps what is there. Does not touch paths of the
     * host, or persistent volumes.
     *
     * @throws VolumeException if a volume cannot be made
     */
    public void prepare(Pod pod, Contents contents) throws IOException {
        PodDirectories.makeOwn(directory(pod.uid()), PRIVATE_DIRECTORY);
        for (JsonObject volume : pod.spec().array("volumes").objects().toList()) {
            Optional<VolumeKind> kind = VolumeKind.of(volume);
            String name = volume.text("name");
            if (kind.isEmpty()) {
                throw new VolumeException(name, "kind " + VolumeKind.name(volume) + " is not supported");
            }
            checkGoesOn(pod);
            try {
                switch (kind.get()) {
                    case EMPTY_DIR -> emptyDir(pod, name, volume.object("emptyDir"), contents.allocatable());
                    case CONFIG_MAP, SECRET, DOWNWARD_API, PROJECTED -> fromApi(pod, name, kind.get(), contents);
                    case HOST_PATH, PERSISTENT_VOLUME_CLAIM, EPHEMERAL, CSI -> {}
                }
            } catch (IOException | IllegalArgumentException e) {
                throw new VolumeException(name, String.valueOf(e.getMessage()), e);
            }
        }
    }

    /**
     * Checks the {@code hostPath} volumes of {@code pod} against their types, and makes what is to be made there.
     *
     * @throws VolumeException if one is not of its type
     */
    public void checkHostPaths(Pod pod) throws IOException {
        for (JsonObject volume : pod.spec().array("volumes").objects().toList()) {
            checkGoesOn(pod);
            if (volume.has("hostPath")) {
                try {
                    HostPaths.check(volume.object("hostPath"));
                } catch (IOException e) {
                    throw new VolumeException(volume.text("name"), String.valueOf(e.getMessage()), e);
                }
            }
        }
    }

    /**
     * Brings the files of the volumes that {@code contents} has up to date; the other volumes are not touched.
     *
     * @throws VolumeException if a volume cannot be written; the others are
     */
    public void update(Pod pod, Contents contents) {
        List<VolumeException> errors = new ArrayList<>();
        pod.spec()
                .array("volumes")
                .objects()
                .forEach(volume -> VolumeKind.of(volume)
                        .filter(kind -> kind.isFromApi() && contents.files().containsKey(volume.text("name")))
                        .ifPresent(kind -> {
                            try {
                                checkGoesOn(pod);
                                fromApi(pod, volume.text("name"), kind, contents);
                            } catch (IOException e) {
                                errors.add(new VolumeException(volume.text("name"), String.valueOf(e.getMessage()), e));
                            }
                        }));
        if (!errors.isEmpty()) {
            throw errors.getFirst();
        }
    }

    /**
     * The path of each volume of {@code pod} that is not persistent, by its name. One that cannot have a path is left out: its preparation
     * says why.
     */
    public Map<String, Path> volumes(Pod pod) {
        Map<String, Path> paths = new HashMap<>();
        pod.spec()
                .array("volumes")
                .objects()
                .forEach(volume -> VolumeKind.of(volume)
                        .filter(kind -> !kind.isPersistent())
                        .flatMap(kind -> path(pod, kind, volume))
                        .ifPresent(path -> paths.put(volume.text("name"), path)));
        return paths;
    }

    private Optional<Path> path(Pod pod, VolumeKind kind, JsonObject volume) {
        try {
            return Optional.of(
                    kind == VolumeKind.HOST_PATH
                            ? HostPaths.path(volume.object("hostPath").text("path"))
                            : volume(pod.uid(), kind, volume.text("name")));
        } catch (IOException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * Makes a part of a volume available for a container; the result is the path to mount. What is there of an earlier
     * container is replaced.
     *
     * @param source where the volume is
     * @param mount the number of the mount in the container
     * @param inside the relative path in the volume
     * @throws IOException if it leads out of the volume
     */
    public Path subPath(Pod pod, String volume, Path source, String container, int mount, String inside)
            throws IOException {
        Path target = directory(pod.uid())
                .resolve("volume-subpaths")
                .resolve(component(volume))
                .resolve(component(container))
                .resolve(Integer.toString(mount));
        mounts.part(source, inside, target);
        return target;
    }

    /** Unmounts the parts of volumes, so that the volumes themselves can be unmounted. */
    public void removeParts(String uid) throws IOException {
        mounts.unmountBelow(directory(uid).resolve("volume-subpaths"));
    }

    /**
     * Checks the {@code hostPath} of a PersistentVolume against its type; the result is its path.
     *
     * @throws IOException if it is not of that type
     */
    public Path hostPath(JsonObject source) throws IOException {
        HostPaths.check(source);
        return HostPaths.path(source.text("path"));
    }

    /**
     * Checks the directory {@code source} of a {@code local} PersistentVolume; the result is its path.
     *
     * @throws IOException if it is none
     */
    public Path localDirectory(String source) throws IOException {
        Path path = HostPaths.path(source);
        if (!Files.isDirectory(path)) {
            throw new IOException("path \"" + source + "\" does not exist or is not a directory");
        }
        return path;
    }

    /** Makes the directory {@code source} of a {@code local} PersistentVolume available for a pod; the result is where. */
    public Path local(Pod pod, String volume, String source) throws IOException {
        Path target = localPath(pod, volume);
        mounts.part(localDirectory(source), ".", target);
        return target;
    }

    /** Where {@link #local} makes a volume available. */
    public Path localPath(Pod pod, String volume) {
        return directory(pod.uid())
                .resolve("volumes")
                .resolve("kubernetes.io~local-volume")
                .resolve(component(volume));
    }

    /** Gives a volume to the pod's group, if it has one, as a kubelet does for volumes that pods write. */
    public void giveToGroup(Pod pod, Path volume) throws IOException {
        Optional<Long> group = group(pod);
        if (group.isPresent()) {
            checkGoesOn(pod);
            boolean onlyIfNeeded = pod.spec()
                    .object("securityContext")
                    .text("fsGroupChangePolicy")
                    .equals("OnRootMismatch");
            if (!onlyIfNeeded || !PodDirectories.isGiven(volume, group.get())) {
                PodDirectories.give(volume, group.get(), false);
            }
        }
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

    /** Where a container writes why it ended. */
    public Path terminationLog(String uid, String container, int attempt) {
        return directory(uid)
                .resolve("containers")
                .resolve(component(container))
                .resolve(attempt + ".termination");
    }

    /** Makes an empty file in which attempt number {@code attempt} of a container, of any user, can write why it ended. */
    public void makeTerminationLog(String uid, String container, int attempt) throws IOException {
        Path log = terminationLog(uid, container, attempt);
        PodDirectories.makeOwn(log.resolveSibling(""), PRIVATE_DIRECTORY);
        // Whatever an attempt of that number left.
        Files.deleteIfExists(log);
        Files.createFile(log);
        Files.setPosixFilePermissions(log, PosixFilePermissions.fromString("rw-rw-rw-"));
    }

    /** Makes the link by which collectors of logs find that of a container, if it has one. */
    public void linkLog(Pod pod, String container, int attempt, String id) throws IOException {
        ContainerLogs.link(logs, pod, container, attempt, id);
    }

    /** Removes what is left of an attempt of a container: its logs, their link, and why it ended. */
    public void removeContainer(Pod pod, String container, int attempt, String id) throws IOException {
        ContainerLogs.remove(logs, pod, container, attempt, id);
        Files.deleteIfExists(terminationLog(pod.uid(), container, attempt));
    }

    /** Removes the volumes of a pod that has ended. Its logs stay, and what its containers wrote about their ends. */
    public void removeVolumes(String uid) throws IOException {
        mounts.unmountBelow(directory(uid));
        PodDirectories.removeTree(directory(uid).resolve("volume-subpaths"));
        PodDirectories.removeTree(directory(uid).resolve("volumes"));
    }

    /** Removes everything of a pod; content of hostPath volumes stays, because nothing is removed below a mount. */
    public void remove(String uid) throws IOException {
        mounts.unmountBelow(directory(uid));
        PodDirectories.removeTree(directory(uid));
        PodDirectories.removeTree(PodDirectories.unfinished(directory(uid)));
        for (Path directory : PodDirectories.children(logs)) {
            if (directory.getFileName().toString().endsWith("_" + uid)) {
                PodDirectories.removeTree(directory);
                ContainerLogs.removeLinks(directory);
            }
        }
    }

    /** The UIDs of the pods that have a directory, or one for logs. */
    public List<String> uids() throws IOException {
        Set<String> uids = new LinkedHashSet<>();
        PodDirectories.children(pods)
                .forEach(path ->
                        uids.add(PodDirectories.finalName(path.getFileName().toString())));
        PodDirectories.children(logs).forEach(path -> {
            Matcher name = LOGS.matcher(path.getFileName().toString());
            if (name.matches()) {
                uids.add(name.group(1));
            }
        });
        return List.copyOf(uids);
    }

    /** Work that hung until it was given up must not make files of a pod that is removed meanwhile. */
    private static void checkGoesOn(Pod pod) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("volumes of " + pod.fullName() + ": given up");
        }
    }

    private void emptyDir(Pod pod, String name, JsonObject source, long allocatable) throws IOException {
        Path path = volume(pod.uid(), VolumeKind.EMPTY_DIR, name);
        PodDirectories.make(path, OPEN_DIRECTORY);
        String medium = source.text("medium");
        if (medium.equals("Memory")) {
            mounts.memory(path, MemorySizes.of(pod, source, allocatable));
        } else if (!medium.isEmpty()) {
            mounts.hugePages(path, HugePageMedium.bytes(pod, medium), MemorySizes.limit(source));
        }
        Optional<Long> group = group(pod);
        if (group.isPresent()) {
            Files.setAttribute(path, "unix:gid", group.get().intValue(), LinkOption.NOFOLLOW_LINKS);
            int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777;
            PodDirectories.setMode(path, mode | SET_GROUP);
        }
    }

    private void fromApi(Pod pod, String name, VolumeKind kind, Contents contents) throws IOException {
        SortedMap<String, FileContent> files = contents.files().get(name);
        if (files == null) {
            throw new IOException("its content was not read");
        }
        Path path = volume(pod.uid(), kind, name);
        if (kind == VolumeKind.CONFIG_MAP) {
            PodDirectories.makeOwn(path, OPEN_DIRECTORY);
        } else {
            PodDirectories.make(path, OPEN_DIRECTORY);
            mounts.memory(path, MEMORY_VOLUME);
        }
        Optional<Long> group = group(pod);
        boolean changed = new AtomicFiles(path).write(files, contents.now(), directory -> {
            if (group.isPresent()) {
                PodDirectories.give(directory, group.get(), true);
            }
        });
        if (changed && group.isPresent()) {
            Files.setAttribute(path, "unix:gid", group.get().intValue(), LinkOption.NOFOLLOW_LINKS);
        }
    }

    private static Optional<Long> group(Pod pod) {
        return pod.spec().object("securityContext").number("fsGroup");
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
        return directory(uid).resolve("volumes").resolve(kind.directory()).resolve(component(name));
    }

    /** A name of the API that is used as that of a directory. */
    private static String component(String name) {
        if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('/') >= 0) {
            throw new IllegalArgumentException("expected the name of a volume or container, got \"" + name + "\"");
        }
        return name;
    }
}
