package io.nodekeeper.agent.problems.kernel;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the kernel's log without waiting for records. Records that the kernel overwrote before they were read are
 * skipped. Thread-safe.
 */
public final class KernelLog implements LogSource {
    /** The kernel's own limit for a record with its properties. */
    private static final int RECORD = 8_192;

    private final Path path;
    private final byte[] buffer = new byte[RECORD];
    private int descriptor = -1;
    private long lost;

    /** A reader of {@code path}, which is {@code /dev/kmsg}; opened by the first read. */
    public KernelLog(Path path) {
        this.path = path;
    }

    /**
     * The next records, {@code most} at most; an empty list if there is no new one.
     *
     * @throws IOException if the log cannot be opened or read; the next call opens it again
     */
    @Override
    public synchronized List<KmsgRecord> read(int most) throws IOException {
        if (descriptor < 0) {
            descriptor = Libc.open(path);
            if (descriptor < 0) {
                throw new IOException("open of " + path + " failed with errno " + -descriptor);
            }
        }
        List<KmsgRecord> records = new ArrayList<>();
        // The number of reads is bounded, too: a record without the expected form counts.
        for (int i = 0; i < most; i++) {
            int got = Libc.read(descriptor, buffer);
            if (got == 0 || got == -Libc.EAGAIN) {
                break;
            }
            if (got == -Libc.EPIPE) {
                // The next read continues with the oldest record that is left.
                lost++;
            } else if (got < 0) {
                close();
                throw new IOException("read of " + path + " failed with errno " + -got);
            } else {
                KmsgRecord.parse(Arrays.copyOf(buffer, got)).ifPresent(records::add);
            }
        }
        return records;
    }

    /** How often records were overwritten before they were read. */
    @Override
    public synchronized long lost() {
        return lost;
    }

    /** Closes the log; a later read starts with the oldest record. */
    public synchronized void close() throws IOException {
        if (descriptor >= 0) {
            int open = descriptor;
            descriptor = -1;
            Libc.close(open);
        }
    }
}
