package io.nodekeeper.agent.kernel;

import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Reads files below {@code /proc} and {@code /sys}, and other short texts, within a bound. The kernel generates their text
 * when they are read, reports a size of 0, and returns many sysctls only to a read at offset 0. {@code java.nio.file.Files}
 * starts with a read of one byte where the size is 0 and so gets only the first digit of
 * {@code /proc/sys/kernel/pid_max}. This class starts with a buffer that holds a whole sysctl and then reads until the end
 * of the file. All calls block. Thread-safe.
 */
public final class KernelFile {
    /**
     * The most bytes of a text. The longest file that the agent reads is {@code mountinfo}: normally 200 bytes for each
     * mount, some ten mounts for each pod.
     */
    public static final int LIMIT = 4 << 20;

    /** The size of the first buffer in bytes: one page, the longest attribute in sysfs. */
    private static final int PAGE = 4_096;

    /** A page for each thread that reads: a scan reads thousands of small files, and the agent's heap is small. */
    private static final ThreadLocal<byte[]> PAGES = ThreadLocal.withInitial(() -> new byte[PAGE]);

    private KernelFile() {}

    /**
     * All text of {@code file}, in UTF-8.
     *
     * @throws IOException if it cannot be read or has more than {@link #LIMIT} bytes; the message names the file
     */
    public static String text(Path file) throws IOException {
        return text(file, LIMIT);
    }

    /** As {@link #text(Path)}, with a limit of {@code limit} bytes. */
    public static String text(Path file, int limit) throws IOException {
        Beginning read = read(file, limit + 1);
        if (read.length() > limit) {
            throw new IOException(file + " has more than " + limit + " bytes, which is the limit");
        }
        return read.text();
    }

    /** As {@link #text(Path)}, divided into lines. */
    public static List<String> lines(Path file) throws IOException {
        return text(file).lines().toList();
    }

    /**
     * The number that is the only content of {@code file}.
     *
     * @throws IOException as {@link #text(Path)}, and if the content is no decimal number of 64 bits
     */
    public static long number(Path file) throws IOException {
        String text = text(file).strip();
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IOException(file + ": expected a number, got \"" + text + "\"", e);
        }
    }

    /**
     * The first {@code limit} bytes of {@code file} as text, or all of it if it is shorter.
     *
     * @throws IOException if it cannot be read; the message names the file
     */
    public static String beginning(Path file, int limit) throws IOException {
        return read(file, limit).text();
    }

    /** The first {@code length} bytes of {@code buffer}: a character may have several. */
    private record Beginning(byte[] buffer, int length) {
        private String text() {
            return new String(buffer, 0, length, StandardCharsets.UTF_8);
        }
    }

    private static Beginning read(Path file, int limit) throws IOException {
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            byte[] buffer = PAGES.get();
            int length = 0;
            while (length < limit) {
                if (length == buffer.length) {
                    buffer = Arrays.copyOf(buffer, (int) Math.min(4L * length, limit));
                }
                int got = in.read(buffer, length, Math.min(buffer.length, limit) - length);
                if (got <= 0) {
                    break;
                }
                length += got;
            }
            return new Beginning(buffer, length);
        } catch (IOException e) {
            throw named(file, e);
        }
    }

    /**
     * Exactly {@code length} bytes of {@code file} from {@code offset} on, such as a part of a process's memory.
     *
     * @throws IOException if they cannot be read; the message names the file
     */
    public static byte[] bytes(Path file, long offset, int length) throws IOException {
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            in.getChannel().position(offset);
            byte[] bytes = in.readNBytes(length);
            if (bytes.length < length) {
                throw new EOFException("it ends after " + bytes.length + " of " + length + " bytes at " + offset);
            }
            return bytes;
        } catch (IOException e) {
            throw named(file, e);
        }
    }

    private static IOException named(Path file, IOException error) {
        String message = String.valueOf(error.getMessage());
        return message.startsWith(file.toString()) ? error : new IOException(file + ": " + message, error);
    }
}
