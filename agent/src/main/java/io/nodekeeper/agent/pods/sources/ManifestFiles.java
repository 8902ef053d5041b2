package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.pods.model.Pod;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The manifests in a file, or in the files of a directory. As a kubelet it skips hidden files, directories, and what is not a
 * regular file, and takes a missing path as an empty one. The kernel tells it when something changes.
 */
final class ManifestFiles implements ManifestSource {
    private static final Logger log = LoggerFactory.getLogger(ManifestFiles.class);
    /** The most bytes of a manifest: the kubelet's limit. */
    static final int MOST_BYTES = 10 << 20;
    /** The most manifests. A node has some 10. */
    static final int MOST_FILES = 1_000;

    /** Only a file system that hangs takes longer, such as one whose server is gone. */
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final Path path;
    private final Reader reader;
    private Map<Path, Known> known = Map.of();
    private boolean tooMany;
    /** Both are empty until the directory could be watched. */
    private volatile Optional<WatchKey> watched = Optional.empty();

    private volatile Optional<WatchService> watches = Optional.empty();

    /** What was read from a file: the last pod that was right, and what is wrong now. */
    private record Known(Optional<Pod> pod, String fault) {}

    /** Makes a pod of the text of a file. */
    interface Reader {
        Pod pod(Path file, byte[] text) throws Manifest.Fault;
    }

    /** The manifests of {@code node} in {@code path}. */
    ManifestFiles(Path path, String node) {
        this(path, (file, text) -> new Manifest(node, "file", file.toString()).pod(text));
    }

    /** The manifests in {@code path}, which {@code reader} understands. */
    ManifestFiles(Path path, Reader reader) {
        this.path = path;
        this.reader = reader;
    }

    @Override
    public String name() {
        return path.toString();
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public boolean changed() {
        return watched.filter(key -> !key.pollEvents().isEmpty() | !key.reset()).isPresent();
    }

    @Override
    public List<Pod> read() throws IOException {
        // First, so that no change is missed between the two.
        watch();
        Map<Path, Known> found = new LinkedHashMap<>();
        for (Path file : files()) {
            found.put(file, read(file, Optional.ofNullable(known.get(file))));
        }
        known = found;
        return known.values().stream().flatMap(file -> file.pod().stream()).toList();
    }

    private List<Path> files() throws IOException {
        // Only a path that is certainly missing is like an empty one: an error must not end the pods.
        try {
            if (!Files.readAttributes(path, BasicFileAttributes.class).isDirectory()) {
                return List.of(path);
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        List<Path> files;
        try (Stream<Path> entries = Files.list(path)) {
            files = entries.filter(file -> !file.getFileName().toString().startsWith("."))
                    .filter(file -> !isOther(file))
                    .limit(MOST_FILES + 1L)
                    .sorted()
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        boolean more = files.size() > MOST_FILES;
        if (more && !tooMany) {
            log.warn("{} has more than {} manifests; the others are ignored", path, MOST_FILES);
        }
        tooMany = more;
        return more ? files.subList(0, MOST_FILES) : files;
    }

    /** Whether it is certainly no regular file. */
    private static boolean isOther(Path file) {
        try {
            return !Files.readAttributes(file, BasicFileAttributes.class).isRegularFile();
        } catch (NoSuchFileException e) {
            return true;
        } catch (IOException e) {
            // The read names the error.
            return false;
        }
    }

    private Known read(Path file, Optional<Known> before) {
        String fault;
        try {
            return new Known(Optional.of(reader.pod(file, bytes(file))), "");
        } catch (Manifest.Fault e) {
            fault = String.valueOf(e.getMessage());
        } catch (IOException | RuntimeException | StackOverflowError e) {
            // Whatever is wrong with one file, the pods of the others run.
            fault = e.toString();
        }
        Optional<Pod> last = before.flatMap(Known::pod);
        if (before.filter(known -> known.fault().equals(fault)).isEmpty()) {
            log.warn(
                    "Manifest {} is ignored{}: {}",
                    file,
                    last.map(pod -> "; pod " + pod.fullName() + " stays as it was")
                            .orElse(""),
                    fault);
        }
        return new Known(last, fault);
    }

    private static byte[] bytes(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException("expected a regular file");
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw new IOException("has more than " + MOST_BYTES + " bytes, which is the limit");
            }
            return bytes;
        }
    }

    /** Watches the directory, or that of the file, unless it is watched already. */
    private void watch() {
        Path directory = Files.isDirectory(path) ? path : path.toAbsolutePath().getParent();
        boolean same = watched.filter(key -> key.isValid() && key.watchable().equals(directory))
                .isPresent();
        if (same || directory == null || !Files.isDirectory(directory)) {
            return;
        }
        watched.ifPresent(WatchKey::cancel);
        try {
            if (watches.isEmpty()) {
                watches = Optional.of(directory.getFileSystem().newWatchService());
            }
            watched = Optional.of(directory.register(
                    watches.orElseThrow(),
                    StandardWatchEventKinds.ENTRY_CREATE,
                    StandardWatchEventKinds.ENTRY_MODIFY,
                    StandardWatchEventKinds.ENTRY_DELETE));
        } catch (IOException | ClosedWatchServiceException e) {
            // Such as too many watches: changes are seen by the next regular look.
            log.info("{} cannot be watched, and is read at intervals only: {}", directory, e.toString());
        }
    }

    @Override
    public void close() {
        watches.ifPresent(service -> {
            try {
                service.close();
            } catch (IOException e) {
                log.debug("Watch of {}: {}", path, e.toString());
            }
        });
    }
}
