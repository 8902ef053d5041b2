package io.nodekeeper.client.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A relay between real sockets: a client, this server, and another server that the tests play. */
@Timeout(120)
class RelayTest {
    private static final String UPGRADE =
            "POST /exec HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\n";
    private static final String CHANGED =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n";

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private ServerSocket other;
    private Channel front;
    private Socket client;
    /** The time for the head of an answer, and for the whole of an error. */
    private volatile int seconds = 30;
    /** Whether the relay is told that its server has closed the connection. */
    private volatile boolean serverHasClosed;

    @BeforeEach
    void start() throws Exception {
        other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        front = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        connection
                                .pipeline()
                                .addLast(new HttpServerCodec(), new HttpObjectAggregator(100), new Owner());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        client = new Socket(InetAddress.getLoopbackAddress(), ((InetSocketAddress) front.localAddress()).getPort());
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        other.close();
        front.close().sync();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    }

    @Test
    void shouldPassBytesInBothDirectionsOnceTheProtocolHasChanged() throws Exception {
        send(client, UPGRADE);
        Socket server = accepted();
        assertThat(head(server)).startsWith("POST /there HTTP/1.1\r\n").contains("upgrade: SPDY/3.1");
        send(server, CHANGED);
        assertThat(head(client))
                .startsWith("HTTP/1.1 101 Switching Protocols\r\n")
                .contains("upgrade: SPDY/3.1");

        send(client, "question");
        assertThat(read(server, 8)).isEqualTo("question");
        send(server, "answer");
        assertThat(read(client, 6)).isEqualTo("answer");

        client.close();
        assertThat(server.getInputStream().read()).isEqualTo(-1);
        assertThat(said.take()).isEqualTo("closed");
    }

    /** Without TLS the end of the server's connection could also mean that it broke, so the client must know it. */
    @ParameterizedTest
    @ValueSource(strings = {"SPDY/3.1", "websocket"})
    void shouldEndAConnectionWithItsServer(String protocol) throws Exception {
        Socket server = changed(protocol);
        send(server, "the last frames");
        server.close();

        assertThat(read(client, 15)).isEqualTo("the last frames");
        assertThat(client.getInputStream().read()).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SPDY/3.1", "websocket"})
    void shouldLoseNothingWhenTheClientWritesAfterTheServersEnd(String protocol) throws Exception {
        // Small, so that much waits in the relay's buffer when the server ends.
        client.setReceiveBufferSize(16 << 10);
        Socket server = changed(protocol);
        int size = 16 << 20;
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            try {
                server.getOutputStream().write(new byte[size]);
                server.shutdownOutput();
                server.getInputStream().readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        int read = 0;
        byte[] part = new byte[64 << 10];
        while (read < size) {
            int count = client.getInputStream().read(part);
            assertThat(count).as("after %s bytes", read).isPositive();
            read += count;
            send(client, "ping");
        }

        // The stream counts as one until its client has closed it.
        sent.join();
        assertThat(said).isEmpty();
        client.close();
        assertThat(said.take()).isEqualTo("closed");
    }

    /** The server's kernel still has megabytes when the server closes; a byte that reached it would make it drop them. */
    @Test
    void shouldLoseNothingWhenTheClientWritesAfterAServerHasClosed() throws Exception {
        client.setReceiveBufferSize(16 << 10);
        Socket server = changed("SPDY/3.1");
        // given a server that has written what the buffers on the way take, and has closed its connection
        AtomicLong written = new AtomicLong();
        OutputStream out = server.getOutputStream();
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            try {
                while (true) {
                    out.write(new byte[64 << 10]);
                    written.addAndGet(64 << 10);
                }
            } catch (IOException e) {
                // The test has closed it.
            }
        });
        long before = -1;
        while (before != written.get()) {
            before = written.get();
            Thread.sleep(200);
        }
        serverHasClosed = true;
        server.close();
        sent.join();

        // when the client writes again and again while it reads
        long read = 0;
        byte[] part = new byte[64 << 10];
        send(client, "ping");
        Thread.sleep(50);
        for (int count = client.getInputStream().read(part);
                count >= 0;
                count = client.getInputStream().read(part)) {
            read += count;
            send(client, "ping");
        }

        // then it has all
        assertThat(read).isGreaterThanOrEqualTo(written.get());
    }

    @Test
    void shouldPassAStreamThatHasEndedBeforeTheClientIsTold() throws Exception {
        for (int i = 0; i < 200; i++) {
            try (Socket quick = new Socket(
                    InetAddress.getLoopbackAddress(), ((InetSocketAddress) front.localAddress()).getPort())) {
                send(quick, UPGRADE);
                Socket server = accepted();
                head(server);
                send(server, CHANGED + "first and last words");
                server.close();

                assertThat(head(quick)).startsWith("HTTP/1.1 101");
                assertThat(read(quick, 20)).isEqualTo("first and last words");
                assertThat(quick.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    /** A client that is gone while the server takes no input: its stream ends, whatever the server goes on to send. */
    @Test
    void shouldEndTheStreamOfALostClientWhoseInputIsStuck() throws Exception {
        Socket server = changed("SPDY/3.1");
        CompletableFuture<Void> output = CompletableFuture.runAsync(() -> {
            try (OutputStream out = server.getOutputStream()) {
                while (true) {
                    out.write(new byte[64 << 10]);
                }
            } catch (IOException e) {
                // The relay has ended the stream.
            }
        });
        CompletableFuture<Void> input = CompletableFuture.runAsync(() -> {
            try {
                while (true) {
                    client.getOutputStream().write(new byte[64 << 10]);
                }
            } catch (IOException e) {
                // The test has reset the connection.
            }
        });
        Thread.sleep(500);

        client.setSoLinger(true, 0);
        client.close();

        output.get(20, TimeUnit.SECONDS);
        input.get(20, TimeUnit.SECONDS);
        assertThat(said.poll(10, TimeUnit.SECONDS)).isEqualTo("closed");
    }

    @Test
    void shouldPassWhatComesTogetherWithTheChange() throws Exception {
        send(client, UPGRADE);
        Socket server = accepted();
        head(server);
        send(server, CHANGED + "first words");

        assertThat(head(client)).startsWith("HTTP/1.1 101");
        assertThat(read(client, 11)).isEqualTo("first words");
    }

    @Test
    void shouldStopASenderWhoseReceiverDoesNotRead() throws Exception {
        Socket server = changed("websocket");
        int size = 64 << 20;
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            try (OutputStream out = server.getOutputStream()) {
                byte[] part = new byte[64 << 10];
                for (int i = 0; i < size / part.length; i++) {
                    out.write(part);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });

        byte[] some = client.getInputStream().readNBytes(1 << 20);
        // The sockets' buffers and the relay's take a few MB; the rest waits at its sender.
        assertThat(some).hasSize(1 << 20);
        assertThat(sent).isNotDone();
        assertThat(client.getInputStream().readAllBytes()).hasSize(size - (1 << 20));
        sent.join();
    }

    @Test
    void shouldSendNothingOfTheClientBeforeTheProtocolHasChanged() throws Exception {
        send(client, UPGRADE);
        Socket server = accepted();
        head(server);
        send(client, "GET /secrets HTTP/1.1\r\nHost: a\r\n\r\n");
        send(server, "HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!");

        assertThat(said.take()).isEqualTo("refused 403 no!");
        assertThat(server.getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void shouldPassABodyAsItComes() throws Exception {
        send(client, "GET /log HTTP/1.1\r\nHost: a\r\n\r\n");
        Socket server = accepted();
        head(server);
        send(server, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
        assertThat(head(client)).startsWith("HTTP/1.1 200 OK\r\n");
        assertThat(read(client, 8)).isEqualTo("3\r\none\r\n");

        send(server, "3\r\ntwo\r\n0\r\n\r\n");
        assertThat(read(client, 13)).isEqualTo("3\r\ntwo\r\n0\r\n\r\n");
        assertThat(said.take()).isEqualTo("ended");
        assertThat(said.take()).isEqualTo("closed");
    }

    @Test
    void shouldBreakOffAnAnswerWhoseSourceBroke() throws Exception {
        send(client, "GET /log HTTP/1.1\r\nHost: a\r\n\r\n");
        Socket server = accepted();
        head(server);
        send(server, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
        head(client);
        assertThat(read(client, 8)).isEqualTo("3\r\none\r\n");

        server.close();

        assertThat(client.getInputStream().read()).isEqualTo(-1);
        assertThat(said.take()).isEqualTo("closed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 100\r\n\r\nno su", "Transfer-Encoding: chunked\r\n\r\n5\r\nno su\r\n"})
    void shouldNotWaitForTheRestOfAnErrorLongerThanForAnAnswer(String error) throws Exception {
        seconds = 3;
        send(client, UPGRADE);
        Socket server = accepted();
        head(server);

        // when a server sends the beginning of an error, and nothing more
        send(server, "HTTP/1.1 500 Internal Server Error\r\n" + error);

        // then the client gets what has come, and the connection ends
        assertThat(said.take()).isEqualTo("refused 500 no su");
        assertThat(server.getInputStream().read()).isEqualTo(-1);
        assertThat(said.take()).isEqualTo("closed");
    }

    @Test
    void shouldSayThatAServerCannotBeReached() throws Exception {
        other.close();

        send(client, UPGRADE);

        assertThat(said.take()).startsWith("failed").contains("refused");
        assertThat(said.take()).isEqualTo("closed");
    }

    @Test
    void shouldEndWithItsClient() throws Exception {
        send(client, "GET /log HTTP/1.1\r\nHost: a\r\n\r\n");
        Socket server = accepted();
        head(server);
        send(server, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
        head(client);

        client.close();

        assertThat(server.getInputStream().read()).isEqualTo(-1);
        assertThat(said.take()).isEqualTo("closed");
    }

    @Test
    void shouldNotPassCredentialsOn() throws Exception {
        send(
                client,
                UPGRADE.replace(
                        "Host: a\r\n",
                        "Host: a\r\nAuthorization: Bearer secret\r\nImpersonate-User: admin\r\nCookie: c\r\n"
                                + "Sec-WebSocket-Protocol: v4.channel.k8s.io,"
                                + " base64url.bearer.authorization.k8s.io.c2VjcmV0\r\n"));

        assertThat(head(accepted()))
                .doesNotContain("secret", "c2VjcmV0", "admin", "ookie")
                .contains("sec-websocket-protocol: v4.channel.k8s.io\r\n");
    }

    /** The server's end after both have changed the protocol. */
    private Socket changed(String protocol) throws IOException {
        send(client, UPGRADE.replace("SPDY/3.1", protocol));
        Socket server = accepted();
        head(server);
        send(server, CHANGED.replace("SPDY/3.1", protocol));
        head(client);
        return server;
    }

    private Socket accepted() throws IOException {
        Socket socket = other.accept();
        socket.setSoTimeout(30_000);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String read(Socket socket, int size) throws IOException {
        return new String(socket.getInputStream().readNBytes(size), StandardCharsets.US_ASCII);
    }

    /** Reads to the empty line that ends the headers. */
    private static String head(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) in.read());
        }
        return head.toString();
    }

    /** The handler of a client's connection, which lets the other server answer. */
    private final class Owner extends SimpleChannelInboundHandler<FullHttpRequest> {
        private boolean busy;

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest asked) {
            if (busy) {
                return;
            }
            busy = true;
            FullHttpRequest request =
                    new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, asked.method(), "/there", Unpooled.EMPTY_BUFFER);
            request.headers().set("host", "other");
            boolean upgrade = UpgradeHeaders.wanted(asked.headers());
            if (upgrade) {
                UpgradeHeaders.copy(asked.headers(), request.headers());
            }
            RelayTarget target = new RelayTarget(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), other.getLocalPort()),
                    Optional.empty(),
                    NioSocketChannel.class,
                    0,
                    30,
                    any -> serverHasClosed);
            Relay.start(context, target, request, upgrade, false, new Told(context), seconds);
        }
    }

    private final class Told implements RelayListener {
        private final ChannelHandlerContext context;

        Told(ChannelHandlerContext context) {
            this.context = context;
        }

        @Override
        public void failed(String why) {
            said.add("failed " + why);
        }

        @Override
        public void refused(int status, String text) {
            said.add("refused " + status + " " + text);
            context.writeAndFlush(new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.EMPTY_BUFFER))
                    .addListener(ChannelFutureListener.CLOSE);
        }

        @Override
        public void begin(HttpResponse head) {
            HttpResponse out = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
            HttpUtil.setTransferEncodingChunked(out, true);
            context.writeAndFlush(out);
        }

        @Override
        public void ended() {
            said.add("ended");
        }

        @Override
        public void closed() {
            said.add("closed");
        }
    }
}
