package io.nodekeeper.bench.load;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.ServerAccess;
import java.net.URI;
import java.security.cert.X509Certificate;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;

/**
 * TLS connections to one server, all on one thread: the generator shares the processors with the server that it
 * measures, and one thread needs no locks. It uses epoll and OpenSSL if they are on the class path, because they cost
 * least.
 */
final class ServerConnections implements AutoCloseable {
    private static final long CALL_SECONDS = 300;

    private final MultiThreadIoEventLoopGroup group;
    private final SslContext tls;
    /** For HTTP/2. */
    private final SslContext tls2;

    private final URI server;

    ServerConnections(ServerAccess access) throws SSLException {
        server = access.server();
        Identity identity = access.identity().orElseThrow();
        tls = tls(access, identity).build();
        tls2 = tls(access, identity)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        ApplicationProtocolConfig.Protocol.ALPN,
                        ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                        ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2))
                .build();
        group = new MultiThreadIoEventLoopGroup(
                1, Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    }

    private static SslContextBuilder tls(ServerAccess access, Identity identity) {
        return SslContextBuilder.forClient()
                .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK)
                .trustManager(access.authorities().toArray(X509Certificate[]::new))
                .keyManager(identity.key(), identity.chain().toArray(X509Certificate[]::new));
    }

    /** The I/O and TLS implementations, for the report. */
    static String kind() {
        return (Epoll.isAvailable() ? "epoll" : "nio") + ", " + (OpenSsl.isAvailable() ? "OpenSSL" : "JDK TLS");
    }

    /** The single thread. */
    EventLoop loop() {
        return group.next();
    }

    /** Runs {@code call} on the single thread and waits for its result. */
    <T> T call(Callable<T> call) throws Exception {
        return loop().submit(call).get(CALL_SECONDS, TimeUnit.SECONDS);
    }

    /** The value of the header Host. */
    String host() {
        return server.getAuthority();
    }

    /** Connects; the handler gets the event of a completed handshake when the connection is ready. */
    ChannelFuture connect(ChannelHandler handler) {
        return connect(tls, pipeline -> pipeline.addLast(handler));
    }

    /** The same for a handler of requests in HTTP/1.1, which are sent in HTTP/2. */
    ChannelFuture connectHttp2(ChannelHandler handler) {
        return connect(
                tls2,
                pipeline -> pipeline.addLast(Http2FrameCodecBuilder.forClient().build(), new Http2Requests(), handler));
    }

    private ChannelFuture connect(SslContext context, Consumer<ChannelPipeline> handlers) {
        return new Bootstrap()
                .group(group)
                .channel(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 30_000)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        SslHandler handshake = context.newHandler(channel.alloc(), server.getHost(), server.getPort());
                        handshake.setHandshakeTimeout(60, TimeUnit.SECONDS);
                        handlers.accept(channel.pipeline().addLast(handshake));
                    }
                })
                .connect(server.getHost(), server.getPort());
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
    }
}
