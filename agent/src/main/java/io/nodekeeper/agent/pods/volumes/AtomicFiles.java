package io.nodekeeper.agent.pods.volumes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * Replaces the files of a volume all at once, in the kubelet's layout: a directory {@code ..TIME} holds them, the link {@code
 * ..data} names it, and a link for each file or directory of the volume leads through {@code ..data}. An update makes a new
 * directory and renames a new link over {@code ..data}: a container sees all old or all new files. Whatever an ended agent
 * left half done is completed or removed by the next call. All methods block. Not thread-safe for one volume.
 */
final class AtomicFiles {
    private static final String DATA = "..data";
    private static final String NEW_DATA = "..data_tmp";
    private static final DateTimeFormatter NAME =
            DateTimeFormatter.ofPattern("'..'yyyy_MM_dd_HH_mm_ss.nnnnnnnnn").withZone(ZoneOffset.UTC);

    private final Path volume;

    AtomicFiles(Path volume) {
        this.volume = volume;
    }

    /** Sets the owner and mode of a directory and all in it, before containers see it. */
    interface Rights {
        void apply(Path directory) throws IOException;
    }

    /** Makes {@code files} the content of the volume; false if they are already. */
    boolean write(SortedMap<String, FileContent> files, Instant now, Rights rights) throws IOException {
        boolean changed = !isCurrent(files);
        if (changed) {
            Path directory = newDirectory(now);
            try {
                for (Map.Entry<String, FileContent> file : files.entrySet()) {
                    write(directory.resolve(file.getKey()), file.getValue());
                }
                rights.apply(directory);
                Files.deleteIfExists(volume.resolve(NEW_DATA));
                Files.createSymbolicLink(volume.resolve(NEW_DATA), directory.getFileName());
                Files.move(volume.resolve(NEW_DATA), volume.resolve(DATA), StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException | RuntimeException e) {
                // It is tried again every some seconds: what is left each time would fill the disk, or the memory.
                removeTree(directory, e);
                throw e;
            }
        }
        link(files);
        return changed;
    }

    private boolean isCurrent(SortedMap<String, FileContent> files) throws IOException {
        Path data = volume.resolve(DATA);
        if (!Files.isSymbolicLink(data) || !Files.isDirectory(data)) {
            return false;
        }
        Path directory = data.toRealPath();
        Set<String> there;
        try (var tree = Files.walk(directory)) {
            there = tree.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                    .map(path -> directory.relativize(path).toString())
                    .collect(Collectors.toSet());
        }
        if (!there.equals(files.keySet())) {
            return false;
        }
        for (Map.Entry<String, FileContent> file : files.entrySet()) {
            Path path = directory.resolve(file.getKey());
            byte[] bytes = file.getValue().bytes();
            if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                // A container that may write here could have replaced it by a named pipe: opening that would block for
                // ever.
                return false;
            }
            try (InputStream in = Files.newInputStream(path)) {
                if (!Arrays.equals(in.readNBytes(bytes.length + 1), bytes)) {
                    return false;
                }
            }
        }
        return true;
    }

    private static void removeTree(Path directory, Exception why) {
        try {
            PodDirectories.removeTree(directory);
        } catch (IOException e) {
            why.addSuppressed(e);
        }
    }

    private Path newDirectory(Instant now) throws IOException {
        for (Instant at = now; ; at = at.plusNanos(1)) {
            Path directory = volume.resolve(NAME.format(at));
            try {
                Files.createDirectory(directory);
                PodDirectories.setMode(directory, 0755);
                return directory;
            } catch (FileAlreadyExistsException e) {
                // Left by an ended agent, or two updates at the same time of a coarse clock: the next name is free.
            }
        }
    }

    private static void write(Path file, FileContent content) throws IOException {
        List<Path> made = new ArrayList<>();
        for (Path parent = file.getParent(); parent != null && !Files.exists(parent); parent = parent.getParent()) {
            made.addFirst(parent);
        }
        for (Path directory : made) {
            Files.createDirectory(directory);
            PodDirectories.setMode(directory, 0755);
        }
        Files.createFile(file, PodDirectories.OWNER_ONLY);
        Files.write(file, content.bytes(), StandardOpenOption.WRITE);
        if (content.user().isPresent()) {
            Files.setAttribute(file, "unix:uid", (int) content.user().getAsLong(), LinkOption.NOFOLLOW_LINKS);
        }
        PodDirectories.setMode(file, content.mode());
    }

    /** Makes the links to what is there, and removes those to what is not, and old content. */
    private void link(SortedMap<String, FileContent> files) throws IOException {
        Set<String> names = new HashSet<>();
        files.keySet().forEach(path -> names.add(path.contains("/") ? path.substring(0, path.indexOf('/')) : path));
        String current = Files.readSymbolicLink(volume.resolve(DATA)).toString();
        for (String name : names) {
            if (!Files.isSymbolicLink(volume.resolve(name))) {
                Files.createSymbolicLink(volume.resolve(name), Path.of(DATA, name));
            }
        }
        try (DirectoryStream<Path> all = Files.newDirectoryStream(volume)) {
            for (Path path : all) {
                String name = path.getFileName().toString();
                if (!names.contains(name) && !name.equals(DATA) && !name.equals(current)) {
                    PodDirectories.removeTree(path);
                }
            }
        } catch (NoSuchFileException e) {
            throw new IOException("the volume's directory " + volume + " is gone", e);
        }
    }
}
