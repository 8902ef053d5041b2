package io.nodekeeper.agent.problems.kernel;

import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The text of {@code mountinfo}, read only when the kernel reports a change, or after {@link #AGE}: with a hundred pods it has
 * 150 KB, which the kernel generates for each read. A file system that becomes read-only after an error is no change of mounts
 * for the kernel, so the age is its bound. Thread-safe.
 */
public final class MountFile implements MountText, AutoCloseable {
    /** The longest time that a text is used. */
    public static final Duration AGE = Duration.ofSeconds(20);

    private final Path path;
    private final Clock clock;
    private int descriptor = -1;
    private @Nullable String text;
    private long readAt;

    /** The file at {@code path}; opened by the first read. */
    public MountFile(Path path, Clock clock) {
        this.path = path;
        this.clock = clock;
    }

    @Override
    public synchronized String read() throws IOException {
        // The poll comes first: a change after it is reported by the next one.
        boolean changed = changed();
        long now = clock.nanoTime();
        if (text == null || changed || now - readAt >= AGE.toNanos()) {
            text = KernelFile.text(path);
            readAt = now;
        }
        return text;
    }

    private boolean changed() throws IOException {
        if (descriptor < 0) {
            descriptor = Libc.open(path);
            // Without a descriptor, the file is read each time, and the read tells why it fails.
            return true;
        }
        int result = Libc.changed(descriptor);
        if (result < 0) {
            close();
        }
        return result != 0;
    }

    /** Closes the file; a later read opens it again. */
    @Override
    public synchronized void close() throws IOException {
        if (descriptor >= 0) {
            int open = descriptor;
            descriptor = -1;
            Libc.close(open);
        }
    }
}
