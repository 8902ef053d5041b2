package io.nodekeeper.cli.output;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A writer of UTF-8 text that keeps the first error of its stream; a {@link PrintWriter} only reports that there was an
 * error. Flushes after each line. Thread-safe as its superclass.
 */
public final class CheckedWriter extends PrintWriter {
    private final AtomicReference<Optional<IOException>> failure;

    /** Writes to {@code stream}. */
    public CheckedWriter(OutputStream stream) {
        this(new Recorder(stream));
    }

    private CheckedWriter(Recorder recorder) {
        super(new BufferedWriter(new OutputStreamWriter(recorder, StandardCharsets.UTF_8)), true);
        failure = recorder.failure;
    }

    /** Flushes, and returns the first error if there was one. */
    public Optional<IOException> failure() {
        flush();
        return Objects.requireNonNull(failure.get());
    }

    /** Whether {@code failure} means that the reader of a pipe has closed it. */
    public static boolean isClosedPipe(IOException failure) {
        return String.valueOf(failure.getMessage()).contains("Broken pipe");
    }

    private static final class Recorder extends OutputStream {
        private final OutputStream stream;
        private final AtomicReference<Optional<IOException>> failure = new AtomicReference<>(Optional.empty());

        Recorder(OutputStream stream) {
            this.stream = stream;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            try {
                stream.write(bytes, from, length);
            } catch (IOException e) {
                failure.updateAndGet(known -> known.or(() -> Optional.of(e)));
                throw e;
            }
        }

        @Override
        public void flush() throws IOException {
            stream.flush();
        }
    }
}
