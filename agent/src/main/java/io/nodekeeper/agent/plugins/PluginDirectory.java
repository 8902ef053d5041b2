package io.nodekeeper.agent.plugins;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory in which plugins make their sockets, with its subdirectories. As a kubelet it ignores hidden names and what is not
 * a socket. The kernel tells it when something changes. Calls of {@link #scan} come one after another; they block.
 */
final class PluginDirectory {
    private static final Logger log = LoggerFactory.getLogger(PluginDirectory.class);
    /** How often the directory is read even if the kernel tells of no change, which is possible on some file systems. */
    static final Duration RESCAN = Duration.ofSeconds(10);
    /** The most sockets and the most directories. A node has some ten plugins. */
    static final int MOST = 100;
    /** S_IFMT and S_IFSOCK of stat(2). */
    private static final int TYPE = 0170000;

    private static final int SOCKET = 0140000;

    private final Path directory;
    private volatile Map<Path, WatchKey> watched = Map.of();
    private volatile @Nullable WatchService watches;
    private boolean tooMany;

    PluginDirectory(Path directory) {
        this.directory = directory;
    }

    /** Whether something has changed since the last {@link #scan}, as far as the kernel tells. Does not block. */
    boolean changed() {
        boolean any = false;
        for (WatchKey key : watched.values()) {
            boolean events = !key.pollEvents().isEmpty();
            boolean ended = !key.reset();
            any |= events || ended;
        }
        return any;
    }

    /**
     * The sockets that are there. A socket that was removed and made again has another generation.
     *
     * @return the generation of each socket, by its path
     * @throws IOException if the directory can be neither read nor made
     */
    Map<Path, String> scan() throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory);
            // The kubelet's mode; afterwards, because the process has a umask.
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-x---"));
        }
        Map<Path, String> sockets = new TreeMap<>();
        Map<Path, WatchKey> keys = new HashMap<>();
        walk(directory, sockets, keys);
        watched.forEach((path, key) -> {
            if (!keys.containsKey(path)) {
                key.cancel();
            }
        });
        watched = Map.copyOf(keys);
        return sockets;
    }

    /** Stops the watches of the kernel. */
    void close() {
        WatchService open = watches;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                log.debug("cannot end the watch of {}", directory, e);
            }
        }
    }

    private void walk(Path parent, Map<Path, String> sockets, Map<Path, WatchKey> keys) throws IOException {
        // First, so that no change is missed between the two.
        watch(parent, keys);
        try (DirectoryStream<Path> children = Files.newDirectoryStream(parent)) {
            for (Path child : children) {
                if (!child.getFileName().toString().startsWith(".")) {
                    take(child, sockets, keys);
                }
            }
        } catch (NoSuchFileException e) {
            log.debug("{} was removed meanwhile", parent, e);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private void take(Path child, Map<Path, String> sockets, Map<Path, WatchKey> keys) throws IOException {
        if (sockets.size() >= MOST || keys.size() >= MOST) {
            if (!tooMany) {
                log.warn("{} has more than {} sockets or directories; the others are ignored", directory, MOST);
            }
            tooMany = true;
            return;
        }
        try {
            int mode = (int) Files.getAttribute(child, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            if ((mode & TYPE) == SOCKET) {
                BasicFileAttributes file =
                        Files.readAttributes(child, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                sockets.put(child, file.fileKey() + " of " + file.creationTime());
            } else if (Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                walk(child, sockets, keys);
            }
        } catch (NoSuchFileException e) {
            log.debug("{} was removed meanwhile", child, e);
        }
    }

    /** Without a watch, changes are found by the next scan. */
    private void watch(Path path, Map<Path, WatchKey> keys) {
        WatchKey known = watched.get(path);
        if (known != null && known.isValid()) {
            keys.put(path, known);
            return;
        }
        try {
            WatchService service = watches;
            if (service == null) {
                service = path.getFileSystem().newWatchService();
                watches = service;
            }
            keys.put(
                    path,
                    path.register(service, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE));
        } catch (IOException | ClosedWatchServiceException e) {
            log.debug("{} cannot be watched; it is read every {}", path, RESCAN, e);
        }
    }
}
