package io.nodekeeper.agent.stats.cgroups;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the cgroups of containers and pods by the names of directories, without a question to the container runtime. It
 * knows the names that kubelets and runtimes give with the systemd driver and with the cgroupfs driver:
 * {@code cri-containerd-ID.scope}, {@code crio-ID.scope}, {@code crio-ID} and {@code ID} of a container, {@code kubepods-QOS-podUID.slice}
 * and {@code podUID} of a pod. Keeps what it found, and searches again if something is missing. Used by one thread at a
 * time.
 */
public final class CgroupIndex {
    /** The most directories of a search: a node with 500 containers has some 2,000. */
    static final int MOST_DIRECTORIES = 16_384;
    /** The deepest directory; that of a container is the fifth. */
    private static final int DEEPEST = 12;

    private static final String CRIO = "crio-";
    /** Of the process that watches a container of CRI-O; the container's id follows. */
    private static final String CONMON = "crio-conmon-";

    private final CgroupFiles files;
    /** Id of a container or UID of a pod → cgroup; only those of the last {@link #find}. */
    private Map<String, String> found = Map.of();

    /** An index of {@code files}. */
    public CgroupIndex(CgroupFiles files) {
        this.files = files;
    }

    /** The cgroups of containers and pods with these ids and UIDs; what has no cgroup is left out. */
    public Map<String, CgroupPaths> find(Set<String> wanted) throws IOException {
        boolean complete = wanted.stream()
                .allMatch(id -> Optional.ofNullable(found.get(id))
                        .filter(path -> Files.isDirectory(files.tree().resolve(path.substring(1))))
                        .isPresent());
        if (!complete) {
            found = search(wanted);
        }
        Map<String, CgroupPaths> paths = new HashMap<>();
        found.forEach((id, path) -> {
            if (wanted.contains(id)) {
                paths.put(id, CgroupPaths.everywhere(path));
            }
        });
        return paths;
    }

    private Map<String, String> search(Set<String> wanted) throws IOException {
        Map<String, String> hits = new HashMap<>();
        Path tree = files.tree();
        Deque<Path> open = new ArrayDeque<>();
        open.add(tree);
        int seen = 0;
        while (!open.isEmpty() && hits.size() < wanted.size()) {
            Path directory = open.poll();
            try (DirectoryStream<Path> children = Files.newDirectoryStream(directory, Files::isDirectory)) {
                for (Path child : children) {
                    if (++seen > MOST_DIRECTORIES) {
                        throw new IOException(tree + " has more than " + MOST_DIRECTORIES
                                + " cgroups, which is the limit of a search for the cgroups of pods");
                    }
                    String id = id(child.getFileName().toString());
                    if (wanted.contains(id)) {
                        hits.putIfAbsent(id, "/" + tree.relativize(child));
                    }
                    if (tree.relativize(child).getNameCount() < DEEPEST) {
                        open.add(child);
                    }
                }
            } catch (NoSuchFileException e) {
                // The cgroup ended since its parent was listed.
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
        }
        return hits;
    }

    /** The id of the container or the UID of the pod whose directory has that name; any text for other names. */
    static String id(String directory) {
        if (directory.startsWith(CONMON)) {
            return "";
        }
        if (directory.endsWith(".slice")) {
            int pod = directory.lastIndexOf("-pod");
            return pod < 0
                    ? ""
                    : directory
                            .substring(pod + "-pod".length(), directory.length() - ".slice".length())
                            .replace('_', '-');
        }
        if (directory.endsWith(".scope")) {
            String name = directory.substring(0, directory.length() - ".scope".length());
            return name.substring(name.lastIndexOf('-') + 1);
        }
        if (directory.startsWith(CRIO)) {
            return directory.substring(CRIO.length());
        }
        return directory.startsWith("pod") ? directory.substring("pod".length()) : directory;
    }
}
