package io.nodekeeper.cli.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
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

    /** Whether the server closes the connection without an answer. */
    private static boolean endsUnanswered(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() == -1;
        } catch (SocketException e) {
            // It is reset if the server has not read everything.
            return true;
        }
    }

    @Test
    void clientThatDoesNotWaitForItsAnswersIsDisconnected() throws IOException {
        // given a page that is not answered yet
        AtomicInteger asked = new AtomicInteger();
        CompletableFuture<Page> page = new CompletableFuture<>();
        try (PagesServer server = serving((path, query) -> {
                    asked.incrementAndGet();
                    return page;
                });
                Socket client = connected(server)) {
            // when a client sends 500 requests for it at once
            send(client, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500));

            // then it is disconnected, and the page was asked for once
            assertThat(endsUnanswered(client)).isTrue();
            assertThat(server.open()).isZero();
            assertThat(asked).hasValue(1);
        }
    }

    @Test
    void requestsOfOneConnectionAreAnsweredOneAfterAnother() throws IOException {
        // given pages that another thread makes
        try (PagesServer server =
                        serving((path, query) -> CompletableFuture.supplyAsync(() -> Page.text(200, "page " + path)));
                Socket client = connected(server)) {
            BufferedReader answers =
                    new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
            List<String> bodies = new ArrayList<>();
            for (String path : List.of("/a", "/b", "/c", "/d", "/e", "/f")) {
                // when a client sends each request as soon as it has the answer to the one before
                send(client, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
                while (!answers.readLine().isEmpty()) {}
                bodies.add(answers.readLine());
            }

            // then all are answered
            assertThat(bodies).containsExactly("page /a", "page /b", "page /c", "page /d", "page /e", "page /f");
        }
    }

    /** Pages with one stream, whose readers the test keeps. */
    private static Pages withStream(BlockingQueue<Feed.Reader> readers, boolean room) {
        return new Pages() {
            @Override
            public CompletableFuture<Page> get(String path, String query) {
                return CompletableFuture.completedFuture(Page.text(200, "ok"));
            }

            @Override
            public Optional<Feed> feed(String path) {
                return path.equals("/events")
                        ? Optional.of(reader -> {
                            readers.add(reader);
                            return CompletableFuture.completedFuture(room);
                        })
                        : Optional.empty();
            }
        };
    }

    private static PagesServer serving(Pages pages) throws IOException {
        return PagesServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), pages);
    }

    @Test
    void streamSendsEachEventAndNoticesThatItsClientIsGone() throws Exception {
        BlockingQueue<Feed.Reader> readers = new LinkedBlockingQueue<>();
        try (PagesServer server = serving(withStream(readers, true));
                Socket client = connected(server)) {
            // given a client of the stream
            send(client, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
            Feed.Reader reader = readers.take();

            // when two events are sent
            reader.send("event: a\n\n".getBytes(StandardCharsets.US_ASCII)).join();
            reader.send("event: b\n\n".getBytes(StandardCharsets.US_ASCII)).join();

            // then both arrive, under the rules for browsers
            BufferedReader answer =
                    new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
            List<String> lines = new ArrayList<>();
            while (!lines.contains("event: b")) {
                lines.add(answer.readLine());
            }
            assertThat(lines)
                    .startsWith("HTTP/1.1 200 OK")
                    .contains("content-type: text/event-stream; charset=utf-8")
                    .contains("content-security-policy: " + BrowserRules.POLICY)
                    .containsSubsequence("event: a", "event: b");

            // and when the server cuts it, the connection ends, and sending fails
            reader.close();
            while (answer.readLine() != null) {}
            assertThat(reader.send(new byte[] {'x'})
                            .handle((sent, error) -> error != null)
                            .join())
                    .isTrue();
        }
    }

    @Test
    void streamWithoutRoomIsRefused() throws IOException {
        try (PagesServer server = serving(withStream(new LinkedBlockingQueue<>(), false));
                Socket client = connected(server)) {
            send(client, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");

            assertThat(firstLine(client)).isEqualTo("HTTP/1.1 503 Service Unavailable");
        }
    }

    @Test
    void browsersMayLoadOnlyWhatThisServerServes() throws IOException {
        try (PagesServer server = serving(withStream(new LinkedBlockingQueue<>(), true));
                Socket client = connected(server)) {
            send(client, "GET /ui/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

            assertThat(new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))
                            .lines())
                    .contains(
                            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';"
                                    + " connect-src 'self'; img-src 'self' data:; frame-ancestors 'none';"
                                    + " base-uri 'none'; form-action 'none'",
                            "x-content-type-options: nosniff",
                            "cache-control: no-store");
        }
    }
}
