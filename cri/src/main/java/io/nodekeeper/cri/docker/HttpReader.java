package io.nodekeeper.cri.docker;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads one answer of HTTP/1.1 from a connection that carries nothing else: first the head, then the body as a stream. Not
 * thread-safe.
 */
final class HttpReader {
    /** The largest head in bytes: dockerd's has below 500, and Go's servers limit theirs to 1 MiB. */
    static final int MAX_HEAD = 32 << 10;

    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] ([1-5][0-9][0-9])(?: .*)?");
    /** The longest line with a chunk's size: 16 hexadecimal digits, and extensions, which dockerd does not send. */
    private static final int MAX_SIZE_LINE = 256;

    private final InputStream in;
    private final Map<String, String> headers = new HashMap<>();
    private int status;
    private int headLeft = MAX_HEAD;
    private boolean started;

    HttpReader(InputStream in) {
        this.in = new BufferedInputStream(in);
    }

    /** The status; only after {@link #readHead}. */
    int status() {
        return status;
    }

    /** By lower-case name; only after {@link #readHead}. */
    Map<String, String> headers() {
        return Map.copyOf(headers);
    }

    /** Reads up to the beginning of the body. Informational answers (1xx) are skipped. */
    void readHead() throws IOException {
        do {
            String line = line(headLeft);
            Matcher first = STATUS.matcher(line);
            if (!first.matches()) {
                throw new UnreadableException(
                        "an answer in HTTP/1.1 was expected, got " + UnreadableException.quote(line));
            }
            status = Integer.parseInt(first.group(1));
            headers.clear();
            readHeaders();
        } while (status < 200);
    }

    private void readHeaders() throws IOException {
        for (String line = line(headLeft); !line.isEmpty(); line = line(headLeft)) {
            int colon = line.indexOf(':');
            if (colon <= 0) {
                throw new UnreadableException("a header was expected, got " + UnreadableException.quote(line));
            }
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
    }

    /**
     * The body, which ends where HTTP says, or with the connection if it does not say. A connection that ends before is an
     * {@link EOFException}.
     */
    InputStream body() throws IOException {
        if (status == 204 || status == 304) {
            return InputStream.nullInputStream();
        }
        if ("chunked".equalsIgnoreCase(headers.get("transfer-encoding"))) {
            return new Chunks();
        }
        String length = headers.get("content-length");
        if (length == null) {
            return in;
        }
        if (!length.matches("[0-9]{1,18}")) {
            throw new UnreadableException(
                    "a Content-Length of digits was expected, got " + UnreadableException.quote(length));
        }
        return new Part(Long.parseLong(length));
    }

    /** Reads {@code body} to its end, which is an error after {@code most} bytes. */
    static byte[] readAll(InputStream body, int most) throws IOException {
        byte[] bytes = body.readNBytes(most + 1);
        if (bytes.length > most) {
            throw new UnreadableException("an answer of at most " + most + " bytes was expected, got a longer one");
        }
        return bytes;
    }

    private String line(int most) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw end(line);
            }
            started = true;
            if (line.size() >= most) {
                throw new UnreadableException("a head of at most " + MAX_HEAD + " bytes was expected, got a longer one,"
                        + " beginning with " + UnreadableException.quote(line.toString(StandardCharsets.ISO_8859_1)));
            }
            line.write(next);
        }
        headLeft = Math.max(0, headLeft - line.size() - 1);
        String text = line.toString(StandardCharsets.ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    }

    private IOException end(ByteArrayOutputStream line) {
        // What does not speak HTTP often writes a few bytes and closes the connection.
        String text = line.toString(StandardCharsets.ISO_8859_1);
        boolean http = text.startsWith("HTTP/1.") || "HTTP/1.".startsWith(text);
        if (status == 0 && !http) {
            return new UnreadableException(
                    "an answer in HTTP/1.1 was expected, got " + UnreadableException.quote(text));
        }
        return new EOFException(
                started ? "connection closed in the middle of an answer" : "connection closed without an answer");
    }

    private static EOFException cut() {
        return new EOFException("connection closed in the middle of an answer");
    }

    /** A body of known length. */
    private final class Part extends InputStream {
        private long left;

        Part(long length) {
            left = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (left == 0) {
                return -1;
            }
            int count = in.read(bytes, offset, (int) Math.min(length, left));
            if (count < 0) {
                throw cut();
            }
            left -= count;
            return count;
        }
    }

    /** A body in chunks, each with its size before it. */
    private final class Chunks extends InputStream {
        private Part chunk = new Part(0);
        private boolean first = true;
        private boolean ended;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (chunk.left == 0 && !ended) {
                next();
            }
            return ended ? -1 : chunk.read(bytes, offset, length);
        }

        private void next() throws IOException {
            try {
                if (!first && !line(MAX_SIZE_LINE).isEmpty()) {
                    throw new UnreadableException("the end of a chunk was expected");
                }
                first = false;
                String size = line(MAX_SIZE_LINE).replaceFirst(";.*", "").strip();
                if (!size.matches("[0-9a-fA-F]{1,8}")) {
                    throw new UnreadableException(
                            "the size of a chunk was expected, got " + UnreadableException.quote(size));
                }
                chunk = new Part(Long.parseLong(size, 16));
                ended = chunk.left == 0;
            } catch (EOFException e) {
                throw cut();
            }
        }
    }
}
