package io.nodekeeper.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the raw logs of a RocksDB hold, damaged or not, so that it can be told how much was lost when one had to be cut.
 *
 * @param bytes how long the logs are together
 * @param revision the latest revision that stands in them; 0 if none does
 */
record LogTail(long bytes, long revision) {
    /** As RocksDB writes the row of the revision into a batch: the key, and the length of the value. */
    private static final byte[] ROW = "mrevision\b".getBytes(StandardCharsets.US_ASCII);

    /** What is in the logs in {@code directory}; nothing if there are none. */
    static LogTail of(Path directory) {
        long bytes = 0;
        long revision = 0;
        try {
            for (Path file : files(directory)) {
                byte[] content = Files.readAllBytes(file);
                bytes += content.length;
                revision = Math.max(revision, latest(content));
            }
        } catch (IOException e) {
            throw new StoreException("cannot read the log in " + directory + ": " + e.getMessage(), e);
        }
        return new LogTail(bytes, revision);
    }

    private static List<Path> files(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().matches("[0-9]+\\.log"))
                    .toList();
        }
    }

    private static long latest(byte[] content) {
        long latest = 0;
        int end = content.length - ROW.length - Long.BYTES;
        for (int at = 0; at <= end; at++) {
            if (content[at] == ROW[0] && Arrays.equals(content, at, at + ROW.length, ROW, 0, ROW.length)) {
                latest = Math.max(latest, ByteBuffer.wrap(content).getLong(at + ROW.length));
            }
        }
        return latest;
    }
}
