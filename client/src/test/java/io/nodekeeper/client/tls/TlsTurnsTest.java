package io.nodekeeper.client.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server with one event loop that sends back what it gets. */
@Timeout(60)
class TlsTurnsTest {
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final TestClock clock = new TestClock();
    private final AtomicInteger offences = new AtomicInteger();
    private final AtomicLong received = new AtomicLong();
    private final List<KeyUpdateClient> clients = new ArrayList<>();
    /** The server's view of all clients, in the order of their connections. */
    private final List<Client> accepted = new CopyOnWriteArrayList<>();

    private volatile boolean trusting;

    /** It takes half a second. */
    @SuppressWarnings("NullAway.Init")
    private static Identity identity;

    @SuppressWarnings("NullAway.Init")
    private Channel server;

    @BeforeAll
    static void makeIdentity() throws Exception {
        identity = TestCertificates.make("CN=server", "ip:127.0.0.1");
    }

    @BeforeEach
    void start() throws Exception {
        SslContext tls = SslContextBuilder.forServer(
                        identity.key(), identity.chain().toArray(X509Certificate[]::new))
                .protocols("TLSv1.3")
                .build();
        TlsTurns turns = new TlsTurns(Duration.ofSeconds(10), clock);
        server = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        Client client = new Client(connection, trusting);
                        turns.secure(connection, tls, client);
                        connection.pipeline().addLast(new Echo());
                        accepted.add(client);
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    @AfterEach
    void stop() throws Exception {
        for (KeyUpdateClient client : clients) {
            client.close();
        }
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private KeyUpdateClient connect() throws Exception {
        KeyUpdateClient client = new KeyUpdateClient(port());
        clients.add(client);
        return client;
    }

    /** A record full of key updates takes some time, which then stands still. */
    private void attack() throws Exception {
        KeyUpdateClient hostile = connect();
        clock.tick = Duration.ofMillis(1).toNanos();
        hostile.updates(KeyUpdateClient.RECORD);
        assertThat(hostile.ends()).isTrue();
        stopClock();
    }

    /** Once the event loop has processed what it has read. */
    private void stopClock() {
        loop.submit(() -> {}).syncUninterruptibly();
        clock.tick = 0;
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x25519", "secp256r1", "secp384r1", "secp521r1"})
    void keysAreAgreedOnInTheGroupsOfGo(String group) throws Exception {
        try (SSLSocket socket = socket(group)) {
            socket.startHandshake();
            assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x448", "ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144", "ffdhe8192"})
    void expensiveGroupsAreRefused(String group) throws Exception {
        try (SSLSocket socket = socket(group)) {
            assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class);
        }
    }

    /** A socket of a client that agrees on keys in this group only. */
    private SSLSocket socket(String group) throws Exception {
        SSLSocket socket = (SSLSocket)
                TestCertificates.anonymous(identity).getSocketFactory().createSocket("127.0.0.1", port());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setNamedGroups(new String[] {group});
        socket.setSSLParameters(parameters);
        socket.setSoTimeout(10_000);
        return socket;
    }

    @Test
    void keyUpdatesAsTheStandardHasThemAreFollowed() throws Exception {
        KeyUpdateClient client = connect();
        for (int i = 0; i < 9; i++) {
            client.update();
        }
        client.send("hello");
        assertThat(client.read(5)).isEqualTo("hello");
    }

    @Test
    void recordFullOfKeyUpdatesEndsTheConnection() throws Exception {
        KeyUpdateClient client = connect();
        client.updates(KeyUpdateClient.RECORD);
        assertThat(client.ends()).isTrue();
    }

    @Test
    void userOfATrustedClientIsReported() throws Exception {
        trusting = true;
        KeyUpdateClient client = connect();
        client.updates(KeyUpdateClient.RECORD);
        assertThat(client.ends()).isTrue();
        eventually(() -> offences.get() == 1);
    }

    @Test
    void manyRecordsWithoutDataEndTheConnection() throws Exception {
        KeyUpdateClient updates = connect();
        repeat(updates::update);
        assertThat(updates.ends()).isTrue();

        KeyUpdateClient empty = connect();
        repeat(empty::empty);
        assertThat(empty.ends()).isTrue();
    }

    /** Something that a client sends. */
    private interface Sending {
        void once() throws IOException;
    }

    /** Sends 20 times, or until the connection ends. */
    private static void repeat(Sending sending) {
        try {
            for (int i = 0; i < 20; i++) {
                sending.once();
            }
        } catch (IOException e) {
            // The server has closed the connection.
        }
    }

    @Test
    void dataBetweenDoesNotForgiveThemButTimeDoes() throws Exception {
        // given nine key updates, with data after each
        KeyUpdateClient client = connect();
        for (int i = 0; i < 9; i++) {
            client.update();
            client.send("x");
        }
        assertThat(client.read(9)).isEqualTo("xxxxxxxxx");

        // when more than ten seconds have passed, then nine more are allowed
        clock.pass(Duration.ofMillis(10_001));
        for (int i = 0; i < 9; i++) {
            client.update();
            client.send("x");
        }
        assertThat(client.read(9)).isEqualTo("xxxxxxxxx");

        // and the tenth ends the connection
        repeat(client::update);
        assertThat(client.ends()).isTrue();
        assertThat(received).hasValue(18);
    }

    @Test
    void trustedClientsGoOnWhileUnknownOnesWait() throws Exception {
        // given a trusted client, and an unknown one
        trusting = true;
        KeyUpdateClient trusted = connect();
        trusting = false;
        KeyUpdateClient honest = connect();

        // when another one sends key updates, and both send their data
        attack();
        honest.send("honest");
        trusted.send("trusted");

        // then the trusted one has its answer at once, and the unknown one when it is its turn
        assertThat(trusted.read(7)).isEqualTo("trusted");
        assertThat(received).hasValue(7);
        clock.pass(Duration.ofSeconds(1));
        assertThat(honest.read(6)).isEqualTo("honest");
    }

    @Test
    void keyUpdatesInTheHandshakeMakeOthersWait() throws Exception {
        // given a record with the end of the handshake and key updates, which takes 200 ms
        KeyUpdateClient honest = connect();
        clock.tick = Duration.ofMillis(200).toNanos();
        clients.add(new KeyUpdateClient(port(), KeyUpdateClient.RECORD - 100));
        eventually(() -> accepted.size() == 2 && accepted.get(1).isEstablished());
        stopClock();

        // when an honest client sends its data, then it waits
        honest.send("honest");
        TimeUnit.MILLISECONDS.sleep(100);
        assertThat(received).hasValue(0);

        // and has its answer after 400 ms for each 100 ms beyond an honest handshake
        clock.pass(Duration.ofSeconds(10));
        assertThat(honest.read(6)).isEqualTo("honest");
    }

    @Test
    void handshakeInTooManyRecordsEnds() throws Exception {
        // given a ClientHello of 32 KB, of which each record has one byte
        byte[] head = {1, 0, 127, -1};
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
            socket.setSoTimeout(10_000);
            for (int i = 0; i <= MeteredTls.HANDSHAKE_RECORDS; i++) {
                socket.getOutputStream().write(new byte[] {22, 3, 3, 0, 1, i < head.length ? head[i] : 0});
            }
            // then the connection ends before it is complete
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        } catch (SocketTimeoutException e) {
            throw new AssertionError("the server waits for more", e);
        } catch (SocketException e) {
            // A reset ends it, too.
            assertThat(accepted.getFirst().channel.closeFuture().await(10_000)).isTrue();
        }
    }

    @Test
    void nothingIsKeptOfWhatFollowsTheEndOfTls() throws Exception {
        // given a client that ends TLS, and sends the head of a record and much more
        KeyUpdateClient client = connect();
        client.send("x");
        assertThat(client.read(1)).isEqualTo("x");
        client.endTls();
        long before = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
        byte[] part = new byte[64 << 10];
        part[0] = 23;
        part[1] = 3;
        part[2] = 3;
        part[3] = 64;
        try {
            for (int i = 0; i < 1_000; i++) {
                client.raw(part);
            }
        } catch (IOException e) {
            // The server may close the connection.
        }

        // then the server does not keep it
        assertThat(PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() - before)
                .isLessThan(32 << 20);
    }

    @Test
    void clientThatIsTrustedMeanwhileWaitsNoLonger() throws Exception {
        // given a client that waits
        KeyUpdateClient honest = connect();
        attack();
        honest.send("honest");
        TimeUnit.MILLISECONDS.sleep(100);
        assertThat(received).hasValue(0);

        // when it has proven who it is
        accepted.getFirst().isTrusted = true;
        TlsTurns.trusted(accepted.getFirst().channel);

        // then it has its answer, before it is anybody's turn
        assertThat(honest.read(6)).isEqualTo("honest");
    }

    @Test
    void whatWaitsIsNotLost() throws Exception {
        // given a client that sends a request of 100 KB while it must wait
        KeyUpdateClient honest = connect();
        attack();
        String part = "0123456789".repeat(1_000);
        for (int i = 0; i < 10; i++) {
            honest.send(part);
        }

        // when it is its turn, then all of it comes back in its order
        clock.pass(Duration.ofSeconds(1));
        assertThat(honest.read(100_000)).isEqualTo(part.repeat(10));
    }

    @Test
    void clientThatSendsTooMuchBeforeItsTurnIsDisconnected() throws Exception {
        KeyUpdateClient client = connect();
        attack();
        String part = "0123456789".repeat(1_000);
        Thread sender = Thread.ofVirtual().start(() -> {
            try {
                for (int i = 0; i < 100; i++) {
                    client.send(part);
                }
            } catch (IOException e) {
                // As expected: the connection is closed.
            }
        });
        assertThat(client.ends()).isTrue();
        assertThat(received).hasValue(0);
        sender.join();
    }

    /** A clock that stands still, or goes on each time that it is read. */
    private static final class TestClock implements Clock {
        private final AtomicLong nanos = new AtomicLong();
        private volatile long tick;

        private void pass(Duration time) {
            nanos.addAndGet(time.toNanos());
        }

        @Override
        public long nanoTime() {
            return nanos.addAndGet(tick);
        }

        @Override
        public Instant wallTime() {
            return Instant.EPOCH;
        }
    }

    private final class Client implements TlsClient {
        private final Channel channel;
        private volatile boolean isTrusted;

        Client(Channel channel, boolean isTrusted) {
            this.channel = channel;
            this.isTrusted = isTrusted;
        }

        boolean isEstablished() {
            return channel.pipeline().get(SslHandler.class).handshakeFuture().isSuccess();
        }

        @Override
        public boolean isTrusted() {
            return isTrusted;
        }

        @Override
        public boolean mayWait() {
            return true;
        }

        @Override
        public void offended() {
            offences.incrementAndGet();
        }
    }

    private final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            received.addAndGet(((ByteBuf) message).readableBytes());
            context.writeAndFlush(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
