package io.nodekeeper.store;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The changes in the raw logs of a RocksDB, whether the logs are damaged or not: to tell what was lost when they cannot be
 * replayed. It reads past checksums, so it serves for reports only.
 *
 * @param bytes how long the logs are together
 * @param revision the latest revision in them; 0 if there is none
 * @param changes the keys of the changes that were asked for, by revision
 */
record LogScan(long bytes, long revision, TreeMap<Long, String> changes) {
    /** As RocksDB writes the row of the revision into a batch: the key, and the length of the value. */
    private static final byte[] REVISION = "mrevision\b".getBytes(StandardCharsets.US_ASCII);

    /** The most changes that are kept; more are only counted. */
    private static final int LIMIT = 100_000;

    /** Logs are written in blocks of this size. */
    private static final int BLOCK = 32_768;
    /** Checksum, length and type, ahead of each piece of a record. */
    private static final int HEADER = 7;
    /** The type of a piece that is a whole record; first, middle and last pieces come after it. */
    private static final int FULL = 1;

    private static final int LAST = 4;
    /** How RocksDB marks a put in a batch. */
    private static final byte PUT = 1;

    /** The changes after {@code after} in the logs in {@code directory}. */
    static LogScan of(Path directory, long after) {
        LogScan scan = new LogScan(0, 0, new TreeMap<>());
        try {
            for (Path file : files(directory)) {
                byte[] content = Files.readAllBytes(file);
                scan = scan.with(content.length, pieces(content), after);
            }
        } catch (IOException e) {
            throw new StoreException("cannot read the log in " + directory + ": " + e.getMessage(), e);
        }
        return scan;
    }

    private static List<Path> files(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().matches("[0-9]+\\.log"))
                    .sorted()
                    .toList();
        }
    }

    /** The log without the headers of its pieces; from a damaged header on it goes on at the next block. */
    private static byte[] pieces(byte[] log) {
        ByteArrayOutputStream pieces = new ByteArrayOutputStream(log.length);
        for (int block = 0; block < log.length; block += BLOCK) {
            int end = Math.min(block + BLOCK, log.length);
            int at = block;
            while (at + HEADER <= end) {
                int length = (log[at + 4] & 0xff) | (log[at + 5] & 0xff) << 8;
                int type = log[at + 6];
                if (type < FULL || type > LAST) {
                    break;
                }
                int from = at + HEADER;
                pieces.write(log, from, Math.min(length, end - from));
                at = from + length;
            }
        }
        return pieces.toByteArray();
    }

    private LogScan with(long length, byte[] content, long after) {
        long latest = revision;
        ByteBuffer numbers = ByteBuffer.wrap(content);
        for (int at = 2; at + Rows.KEY < content.length; at++) {
            if (content[at] == REVISION[0] && startsWith(content, at, REVISION)) {
                if (at + REVISION.length + Long.BYTES <= content.length) {
                    latest = Math.max(latest, numbers.getLong(at + REVISION.length));
                }
            } else if (content[at] == Rows.CHANGE && content[at + Rows.KEY] == '/') {
                long found = numbers.getLong(at + 1);
                int size = put(content, at);
                if (size > Rows.KEY && at + size <= content.length && found > after && changes.size() < LIMIT) {
                    changes.put(found, new String(content, at + Rows.KEY, size - Rows.KEY, StandardCharsets.UTF_8));
                }
            }
        }
        return new LogScan(bytes + length, latest, changes);
    }

    /** The length of the row at {@code at} if a batch puts it; else 0. */
    private static int put(byte[] content, int at) {
        int last = content[at - 1];
        if (last >= 0 && content[at - 2] == PUT) {
            return last;
        }
        return last >= 0 && at > 2 && content[at - 2] < 0 && content[at - 3] == PUT
                ? (content[at - 2] & 0x7f) | last << 7
                : 0;
    }

    private static boolean startsWith(byte[] content, int at, byte[] start) {
        if (at + start.length > content.length) {
            return false;
        }
        for (int i = 0; i < start.length; i++) {
            if (content[at + i] != start[i]) {
                return false;
            }
        }
        return true;
    }
}
