package io.nodekeeper.client.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.nodekeeper.time.Randoms;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Against a server of raw bytes on this machine; every wait is bounded. */
class HttpConnectionsTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    private static EventLoopGroup network;

    private final ScriptedServer server = new ScriptedServer();
    private HttpConnections connections = connections();

    /** What a receiver was told, as text: "200", "body ok", "end" or "failed ...". */
    private static final class Heard implements ResponseReceiver {
        private final BlockingQueue<String> all = new LinkedBlockingQueue<>();

        @Override
        public void head(HttpResponse head) {
            all.add(head.status().code() + "");
        }

        @Override
        public void body(ByteBuf bytes) throws IOException {
            String text = bytes.toString(StandardCharsets.UTF_8);
            if (text.equals("too much")) {
                throw new IOException("not wanted");
            }
            all.add("body " + text);
        }

        @Override
        public CompletableFuture<Void> arrived() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void end() {
            all.add("end");
        }

        @Override
        public void failed(Throwable why) {
            all.add("failed " + why.getMessage());
        }

        String next() throws InterruptedException {
            return Optional.ofNullable(all.poll(10, TimeUnit.SECONDS)).orElse("nothing came");
        }
    }

    @BeforeAll
    static void startNetwork() {
        network = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    }

    @AfterAll
    static void endNetwork() {
        network.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() {
        connections.retire();
        server.close();
    }

    @Test
    void oneConnectionServesOneExchangeAfterAnother() throws Exception {
        server.onRequests(OK, OK, OK);

        for (int i = 0; i < 3; i++) {
            assertAnswered(send("PUT"));
        }

        assertThat(server.accepted()).isEqualTo(1);
    }

    @Test
    void aRequestHasHostLengthAndBody() throws Exception {
        server.onRequests(OK);

        Heard heard = new Heard();
        connections.send(
                HttpMethod.PUT, "/a?b=c", new DefaultHttpHeaders(), "{}".getBytes(StandardCharsets.UTF_8), heard);

        assertAnswered(heard);
        assertThat(server.request())
                .isEqualTo(
                        "PUT /a?b=c HTTP/1.1\r\nhost: 127.0.0.1:" + server.port() + "\r\ncontent-length: 2\r\n\r\n{}");
    }

    @Test
    void aConnectionThatTheServerWillCloseIsNotUsedAgain() throws Exception {
        server.onRequests("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        server.onRequests(OK);

        assertAnswered(send("PUT"));
        assertAnswered(send("PUT"));

        assertThat(server.accepted()).isEqualTo(2);
    }

    @Test
    void aReadIsSentAgainIfTheServerClosedTheIdleConnectionMeanwhile() throws Exception {
        // The server reads the second request and closes, as one does whose idle timeout ends just then.
        server.onRequests(OK, "");
        server.onRequests(OK);

        assertAnswered(send("GET"));
        assertAnswered(send("GET"));

        assertThat(server.accepted()).isEqualTo(2);
    }

    @Test
    void aWriteIsNotSentTwice() throws Exception {
        server.onRequests(OK, "");
        server.onRequests(OK);

        assertAnswered(send("PUT"));

        assertThat(send("PUT").next()).isEqualTo("failed the connection was closed without a response");
        assertThat(server.accepted()).isEqualTo(1);
    }

    @Test
    void aReadThatANewConnectionDoesNotAnswerIsNotSentAgain() throws Exception {
        server.onRequests("");
        server.onRequests(OK);

        assertThat(send("GET").next()).isEqualTo("failed the connection was closed without a response");
    }

    @Test
    void aBodyThatEndsEarlyIsAFailure() throws Exception {
        server.onRequests("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok");

        Heard heard = send("GET");

        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("body ok");
        server.closeConnections();
        assertThat(heard.next()).isEqualTo("failed the connection was closed before the end of the response");
    }

    @Test
    void aBodyWithoutLengthEndsWithTheConnection() throws Exception {
        server.onRequests("HTTP/1.0 200 OK\r\n\r\nok");

        Heard heard = send("GET");

        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("body ok");
        server.closeConnections();
        assertThat(heard.next()).isEqualTo("end");
    }

    @Test
    void interimResponsesAreNotTheResponse() throws Exception {
        server.onRequests("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK);

        assertAnswered(send("PUT"));
    }

    @Test
    void theReceiverEndsABodyThatItDoesNotWant() throws Exception {
        server.onRequests("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\ntoo much", OK);

        Heard heard = send("GET");

        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("failed not wanted");
    }

    @Test
    void whatNobodyAskedForClosesTheConnection() throws Exception {
        server.onRequests(OK + OK);
        server.onRequests(OK);

        assertAnswered(send("GET"));
        server.awaitClosed();
        assertAnswered(send("GET"));
    }

    @Test
    void aRetiredConnectionServesItsExchangeAndThenEnds() throws Exception {
        server.onRequests("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok");
        Heard heard = send("GET");
        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("body ok");

        connections.retire();
        server.write("ay");

        assertThat(heard.next()).isEqualTo("body ay");
        assertThat(heard.next()).isEqualTo("end");
        server.awaitClosed();
    }

    @Test
    void addressesAreTriedInTurn() throws Exception {
        // Nobody listens on 127.0.0.2.
        server.onRequests(OK);
        HttpConnections both = new HttpConnections(
                network.next(),
                Runnable::run,
                URI.create("http://two.example:" + server.port()),
                Optional.empty(),
                host -> List.of(InetAddress.getByName("127.0.0.2"), InetAddress.getByName("127.0.0.1")));
        Heard heard = new Heard();

        both.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], heard);

        assertAnswered(heard);
        both.retire();
    }

    @Test
    void aHostWithoutAddressIsNamed() throws Exception {
        HttpConnections lost = new HttpConnections(
                network.next(), Runnable::run, URI.create("http://lost.example"), Optional.empty(), host -> {
                    throw new UnknownHostException(host + ": Name or service not known");
                });
        Heard heard = new Heard();

        lost.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], heard);

        assertThat(heard.next()).isEqualTo("failed lost.example: Name or service not known");
    }

    @Test
    void aCancelledExchangeClosesItsConnectionAndIsSilent() throws Exception {
        server.onRequests("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok");
        Heard heard = new Heard();
        HttpExchange exchange = connections.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], heard);
        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("body ok");

        exchange.cancel();

        server.awaitClosed();
        assertThat(heard.all).isEmpty();
    }

    /** Whatever the bytes are, and however they are cut: one result, no hang, and the next exchange works. */
    @Test
    void anyBytesHaveOneResult() throws Exception {
        for (int seed = 0; seed < 300; seed++) {
            RandomGenerator random = Randoms.seeded(seed);
            server.onRequests(mutated(random));
            server.onRequests(OK);
            server.closeAfterAnswer();
            connections = connections();
            Heard heard = send("PUT");

            String last = heard.next();
            while (!last.equals("end") && !last.startsWith("failed")) {
                assertThat(last).as("seed %d", seed).isNotEqualTo("nothing came");
                last = heard.next();
            }
            assertAnswered(send("GET"));
            assertThat(heard.all).as("seed %d", seed).isEmpty();
            connections.retire();
        }
    }

    /** A response in chunks, of which some bytes were replaced, removed or doubled. */
    private static String mutated(RandomGenerator random) {
        StringBuilder text = new StringBuilder(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nDate: today\r\n\r\n2\r\nok\r\n3\r\nyes\r\n0\r\n\r\n");
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            int at = random.nextInt(text.length());
            switch (random.nextInt(3)) {
                case 0 -> text.setCharAt(at, (char) random.nextInt(1, 256));
                case 1 -> text.deleteCharAt(at);
                default -> text.insert(at, text.charAt(at));
            }
        }
        return text.toString();
    }

    private HttpConnections connections() {
        return new HttpConnections(
                network.next(), Runnable::run, URI.create("http://127.0.0.1:" + server.port()), Optional.empty());
    }

    private Heard send(String method) {
        Heard heard = new Heard();
        connections.send(HttpMethod.valueOf(method), "/", new DefaultHttpHeaders(), new byte[0], heard);
        return heard;
    }

    private static void assertAnswered(Heard heard) throws InterruptedException {
        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("body ok");
        assertThat(heard.next()).isEqualTo("end");
    }
}
