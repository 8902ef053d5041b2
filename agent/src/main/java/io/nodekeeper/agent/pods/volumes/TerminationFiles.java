package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.logs.LogOptions;
import io.nodekeeper.agent.logs.LogReader;
import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.cri.ContainerStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Reads what a container wrote about its end, as a kubelet does. All methods block on the disk. */
public final class TerminationFiles {
    /** The most bytes of the file that count, its last ones: the kubelet's. */
    private static final int MOST_FILE = 4 << 10;
    /** The most bytes of the log that count, its last ones: the kubelet's. */
    private static final int MOST_LOG = 2 << 10;
    /** The most lines of the log that count: the kubelet's. */
    private static final long MOST_LINES = 80;
    /** The reason of a container whose start failed, and which therefore has no log. */
    private static final String CANNOT_RUN = "ContainerCannotRun";

    private TerminationFiles() {}

    /**
     * The message of a container that has ended; empty if it wrote none.
     *
     * @param file in which the container could write
     * @param log its log, which counts if it failed and wrote nothing, and its policy says so
     */
    public static String message(ContainerStatus container, Path file, Path log) {
        String policy = container.origin().annotations().getOrDefault(PodLabels.MESSAGE_POLICY, "");
        boolean logs = policy.equals("FallbackToLogsOnError")
                && container.exitCode() != 0
                && !container.reason().equals(CANNOT_RUN);
        Optional<String> written = container
                        .origin()
                        .annotations()
                        .getOrDefault(PodLabels.MESSAGE_PATH, "")
                        .isEmpty()
                ? Optional.empty()
                : written(file);
        return written.isEmpty() && logs ? logged(log) : written.orElse("");
    }

    private static Optional<String> written(Path file) {
        try (SeekableByteChannel channel =
                Files.newByteChannel(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
            channel.position(Math.max(0, channel.size() - MOST_FILE));
            ByteBuffer buffer = ByteBuffer.allocate(MOST_FILE);
            while (buffer.hasRemaining() && channel.read(buffer) > 0) {
                // Reads to the end of the file or of the buffer.
            }
            String text = new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8);
            return text.isEmpty() ? Optional.empty() : Optional.of(text);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of("Error on reading termination log " + file + ": " + e.getMessage());
        }
    }

    private static String logged(Path log) {
        LogOptions last =
                new LogOptions(false, false, OptionalLong.of(MOST_LINES), Optional.empty(), OptionalLong.empty());
        byte[] kept = new byte[0];
        try (LogReader reader = new LogReader(log, last)) {
            LogReader.Next next;
            do {
                LogReader.Step step = reader.read();
                kept = tail(kept, step.bytes());
                next = step.next();
            } while (next == LogReader.Next.MORE);
            kept = tail(kept, reader.remainder());
            return new String(kept, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "Error on reading termination message from logs: " + e;
        }
    }

    /** The last bytes of both. */
    private static byte[] tail(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return Arrays.copyOfRange(both, Math.max(0, both.length - MOST_LOG), both.length);
    }
}
