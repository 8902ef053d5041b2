package io.nodekeeper.it;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocket;

/** A connection on which any frames of HTTP/2 can be sent in any order. */
final class RawHttp2 implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int PRIORITY = 2;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;

    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    private final SSLSocket socket;
    private final OutputStream out;
    /** The error code of the GOAWAY that came; -1 while none came. */
    private final AtomicInteger goaway = new AtomicInteger(-1);

    private int stream = -1;

    RawHttp2(Prey prey) throws IOException {
        socket = prey.socket("h2");
        out = socket.getOutputStream();
        out.write(PREFACE.getBytes(StandardCharsets.US_ASCII));
        frame(SETTINGS, 0, 0);
        out.flush();
    }

    /** Reads what the server sends, and drops it, so that it is not stopped by this end; notes a GOAWAY. */
    RawHttp2 reading() {
        Thread.ofVirtual().start(() -> {
            try {
                InputStream in = socket.getInputStream();
                byte[] head = in.readNBytes(9);
                while (head.length == 9) {
                    int length = (head[0] & 255) << 16 | (head[1] & 255) << 8 | head[2] & 255;
                    byte[] payload = in.readNBytes(length);
                    if (head[3] == GOAWAY && payload.length >= 8) {
                        goaway.set(payload[7]);
                    }
                    head = in.readNBytes(9);
                }
            } catch (IOException e) {
                // The server has closed it.
            }
        });
        return this;
    }

    /** The next stream that a client may open. */
    int nextStream() {
        stream += 2;
        return stream;
    }

    void frame(int type, int flags, int streamId, byte... payload) throws IOException {
        out.write(bytes(type, flags, streamId, payload));
    }

    /** The bytes of a frame. */
    static byte[] bytes(int type, int flags, int streamId, byte... payload) {
        byte[] frame = Arrays.copyOf(
                new byte[] {
                    (byte) (payload.length >> 16),
                    (byte) (payload.length >> 8),
                    (byte) payload.length,
                    (byte) type,
                    (byte) flags,
                    (byte) (streamId >> 24),
                    (byte) (streamId >> 16),
                    (byte) (streamId >> 8),
                    (byte) streamId
                },
                9 + payload.length);
        System.arraycopy(payload, 0, frame, 9, payload.length);
        return frame;
    }

    void write(byte[] bytes) throws IOException {
        out.write(bytes);
    }

    void flush() throws IOException {
        out.flush();
    }

    /** The headers of a request, without Huffman's code and without an index. */
    static byte[] request(String method, String path, String token) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        header(block, ":method", method);
        header(block, ":scheme", "https");
        header(block, ":path", path);
        header(block, ":authority", "127.0.0.1");
        if (!token.isEmpty()) {
            header(block, "authorization", "Bearer " + token);
        }
        return block.toByteArray();
    }

    /** Adds a header that is not to be indexed. */
    static void header(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        text(block, name);
        text(block, value);
    }

    private static void text(ByteArrayOutputStream block, String text) {
        int length = text.length();
        if (length < 127) {
            block.write(length);
        } else {
            block.write(127);
            length -= 127;
            while (length > 127) {
                block.write(length & 127 | 128);
                length >>= 7;
            }
            block.write(length);
        }
        block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** How it ended, in words. */
    String end(Throwable error) {
        return goaway.get() >= 0 ? "GOAWAY " + goaway.get() : error instanceof IOException ? "cut off" : "open";
    }

    /** Ends it without the end of TLS, for which the socket would wait. */
    void abort() throws IOException {
        if (!socket.isClosed()) {
            socket.setSoLinger(true, 0);
        }
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
