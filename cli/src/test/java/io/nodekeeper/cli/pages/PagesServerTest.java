package io.nodekeeper.cli.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.pages.Page;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Clients that take their time, and how many there may be. */
class PagesServerTest {
    /** Ends a test that hangs; a server that gives each of 400 slow clients a thread's 10 s takes much longer. */
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static Socket connected(PagesServer server) throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout((int) LIMIT.toMillis());
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String firstLine(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII)).readLine();
    }

    @Test
    void slowClientsDoNotKeepAProbeAway() throws IOException {
        // given more clients than there may be connections, each in the middle of its request
        List<Socket> slow = new ArrayList<>();
        try (PagesServer server = PagesServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                (path, query) -> CompletableFuture.completedFuture(Page.text(200, "ok")))) {
            for (int i = 0; i < 400; i++) {
                Socket socket = connected(server);
                slow.add(socket);
                send(socket, "GET /healthz HTTP/1.1\r\nHost: local");
            }
            // when a probe comes
            try (Socket probe = connected(server)) {
                send(probe, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
                // then it is answered, and room was made for it
                assertThat(firstLine(probe)).isEqualTo("HTTP/1.1 200 OK");
                assertThat(server.open()).isLessThanOrEqualTo(PagesServer.CONNECTIONS);
            }
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }
}
