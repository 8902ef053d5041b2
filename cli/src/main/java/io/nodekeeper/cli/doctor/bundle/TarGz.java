package io.nodekeeper.cli.doctor.bundle;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/** Writes regular files as a gzipped tar archive (POSIX ustar). Stateless. */
final class TarGz {
    private static final int BLOCK = 512;
    /** The longest name in the header's field. */
    static final int NAME = 100;

    private TarGz() {}

    /**
     * The archive of these files, in their order, owned by root, readable by the owner only.
     *
     * @throws IllegalArgumentException if a name is longer than {@link #NAME} bytes
     */
    static byte[] of(Map<String, byte[]> files, Instant time) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 20);
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                byte[] content = file.getValue();
                out.write(header(file.getKey(), content.length, time));
                out.write(content);
                out.write(new byte[(BLOCK - content.length % BLOCK) % BLOCK]);
            }
            // Two empty blocks end an archive.
            out.write(new byte[2 * BLOCK]);
        }
        return bytes.toByteArray();
    }

    private static byte[] header(String name, int size, Instant time) {
        byte[] encoded = name.getBytes(StandardCharsets.UTF_8);
        if (encoded.length > NAME) {
            throw new IllegalArgumentException(
                    "\"" + name + "\" has " + encoded.length + " bytes; expected " + NAME + " at most");
        }
        byte[] header = new byte[BLOCK];
        System.arraycopy(encoded, 0, header, 0, encoded.length);
        octal(header, 100, 8, 0600); // mode
        octal(header, 108, 8, 0); // user
        octal(header, 116, 8, 0); // group
        octal(header, 124, 12, size);
        octal(header, 136, 12, Math.max(0, time.getEpochSecond()));
        header[156] = '0'; // a regular file
        put(header, 257, "ustar\0" + "00");
        // The sum counts its own field as blanks.
        Arrays.fill(header, 148, 156, (byte) ' ');
        int sum = 0;
        for (byte each : header) {
            sum += each & 0xff;
        }
        put(header, 148, String.format(Locale.ROOT, "%06o\0 ", sum));
        return header;
    }

    private static void octal(byte[] header, int at, int length, long value) {
        put(header, at, String.format(Locale.ROOT, "%0" + (length - 1) + "o", value));
    }

    private static void put(byte[] header, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }
}
