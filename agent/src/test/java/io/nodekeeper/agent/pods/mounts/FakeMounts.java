package io.nodekeeper.agent.pods.mounts;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Remembers what would be mounted; the directories stay those of the disk. */
public final class FakeMounts implements Mounts {
    /** Sizes of file systems in memory, by their places. */
    public final Map<Path, Long> memory = new LinkedHashMap<>();
    /** Sizes of pages, and limits, of file systems of huge pages, by their places. */
    public final Map<Path, List<Long>> hugePages = new LinkedHashMap<>();
    /** Volume, path in it, and target of each part. */
    public final List<String> parts = new ArrayList<>();
    /** Whether nothing can be unmounted. */
    public boolean stuck;

    @Override
    public void memory(Path at, long bytes) {
        memory.putIfAbsent(at, bytes);
    }

    @Override
    public void hugePages(Path at, long pageBytes, long bytes) {
        hugePages.putIfAbsent(at, List.of(pageBytes, bytes));
    }

    @Override
    public void part(Path volume, String inside, Path target) {
        parts.add(volume + " " + inside + " " + target);
    }

    @Override
    public void unmountBelow(Path directory) throws IOException {
        if (stuck) {
            throw new IOException("1 mounts below " + directory + " remain");
        }
        memory.keySet().removeIf(path -> path.startsWith(directory));
        hugePages.keySet().removeIf(path -> path.startsWith(directory));
    }
}
