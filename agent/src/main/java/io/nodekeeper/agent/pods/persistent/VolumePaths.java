package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where CSI volumes are on this node, in a kubelet's layout, and the file beside each that says what it is: the agent's only memory
 * of mounts. Methods that read or write block; none touches what is mounted, which may hang. Those that look for volumes fail if a
 * file cannot be read: one that is overlooked would be unmounted from the node under a pod, or without its driver.
 */
final class VolumePaths {
    private static final Logger log = LoggerFactory.getLogger(VolumePaths.class);
    private static final String DATA = "vol_data.json";
    private static final String PODS = "kubernetes.io~csi";
    /** The most such files that are read. A node has 110 pods with a few volumes each. */
    private static final int MOST = 10_000;
    /** The most bytes of one; they have some hundred. */
    private static final int MOST_BYTES = 64 << 10;

    private static final FileAttribute<Set<PosixFilePermission>> MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---"));

    private final Path pods;
    private final Path staged;
    private final Path mountTable;

    /** Paths below {@code rootDir}; {@code mountTable} is the kernel's, {@code /proc/self/mountinfo}. */
    VolumePaths(Path rootDir, Path mountTable) {
        this.mountTable = mountTable;
        pods = rootDir.resolve("pods");
        staged = rootDir.resolve("plugins/kubernetes.io/csi");
    }

    /**
     * A volume of which the disk says that it is, or may be, mounted.
     *
     * @param uid of its pod; empty if it is mounted for all pods
     * @param path where it is mounted
     */
    record Found(String uid, String name, String driver, String handle, Path path) {}

    /** Where all pods of the node share a volume. */
    Path global(CsiVolume volume) {
        return staged.resolve(component(volume.driver()))
                .resolve(CsiVolume.sha256(volume.handle()))
                .resolve("globalmount");
    }

    /** Where a pod has a volume. */
    Path target(String uid, CsiVolume volume) {
        return pods.resolve(component(uid))
                .resolve("volumes")
                .resolve(PODS)
                .resolve(component(volume.name()))
                .resolve("mount");
    }

    /**
     * Makes the directory in which a volume is staged, and writes what it is. The volume may be mounted there already, and not
     * answer: of a directory that exists nothing is asked.
     */
    void prepareGlobal(CsiVolume volume) throws IOException {
        Path path = global(volume);
        directories(path.resolveSibling(""));
        try {
            Files.createDirectory(path, MODE);
        } catch (FileAlreadyExistsException e) {
            log.debug("{} is there already", path);
        }
        write(
                path.resolveSibling(DATA),
                JsonObject.builder()
                        .put("driverName", volume.driver())
                        .put("volumeHandle", volume.handle())
                        .build());
    }

    /** Makes the directory for the pod's mount point, which the driver makes, and writes what it will be. */
    void prepareTarget(String uid, CsiVolume volume, String node) throws IOException {
        Path path = target(uid, volume);
        directories(path.resolveSibling(""));
        write(
                path.resolveSibling(DATA),
                JsonObject.builder()
                        .put("attachmentID", volume.attachment(node))
                        .put("driverName", volume.driver())
                        .put("nodeName", node)
                        .put("specVolID", volume.name())
                        .put("volumeHandle", volume.handle())
                        .put("volumeLifecycleMode", volume.inline() ? "Ephemeral" : "Persistent")
                        .build());
    }

    /** The volumes of the pod {@code uid} that may be mounted. */
    List<Found> ofPod(String uid) throws IOException {
        List<Found> found = new ArrayList<>();
        for (Path directory :
                children(pods.resolve(component(uid)).resolve("volumes").resolve(PODS))) {
            read(directory, uid, "mount").ifPresent(found::add);
        }
        return found;
    }

    /**
     * The volumes on the disk that may be mounted for pods or staged.
     *
     * @param fault why there may be others; empty if there are none
     */
    record Scan(List<Found> found, Optional<String> fault) {}

    /** Looks at the volumes of all pods and at those that may be staged. One that cannot be read is a fault and hides no other. */
    Scan scan() throws IOException {
        List<Found> found = new ArrayList<>();
        Optional<String> fault = Optional.empty();
        for (Path pod : children(pods)) {
            String uid = pod.getFileName().toString();
            for (Path volume : children(pod.resolve("volumes").resolve(PODS))) {
                Optional<String> last = add(found, volume, uid, "mount");
                fault = fault.isPresent() ? fault : last;
            }
        }
        for (Path driver : children(staged)) {
            for (Path volume : children(driver)) {
                Optional<String> last = add(found, volume, "", "globalmount");
                fault = fault.isPresent() ? fault : last;
            }
        }
        return new Scan(found, fault);
    }

    /** Adds the volume in {@code directory} to {@code found}, if there is one. Returns why it cannot be read. */
    private Optional<String> add(List<Found> found, Path directory, String uid, String mount) throws IOException {
        try {
            read(directory, uid, mount).ifPresent(found::add);
        } catch (IOException e) {
            return Optional.of(Failures.text(e));
        }
        bound(found);
        return Optional.empty();
    }

    /**
     * Removes the directory of a volume that was unstaged. {@link Files} would look at it first, which hangs if its driver was
     * wrong and a mount that does not answer is still there.
     */
    static void removeGlobal(Path path) throws IOException {
        if (!path.toFile().delete() && children(path.resolveSibling("")).contains(path)) {
            throw new IOException(path + " is not empty, or still mounted, though its driver has unstaged it");
        }
        Files.deleteIfExists(path.resolveSibling(DATA));
        Files.deleteIfExists(path.resolveSibling(""));
    }

    private static void bound(List<Found> found) throws IOException {
        if (found.size() > MOST) {
            throw new IOException("there are more than " + MOST + " volumes on the disk");
        }
    }

    /** The volume at {@code mount} in {@code directory}; empty if there is no file beside it, or a malformed one and no mount. */
    private Optional<Found> read(Path directory, String uid, String mount) throws IOException {
        Path file = directory.resolve(DATA);
        JsonObject data;
        try {
            if (!Files.readAttributes(directory, BasicFileAttributes.class).isDirectory()) {
                return Optional.empty();
            }
            data = data(file);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        String driver = data.text("driverName");
        String handle = data.text("volumeHandle");
        if (!driver.isEmpty() && !handle.isEmpty()) {
            String name = data.text("specVolID");
            return Optional.of(
                    new Found(uid, name.isEmpty() ? handle : name, driver, handle, directory.resolve(mount)));
        }
        if (isMounted(directory.toRealPath().resolve(mount))) {
            throw new IOException(file + " names no driver and volume, though one is mounted beside it");
        }
        log.warn("{} names no driver and volume; nothing is mounted beside it", file);
        return Optional.empty();
    }

    /** What {@code file} says; nothing if it is malformed, such as after a loss of power, with which mounts end, too. */
    private static JsonObject data(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            return Json.parseObject(new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8));
        } catch (JsonException e) {
            log.debug("{}: {}", file, e.getMessage());
            return JsonObject.EMPTY;
        }
    }

    private boolean isMounted(Path path) throws IOException {
        return MountTable.parse(KernelFile.lines(mountTable)).mounts().stream()
                .anyMatch(mount -> mount.point().equals(path.toString()));
    }

    private static void write(Path file, JsonObject data) throws IOException {
        Path next = file.resolveSibling(DATA + ".new");
        Files.writeString(next, Json.write(data));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void directories(Path path) throws IOException {
        Files.createDirectories(path, MODE);
    }

    private static List<Path> children(Path parent) throws IOException {
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(parent)) {
            stream.forEach(children::add);
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        }
        return children;
    }

    /** A name of the API that is used as that of a directory. */
    private static String component(String name) {
        if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('/') >= 0) {
            throw new IllegalArgumentException("expected a name that can be a directory, got \"" + name + "\"");
        }
        return name;
    }
}
