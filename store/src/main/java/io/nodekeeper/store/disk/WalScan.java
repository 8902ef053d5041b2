package io.nodekeeper.store.disk;

import io.nodekeeper.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A scan of the raw bytes of RocksDB's write-ahead logs for changes. It reports what was lost if the logs cannot be replayed. It
 * ignores checksums, so its result serves for reports only.
 *
 * @param revision the latest revision in the logs; 0 if there is none
 * @param changes the keys of the changes after the requested revision, by revision
 */
record WalScan(long revision, TreeMap<Long, String> changes) {
    /** The row of the revision as a batch contains it: the key, and the length of the value (8). */
    private static final byte[] REVISION = "mrevision\b".getBytes(StandardCharsets.US_ASCII);

    /** Maximum number of changes in the result: some 10 MB. A report names only a few of them. */
    private static final int LIMIT = 100_000;

    /** RocksDB writes a log in blocks of this size. */
    private static final int BLOCK = 32_768;
    /** Length of the checksum (4 bytes), length (2) and type (1) that precede each fragment of a record. */
    private static final int HEADER = 7;
    /** The type of a fragment that is a complete record. First, middle and last fragments have the types 2 to 4. */
    private static final int FULL = 1;

    private static final int LAST = 4;
    /** The tag of a put in a batch. */
    private static final byte PUT = 1;

    /** Scans the logs in {@code directory} for changes after revision {@code after}. */
    static WalScan of(Path directory, long after) {
        WalScan scan = new WalScan(0, new TreeMap<>());
        try {
            for (Path file : files(directory)) {
                byte[] content = Files.readAllBytes(file);
                scan = scan.with(content, joined(content), after);
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

    /**
     * Moves the fragments of {@code log} together at its start, without their headers, and returns their length. After a damaged
     * header it continues at the next block. Without a copy, because a log has many megabytes.
     */
    private static int joined(byte[] log) {
        int joined = 0;
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
                int size = Math.min(length, end - from);
                System.arraycopy(log, from, log, joined, size);
                joined += size;
                at = from + length;
            }
        }
        return joined;
    }

    /** Adds the changes in the first {@code length} bytes of {@code content}. */
    private WalScan with(byte[] content, int length, long after) {
        long latest = revision;
        ByteBuffer numbers = ByteBuffer.wrap(content);
        for (int at = 2; at + RowFormat.KEY < length; at++) {
            // At least as many bytes follow as REVISION has.
            if (content[at] == REVISION[0] && startsWith(content, at, REVISION)) {
                if (at + REVISION.length + Long.BYTES <= length) {
                    latest = Math.max(latest, numbers.getLong(at + REVISION.length));
                }
            } else if (content[at] == RowFormat.CHANGE && content[at + RowFormat.KEY] == '/') {
                long found = numbers.getLong(at + 1);
                int size = put(content, at);
                if (size > RowFormat.KEY && at + size <= length && found > after && changes.size() < LIMIT) {
                    changes.put(
                            found,
                            new String(content, at + RowFormat.KEY, size - RowFormat.KEY, StandardCharsets.UTF_8));
                }
            }
        }
        return new WalScan(latest, changes);
    }

    /** The length of the row key at {@code at} if a put of a batch precedes it; otherwise 0. */
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
        for (int i = 0; i < start.length; i++) {
            if (content[at + i] != start[i]) {
                return false;
            }
        }
        return true;
    }
}
