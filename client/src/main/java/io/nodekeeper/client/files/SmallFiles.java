package io.nodekeeper.client.files;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads files that users provide: configurations, keys, certificates, tokens. Refuses a file that is too long, and
 * devices and pipes, which may be endless. All calls block.
 */
public final class SmallFiles {
    /** The largest file in bytes. A kubeconfig with certificates has about 10 KB; 50,000 bearer tokens have 8 MB. */
    public static final int LIMIT = 8 << 20;

    private SmallFiles() {}

    /**
     * All bytes of {@code file}.
     *
     * @throws IOException if it cannot be read, is not a regular file, or has more than {@link #LIMIT} bytes
     */
    public static byte[] bytes(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException(file + " is " + (Files.isDirectory(file) ? "a directory" : "a device, pipe or socket")
                    + "; expected a regular file");
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(LIMIT + 1);
            if (bytes.length > LIMIT) {
                throw new IOException(file + " has more than " + LIMIT + " bytes, which is the limit");
            }
            return bytes;
        }
    }

    /** All text of {@code file}, which is UTF-8; errors are as in {@link #bytes}, and for bytes that are not UTF-8. */
    public static String text(Path file) throws IOException {
        return text(file, StandardCharsets.UTF_8);
    }

    /** As {@link #text(Path)}, in another character set. */
    public static String text(Path file, Charset charset) throws IOException {
        return charset.newDecoder().decode(ByteBuffer.wrap(bytes(file))).toString();
    }
}
