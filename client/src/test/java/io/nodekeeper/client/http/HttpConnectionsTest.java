package io.nodekeeper.client.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.nodekeeper.time.Randoms;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
        connections.close();
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

    @ParameterizedTest
    @ValueSource(strings = {"2\r\nok\r\n", "9\r\nok"})
    void aBodyInChunksThatEndsEarlyIsAFailure(String begun) throws Exception {
        server.onRequests("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + begun);

        Heard heard = send("GET");

        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("body ok");
        server.closeConnections();
        assertThat(heard.next()).isEqualTo("failed the connection was closed before the end of the response");
    }

    @Test
    void aMalformedResponseIsNotAskedForAgain() throws Exception {
        server.onRequests(OK, "nonsense\r\n\r\n");
        server.onRequests(OK);

        assertAnswered(send("GET"));

        assertThat(send("GET").next()).startsWith("failed malformed response: ");
        assertThat(server.accepted()).isEqualTo(1);
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
        server.onRequests("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\ntoo much");

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
    void afterARenewalAConnectionServesItsExchangeAndThenEnds() throws Exception {
        server.onRequests("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok");
        server.onRequests(OK);
        Heard heard = send("GET");
        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("body ok");

        connections.renew(Optional.empty());
        server.write("ay");

        assertThat(heard.next()).isEqualTo("body ay");
        assertThat(heard.next()).isEqualTo("end");
        server.awaitClosed();
        assertAnswered(send("PUT"));
        assertThat(server.accepted()).isEqualTo(2);
    }

    /** 127.0.0.2 has no listener. A connection to the broadcast address fails at once, as one to an address without a route does. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.2", "255.255.255.255"})
    void addressesAreTriedInTurn(String first) throws Exception {
        server.onRequests(OK);
        HttpConnections both =
                named("two.example", host -> List.of(InetAddress.getByName(first), InetAddress.getByName("127.0.0.1")));
        Heard heard = new Heard();

        both.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], heard);

        assertAnswered(heard);
        both.close();
    }

    /** A machine that is gone answers nothing, not even that it has no listener. */
    @Test
    void silentAddressIsLeftSoonAndTheOneThatAnsweredIsTriedFirst() throws Exception {
        server.onRequests(OK);
        server.onRequests(OK);
        try (SilentAddress silent = SilentAddress.at("127.0.0.3", server.port())) {
            AtomicInteger attempts = new AtomicInteger();
            HttpConnections both = new HttpConnections(
                    network.next(),
                    task -> Thread.ofVirtual().start(task),
                    URI.create("http://two.example:" + server.port()),
                    "",
                    Optional.empty(),
                    host -> List.of(silent.address(), InetAddress.getByName("127.0.0.1")),
                    () -> {
                        attempts.incrementAndGet();
                        return new NioSocketChannel();
                    });
            // given a first exchange, which tries both, for half a second the first one: the last one would have 4.5 s
            Heard first = new Heard();
            long begin = System.nanoTime();
            both.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], first);
            assertAnswered(first);
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(4));
            assertThat(attempts).hasValue(2);

            // when another connection is needed, then only the address that answered is tried
            both.renew(Optional.empty());
            Heard second = new Heard();
            both.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], second);
            assertAnswered(second);
            assertThat(attempts).hasValue(3);
            both.close();
        }
    }

    /** A machine whose processes are stopped accepts connections, too. */
    @Test
    void addressThatAcceptsConnectionsAndDoesNotAnswerIsNotTriedFirst() throws Exception {
        server.onRequests(OK);
        InetAddress stopped = InetAddress.getByName("127.0.0.3");
        try (ServerSocket listener = new ServerSocket(server.port(), 1, stopped)) {
            AtomicInteger lookups = new AtomicInteger();
            HttpConnections both = named(
                    "two.example",
                    host -> lookups.getAndIncrement() == 0
                            ? List.of(stopped)
                            : List.of(InetAddress.getByName("127.0.0.1"), stopped));
            // given an exchange that has a connection to it, and gets no answer
            HttpExchange unanswered =
                    both.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], new Heard());
            try (Socket accepted = listener.accept()) {
                assertThat(accepted.getInputStream().read()).isEqualTo('G');
                unanswered.cancel();
                awaitLoop();

                // when there is another address
                Heard heard = new Heard();
                both.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], heard);

                assertAnswered(heard);
            }
            both.close();
        }
    }

    @Test
    void exchangesThatWaitForTheSameLookupShareIt() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        HttpConnections slow = new HttpConnections(
                network.next(),
                task -> Thread.ofVirtual().start(task),
                URI.create("http://slow.example:" + server.port()),
                "",
                Optional.empty(),
                host -> {
                    asked.incrementAndGet();
                    awaitQuietly(answer);
                    return List.of(InetAddress.getByName("127.0.0.1"));
                },
                NioSocketChannel::new);
        server.onRequests(OK);
        server.onRequests(OK);
        Heard one = new Heard();
        Heard cancelled = new Heard();
        Heard two = new Heard();

        slow.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], one);
        slow.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], cancelled)
                .cancel();
        slow.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], two);
        // Until the loop has taken all three.
        awaitLoop();
        answer.countDown();

        assertAnswered(one);
        assertAnswered(two);
        assertThat(cancelled.all).isEmpty();
        assertThat(asked).hasValue(1);
        slow.close();
    }

    /** More than may open connections at a time. */
    @Test
    void eachExchangeOfABurstIsAnswered() throws Exception {
        String[] answers = new String[30];
        Arrays.fill(answers, OK);
        for (int i = 0; i < 30; i++) {
            server.onRequests(answers);
        }

        List<Heard> burst = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            burst.add(send("PUT"));
        }

        for (Heard heard : burst) {
            assertAnswered(heard);
        }
        assertThat(server.accepted()).isLessThanOrEqualTo(30);
    }

    @Test
    void closingFailsWhatIsUnderWayAndWhatComesLater() throws Exception {
        // One waits for its response on a connection that was used before, one for a connection, one for the server's
        // addresses.
        CountDownLatch never = new CountDownLatch(1);
        HttpConnections lost = new HttpConnections(
                network.next(),
                task -> Thread.ofVirtual().start(task),
                URI.create("http://lost.example"),
                "",
                Optional.empty(),
                host -> {
                    awaitQuietly(never);
                    throw new UnknownHostException(host);
                },
                NioSocketChannel::new);
        // A listener whose queue is full answers no further connection.
        ServerSocket silent = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        List<Socket> queued = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            queued.add(new Socket(silent.getInetAddress(), silent.getLocalPort()));
        }
        HttpConnections unreachable = new HttpConnections(
                network.next(),
                Runnable::run,
                URI.create("http://127.0.0.1:" + silent.getLocalPort()),
                "",
                Optional.empty());
        server.onRequests(OK, "HTTP/1.1 100 Continue\r\n\r\n");
        assertAnswered(send("GET"));
        Heard waiting = send("GET");
        assertThat(server.request()).isNotNull();
        assertThat(server.request()).isNotNull();
        Heard unconnected = new Heard();
        Heard unaddressed = new Heard();
        unreachable.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], unconnected);
        lost.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], unaddressed);

        connections.close();
        unreachable.close();
        lost.close();
        Heard late = send("GET");

        List<Heard> all = List.of(waiting, unconnected, unaddressed, late);
        for (Heard heard : all) {
            assertThat(heard.next()).isEqualTo("failed the client is closed");
        }
        server.awaitClosed();
        never.countDown();
        awaitLoop();
        assertThat(all).allSatisfy(heard -> assertThat(heard.all).isEmpty());
        for (Socket socket : queued) {
            socket.close();
        }
        silent.close();
    }

    @Test
    void anExchangeForWhichNoSocketCanBeMadeFails() throws Exception {
        HttpConnections poor = new HttpConnections(
                network.next(),
                Runnable::run,
                URI.create("http://127.0.0.1:" + server.port()),
                "",
                Optional.empty(),
                host -> List.of(),
                () -> {
                    throw new ChannelException("Too many open files");
                });
        Heard heard = new Heard();

        poor.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], heard);

        assertThat(heard.next()).isEqualTo("failed Too many open files");
        poor.close();
        awaitLoop();
        assertThat(heard.all).isEmpty();
    }

    @Test
    void anExchangeAfterTheEndOfTheNetworkFails() throws Exception {
        EventLoopGroup ended = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        HttpConnections dead = new HttpConnections(
                ended.next(), Runnable::run, URI.create("http://127.0.0.1:" + server.port()), "", Optional.empty());
        ended.shutdownGracefully(0, 0, TimeUnit.SECONDS).await();
        Heard heard = new Heard();

        dead.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], heard);

        assertThat(heard.next()).isEqualTo("failed the client is closed");
    }

    @Test
    void aLookupThatCannotBeStartedFailsItsExchangeAndIsTriedAgain() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        HttpConnections busy = new HttpConnections(
                network.next(),
                task -> {
                    if (tries.getAndIncrement() == 0) {
                        throw new IllegalStateException("no thread");
                    }
                    task.run();
                },
                URI.create("http://busy.example:" + server.port()),
                "",
                Optional.empty(),
                host -> List.of(InetAddress.getByName("127.0.0.1")),
                NioSocketChannel::new);
        server.onRequests(OK);
        Heard first = new Heard();
        Heard second = new Heard();

        busy.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], first);
        assertThat(first.next()).isEqualTo("failed no thread");
        busy.send(HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], second);

        assertAnswered(second);
        busy.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://example:0", "http://example:99999"})
    void aPortThatCannotBeIsRefused(String address) {
        assertThatThrownBy(() ->
                        new HttpConnections(network.next(), Runnable::run, URI.create(address), "", Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected 1 to 65535");
    }

    @ParameterizedTest
    @ValueSource(strings = {"204 No Content", "304 Not Modified"})
    void aResponseWithoutBodyEndsWithItsHead(String status) throws Exception {
        server.onRequests("HTTP/1.1 " + status + "\r\n\r\n", OK);

        Heard heard = send("GET");
        assertThat(heard.next()).isEqualTo(status.substring(0, 3));
        assertThat(heard.next()).isEqualTo("end");

        assertAnswered(send("PUT"));
        assertThat(server.accepted()).isEqualTo(1);
    }

    @Test
    void aResponseToHeadHasNoBody() throws Exception {
        server.onRequests("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", OK);

        Heard heard = send("HEAD");
        assertThat(heard.next()).isEqualTo("200");
        assertThat(heard.next()).isEqualTo("end");

        assertAnswered(send("PUT"));
        assertThat(server.accepted()).isEqualTo(1);
    }

    @Test
    void aHostWithoutAddressIsNamed() throws Exception {
        HttpConnections lost = named("lost.example", host -> {
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
        awaitLoop();
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
            connections.close();
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

    @Test
    void exchangeFailsOnceIfTheThreadOfTheNetworkCannotBeStarted() throws Exception {
        // given an event loop whose first attempt to start its thread finds no process id
        ThreadFactory threads = new DefaultThreadFactory("late", true);
        AtomicInteger attempts = new AtomicInteger();
        ThreadFactory noneAtFirst = task -> {
            if (attempts.getAndIncrement() == 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return threads.newThread(task);
        };
        EventLoopGroup late = new MultiThreadIoEventLoopGroup(1, noneAtFirst, NioIoHandler.newFactory());
        connections = new HttpConnections(
                late.next(), Runnable::run, URI.create("http://127.0.0.1:" + server.port()), "", Optional.empty());
        server.onRequests(OK, OK);

        Heard failed = send("PUT");
        Heard answered = send("PUT");

        assertThat(failed.next()).isEqualTo("failed unable to create native thread");
        assertAnswered(answered);
        // then the first request was not sent with the second
        assertThat(server.accepted()).isEqualTo(1);
        assertThat(failed.all).isEmpty();
        late.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private HttpConnections connections() {
        return new HttpConnections(
                network.next(), Runnable::run, URI.create("http://127.0.0.1:" + server.port()), "", Optional.empty());
    }

    private HttpConnections named(String host, AddressLookup.Resolver resolver) {
        return new HttpConnections(
                network.next(),
                Runnable::run,
                URI.create("http://" + host + ":" + server.port()),
                "",
                Optional.empty(),
                resolver,
                NioSocketChannel::new);
    }

    /** Waits for what is to be done on the event loop, and for what follows from that. */
    private static void awaitLoop() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            network.next().submit(() -> {}).await();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
