package io.nodekeeper.cri;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.RuntimeCallException.Code;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.ThreadPool;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs at the runtime's socket that do not speak gRPC, or speak it wrongly: byte by byte, on a real socket. */
class UnreadableAnswersTest {
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int PRIORITY = 2;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PUSH_PROMISE = 5;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int WINDOW_UPDATE = 8;
    /** END_STREAM and END_HEADERS. */
    private static final int ENDS = 5;

    @TempDir
    Path dir;

    private final ThreadLoop loop = new ThreadLoop("loop");
    private final ThreadPool pool = new ThreadPool("garbage", 1);
    private ServerSocketChannel server;
    private volatile byte[] answer = {};

    @BeforeEach
    void listen() throws IOException {
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(dir.resolve("s")), 128);
        pool.execute(this::serve);
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        pool.close();
        loop.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
                "HTTP/1.1 403 Forbidden\r\n\r\npermission denied: no space left on device",
                "<html><body>it works</body></html>",
                "{\"error\":\"unknown request\"}",
                "-ERR unknown command 'PRI'\r\n",
                "SSH-2.0-OpenSSH_9.6\r\nProtocol mismatch.\n",
                "not found: no such command",
                "garbage garbage garbage"
            })
    void programThatSpeaksAnotherProtocolGivesAnUnreadableAnswer(String text) throws Exception {
        assertThat(outcome(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(Code.UNREADABLE);
    }

    @ParameterizedTest
    @MethodSource("brokenFrames")
    void serverThatBreaksHttp2GivesAnUnreadableAnswer(byte[] frame) throws Exception {
        assertThat(outcome(all(frame(SETTINGS, 0, 0), frame))).isEqualTo(Code.UNREADABLE);
    }

    /** One for each rule of HTTP/2 about the length and the stream of a frame (RFC 9113, section 6). */
    static List<byte[]> brokenFrames() {
        return List.of(
                frame(DATA, 0, 0, 1, 2, 3),
                frame(DATA, 0, 99, 1, 2, 3),
                frame(DATA, 8, 3, 200, 1),
                frame(HEADERS, ENDS, 0, 0x88),
                frame(HEADERS, ENDS, 99, 0x88),
                frame(HEADERS, ENDS, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
                frame(PRIORITY, 0, 3, 1),
                frame(RST_STREAM, 0, 3, 1),
                frame(RST_STREAM, 0, 0, 0, 0, 0, 1),
                frame(RST_STREAM, 0, 3, 0, 0, 0, 1),
                frame(RST_STREAM, 0, 3, 0, 0, 0, 6),
                frame(RST_STREAM, 0, 3, 0, 0, 0, 9),
                frame(SETTINGS, 0, 0, 1),
                frame(SETTINGS, 0, 5, 0, 0, 0, 0, 0, 0),
                frame(SETTINGS, 1, 0, 0, 0, 0, 0, 0, 0),
                frame(PUSH_PROMISE, 4, 0, 0, 0, 0, 2),
                frame(PING, 0, 0, 1),
                frame(PING, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8),
                frame(GOAWAY, 0, 0, 1),
                frame(WINDOW_UPDATE, 0, 0, 1),
                frame(WINDOW_UPDATE, 0, 0, 0, 0, 0, 0),
                new byte[] {0x7f, 0, 0, 0, 0, 0, 0, 0, 3});
    }

    @Test
    void serverOfWebPagesOverHttp2GivesAnUnreadableAnswer() throws Exception {
        // :status 200, and content-type text/html with the names of HPACK's static table.
        byte[] html = {'t', 'e', 'x', 't', '/', 'h', 't', 'm', 'l'};
        byte[] head = all(new byte[] {(byte) 0x88, 0x0f, 0x10, (byte) html.length}, html);

        assertThat(outcome(all(frame(SETTINGS, 0, 0), framed(HEADERS, ENDS, 3, head))))
                .isEqualTo(Code.UNREADABLE);
    }

    /** Whatever comes, it is told as unreadable, or as a connection that broke; never as an error of the runtime. */
    @Test
    void noBytesAreTakenForAnErrorOfTheRuntime() throws Exception {
        Random random = new Random(88);
        Map<Code, Integer> codes = new EnumMap<>(Code.class);
        for (int round = 0; round < 120; round++) {
            byte[] noise = new byte[random.nextInt(200)];
            random.nextBytes(noise);
            byte[] sent = switch (round % 3) {
                case 0 -> noise;
                case 1 -> all(frame(SETTINGS, 0, 0), noise);
                default ->
                    all(
                            frame(SETTINGS, 0, 0),
                            framed(random.nextInt(10), random.nextInt(256), random.nextInt(4), noise));
            };
            codes.merge(outcome(sent), 1, Integer::sum);
        }

        assertThat(codes.keySet()).containsAnyOf(Code.UNREADABLE);
        assertThat(codes.keySet()).isSubsetOf(Code.UNREADABLE, Code.UNAVAILABLE);
    }

    private Code outcome(byte[] sent) throws Exception {
        answer = sent;
        try (GrpcRuntime runtime = new GrpcRuntime(dir.resolve("s"), loop)) {
            Throwable error = Until.failed(runtime.call(new RuntimeCall.GetVersion(), Duration.ofSeconds(9)));
            assertThat(error).isInstanceOf(RuntimeCallException.class);
            return ((RuntimeCallException) error).code();
        }
    }

    /** Reads what the client sends first, answers with the bytes, and closes. */
    private void serve() {
        while (server.isOpen()) {
            try (SocketChannel client = server.accept()) {
                // The call's headers come in a second write, once the settings have arrived.
                ByteBuffer in = ByteBuffer.allocate(4096);
                client.read(in);
                byte[] bytes = answer;
                int first = bytes.length > 9 && bytes[3] == SETTINGS && bytes[2] == 0 ? 9 : 0;
                client.write(ByteBuffer.wrap(bytes, 0, first));
                for (int reads = 0; first > 0 && reads < 20 && !hasHeaders(in); reads++) {
                    client.read(in);
                }
                client.write(ByteBuffer.wrap(bytes, first, bytes.length - first));
                client.shutdownOutput();
                in.clear();
                while (client.read(in) >= 0) {
                    in.clear();
                }
            } catch (IOException e) {
                // The client has closed the connection, or the test ends.
            }
        }
    }

    /** Whether the frames after the connection preface include the headers of a call. */
    private static boolean hasHeaders(ByteBuffer in) {
        int at = 24;
        while (at + 9 <= in.position()) {
            if (in.get(at + 3) == HEADERS) {
                return true;
            }
            at += 9 + ((in.get(at) & 0xff) << 16) + ((in.get(at + 1) & 0xff) << 8) + (in.get(at + 2) & 0xff);
        }
        return false;
    }

    private static byte[] frame(int type, int flags, int stream, int... payload) {
        byte[] bytes = new byte[payload.length];
        for (int i = 0; i < payload.length; i++) {
            bytes[i] = (byte) payload[i];
        }
        return framed(type, flags, stream, bytes);
    }

    private static byte[] framed(int type, int flags, int stream, byte[] payload) {
        return all(
                new byte[] {0, (byte) (payload.length >> 8), (byte) payload.length, (byte) type, (byte) flags},
                new byte[] {0, 0, 0, (byte) stream},
                payload);
    }

    private static byte[] all(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
