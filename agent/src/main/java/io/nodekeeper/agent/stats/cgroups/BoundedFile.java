package io.nodekeeper.agent.stats.cgroups;

import io.nodekeeper.agent.kernel.KernelFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Reads small files of the kernel. All calls block. Stateless. */
public final class BoundedFile {
    /**
     * The most bytes of a file. {@code memory.stat} has 3 KiB, {@code /proc/stat} 30 KiB on a machine with 256 processors,
     * {@code /proc/net/dev} 130 bytes for each of some hundred interfaces.
     */
    public static final int LIMIT = 256 << 10;

    private BoundedFile() {}

    /**
     * The text of {@code file}; empty if there is no such file.
     *
     * @throws IOException if it cannot be read or has more than {@value #LIMIT} bytes; the message names the file
     */
    public static Optional<String> read(Path file) throws IOException {
        return read(file, named -> KernelFile.text(named, LIMIT));
    }

    /**
     * The first {@value #LIMIT} bytes of {@code file}, whose length a pod decides; empty if there is no such file.
     *
     * @throws IOException if it cannot be read; the message names the file
     */
    public static Optional<String> beginning(Path file) throws IOException {
        return read(file, named -> KernelFile.beginning(named, LIMIT));
    }

    private interface Reading {
        String of(Path file) throws IOException;
    }

    private static Optional<String> read(Path file, Reading reading) throws IOException {
        try {
            return Optional.of(reading.of(file));
        } catch (IOException e) {
            // A cgroup can also end between open and read.
            if (Files.notExists(file)) {
                return Optional.empty();
            }
            throw e;
        }
    }
}
