package io.nodekeeper.agent.pods.cpus;

import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.agent.kernel.KernelFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** Which core and socket each processor of the machine belongs to, by its number. Immutable. */
public record CpuTopology(Map<Integer, Place> places) {
    /**
     * Where a processor is.
     *
     * @param socket the number of its package
     * @param core the number of its core in the socket; processors of one core are its threads
     */
    public record Place(int socket, int core) {}

    /** Keeps a copy, sorted. */
    public CpuTopology {
        places = Collections.unmodifiableMap(new TreeMap<>(places));
    }

    /**
     * Reads the kernel's files. Blocks.
     *
     * @param root {@code /}, or a copy of the kernel's files for tests
     * @throws IOException if they cannot be read, or do not contain numbers
     */
    public static CpuTopology read(Path root) throws IOException {
        Path directory = root.resolve("sys/devices/system/cpu");
        Map<Integer, Place> places = new TreeMap<>();
        try {
            for (int id :
                    CpuSet.parse(KernelFile.text(directory.resolve("online"))).ids()) {
                Path files = directory.resolve("cpu" + id).resolve("topology");
                places.put(id, new Place((int) KernelFile.number(files.resolve("physical_package_id")), (int)
                        KernelFile.number(files.resolve("core_id"))));
            }
        } catch (IllegalArgumentException e) {
            throw new IOException("the processors below " + directory + " cannot be read: " + e.getMessage(), e);
        }
        return new CpuTopology(places);
    }

    /** All processors. */
    CpuSet all() {
        return CpuSet.of(places.keySet());
    }
}
