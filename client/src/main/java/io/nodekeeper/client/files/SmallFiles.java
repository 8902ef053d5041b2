package io.nodekeeper.client.files;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads files that users write and name: configurations, keys, certificates, tokens. A file that is too long, and a device or
 * pipe, which may have no end, is refused instead of filling the memory. All calls block.
 */
public final class SmallFiles {
    /** Bytes. A kubeconfig with certificates takes about 10 KB; 50,000 bearer tokens take 8 MB. */
    public static final int LIMIT = 8 << 20;

    private SmallFiles() {}

    /**
     * All bytes of {@code file}.
     *
     * @throws IOException if it cannot be read, is no regular file, or has more than {@link #LIMIT} bytes
     */
    public static byte[] bytes(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException(file + " is " + (Files.isDirectory(file) ? "a directory" : "a device, pipe or socket")
                    + "; expected a regular file");
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(LIMIT + 1);
            if (bytes.length > LIMIT) {
                throw new IOException(file + " has more than " + LIMIT + " bytes, which is the most that is read");
            }
            return bytes;
        }
    }

    /** All text of {@code file}, which is UTF-8; errors are as in {@link #bytes}, and for bytes that are no UTF-8. */
    public static String text(Path file) throws IOException {
        return text(file, StandardCharsets.UTF_8);
    }

    /** As {@link #text(Path)}, in another character set. */
    public static String text(Path file, Charset charset) throws IOException {
        return charset.newDecoder().decode(ByteBuffer.wrap(bytes(file))).toString();
    }
}
