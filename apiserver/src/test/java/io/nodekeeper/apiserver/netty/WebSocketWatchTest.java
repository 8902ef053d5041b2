package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Watches over WebSockets, as fabric8 uses them, with the JDK's client. */
@Timeout(60)
@Tag("W69")
class WebSocketWatchTest {
    private TransportServer server;

    @BeforeEach
    void start() throws Exception {
        server = new TransportServer(HttpClient.Version.HTTP_1_1);
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
    }

    /** Everything that a socket received: messages, {@code pong TEXT}, {@code close CODE}. */
    private static final class Heard implements WebSocket.Listener {
        private final LinkedBlockingQueue<String> all = new LinkedBlockingQueue<>();
        private final StringBuilder message = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            message.append(data);
            if (last) {
                all.add(message.toString());
                message.setLength(0);
            }
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onPong(WebSocket socket, ByteBuffer data) {
            all.add("pong " + StandardCharsets.UTF_8.decode(data));
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            all.add("close " + code);
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            all.add("error " + error);
        }

        String next() throws InterruptedException {
            return String.valueOf(all.poll(30, TimeUnit.SECONDS));
        }
    }

    private WebSocket open(String uri, Heard heard) throws Exception {
        return server.client()
                .newWebSocketBuilder()
                .connectTimeout(Duration.ofSeconds(10))
                .buildAsync(URI.create("wss://127.0.0.1:" + server.https.port() + uri), heard)
                .get(10, TimeUnit.SECONDS);
    }

    @Test
    void eachEventIsOneTextMessageAndTheEndIsACloseFrame() throws Exception {
        server.node("n1", 0);
        Heard heard = new Heard();
        WebSocket socket = open("/api/v1/nodes?watch=true&timeoutSeconds=8", heard);
        assertThat(heard.next())
                .startsWith("{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\"")
                .contains("\"name\":\"n1\"")
                .endsWith("}}");
        server.node("n2", 100_000);
        assertThat(heard.next()).contains("\"name\":\"n2\"");
        assertThat(heard.next()).isEqualTo("close 1000");
        socket.abort();
    }

    @Test
    void pingAndCloseFramesAreAnswered() throws Exception {
        Heard heard = new Heard();
        WebSocket socket = open("/api/v1/nodes?watch=true", heard);
        socket.sendPing(ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)))
                .get(5, TimeUnit.SECONDS);
        assertThat(heard.next()).isEqualTo("pong hello");
        socket.sendText("whatever", true).get(5, TimeUnit.SECONDS);
        server.node("n1", 0);
        assertThat(heard.next()).contains("\"name\":\"n1\"");
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "done").get(5, TimeUnit.SECONDS);
        assertThat(heard.next()).isEqualTo("close 1000");
    }

    @Test
    void manyEventsArriveCompleteAndInOrder() throws Exception {
        Heard heard = new Heard();
        WebSocket socket = open("/api/v1/nodes?watch=true", heard);
        for (int i = 0; i < 200; i++) {
            server.node("n" + i, 20_000);
        }
        for (int i = 0; i < 200; i++) {
            assertThat(heard.next()).startsWith("{\"type\":\"ADDED\"").contains("\"name\":\"n" + i + "\"");
        }
        socket.abort();
    }

    @Test
    void refusalIsAnHttpResponse() throws Exception {
        assertThat(refused("/api/v1/nodes?watch=true&fieldSelector=spec.foo%3D1"))
                .isEqualTo(400);
        assertThat(refused("/api/v1/foos?watch=true")).isEqualTo(404);
    }

    @Test
    void watchWithAnotherProtocolBesideWebSocketIsOneOfHttp() throws Exception {
        try (Socket socket = server.admin.getSocketFactory().createSocket("127.0.0.1", server.https.port())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(("GET /api/v1/nodes?watch=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                                    + "Upgrade: websocket, x\r\nSec-WebSocket-Version: 13\r\n"
                                    + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));

            assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                    .isEqualTo("HTTP/1.1 200");
        }
    }

    private int refused(String uri) throws Exception {
        try {
            open(uri, new Heard());
            return 101;
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(WebSocketHandshakeException.class);
            HttpResponse<?> response =
                    ((WebSocketHandshakeException) Objects.requireNonNull(e.getCause())).getResponse();
            return response.statusCode();
        }
    }

    @Test
    void upgradeOfAnotherRequestIsIgnored() throws Exception {
        assertThat(refused("/api/v1/nodes")).isEqualTo(200);
    }

    @Test
    @Tag("W88")
    void shutdownSendsACloseFrame() throws Exception {
        Heard heard = new Heard();
        WebSocket socket = open("/api/v1/nodes?watch=true", heard);
        server.https.close();
        assertThat(heard.next()).isEqualTo("close 1000");
        socket.abort();
    }
}
