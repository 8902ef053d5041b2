package io.nodekeeper.bench.load;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.ServerAccess;
import java.net.URI;
import java.security.cert.X509Certificate;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/**
 * TLS connections to one server, all on one thread: the generator shares the processors with the server that it
 * measures, and one thread needs no locks. It uses epoll and OpenSSL if they are on the class path, because they cost
 * least.
 */
final class ServerConnections implements AutoCloseable {
    private final MultiThreadIoEventLoopGroup group;
    private final SslContext tls;
    private final URI server;

    ServerConnections(ServerAccess access) throws SSLException {
        server = access.server();
        Identity identity = access.identity().orElseThrow();
        tls = SslContextBuilder.forClient()
                .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK)
                .trustManager(access.authorities().toArray(X509Certificate[]::new))
                .keyManager(identity.key(), identity.chain().toArray(X509Certificate[]::new))
                .build();
        group = new MultiThreadIoEventLoopGroup(
                1, Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    }

    /** The I/O and TLS implementations, for the report. */
    static String kind() {
        return (Epoll.isAvailable() ? "epoll" : "nio") + ", " + (OpenSsl.isAvailable() ? "OpenSSL" : "JDK TLS");
    }

    /** The single thread. */
    EventLoop loop() {
        return group.next();
    }

    /** The value of the header Host. */
    String host() {
        return server.getAuthority();
    }

    /** Connects; the handler gets the event of a completed handshake when the connection is ready. */
    ChannelFuture connect(ChannelHandler handler) {
        return new Bootstrap()
                .group(group)
                .channel(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 30_000)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        SslHandler handshake = tls.newHandler(channel.alloc(), server.getHost(), server.getPort());
                        handshake.setHandshakeTimeout(60, TimeUnit.SECONDS);
                        channel.pipeline().addLast(handshake).addLast(handler);
                    }
                })
                .connect(server.getHost(), server.getPort());
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
    }
}
