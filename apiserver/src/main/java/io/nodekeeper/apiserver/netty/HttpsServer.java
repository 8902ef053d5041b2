package io.nodekeeper.apiserver.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.nodekeeper.apiserver.ApiServer;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The API over HTTPS, HTTP/1.1. Client certificates are asked for, not demanded. Thread-safe. */
public final class HttpsServer {
    private static final Logger log = LoggerFactory.getLogger(HttpsServer.class);
    /** A connection on which nothing was asked for so long is closed. Chosen; kubectl and agents come back sooner. */
    private static final int IDLE_SECONDS = 600;

    /** How long answers under way may take to end when the server closes. Chosen. */
    private static final int DRAIN_SECONDS = 2;

    private static final int BACKLOG = 4_096;
    /** Query strings with long selectors and continue tokens need more than the usual 4 KiB. Chosen. */
    private static final int LINE_BYTES = 64 << 10;

    private final EventLoopGroup acceptors = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final EventLoopGroup workers = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
    /** Tells a connection to end as soon as its answer is out. */
    static final Object STOP = new Object();

    private final Channel channel;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    private HttpsServer(ApiServer server, SSLContext tls, InetSocketAddress address) {
        ChannelFuture bound = new ServerBootstrap()
                .group(acceptors, workers)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connections.add(connection);
                        SSLEngine engine = tls.createSSLEngine();
                        engine.setUseClientMode(false);
                        engine.setWantClientAuth(true);
                        engine.setEnabledProtocols(new String[] {"TLSv1.3", "TLSv1.2"});
                        connection
                                .pipeline()
                                .addLast(new SslHandler(engine))
                                .addLast(new HttpServerCodec(new HttpDecoderConfig()
                                        .setMaxInitialLineLength(LINE_BYTES)
                                        .setMaxHeaderSize(LINE_BYTES)))
                                .addLast(new HttpServerKeepAliveHandler())
                                .addLast(new IdleStateHandler(0, 0, IDLE_SECONDS, TimeUnit.SECONDS))
                                .addLast(new RequestHandler(server));
                    }
                })
                .bind(address)
                .syncUninterruptibly();
        channel = bound.channel();
    }

    /**
     * Begins to listen.
     *
     * @param address where; port 0 for any free one
     * @throws java.io.UncheckedIOException if the address cannot be had
     */
    public static HttpsServer start(ApiServer server, SSLContext tls, InetSocketAddress address) {
        try {
            return new HttpsServer(server, tls, address);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            // Netty throws the checked cause of a failed bind without declaring it.
            throw new java.io.UncheckedIOException(
                    new java.io.IOException("cannot listen on " + address + ": " + e.getMessage(), e));
        }
    }

    /** The port that it listens on. */
    public int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    /** Stops listening, ends watches, lets requests under way end for a short while, and closes what is left. Idempotent. */
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        channel.close().syncUninterruptibly();
        connections.forEach(connection -> connection.pipeline().fireUserEventTriggered(STOP));
        // The loops close their connections as soon as they are told to stop: let these end by themselves before.
        connections.newCloseFuture().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        acceptors.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        workers.shutdownGracefully(100, 2_000, TimeUnit.MILLISECONDS).awaitUninterruptibly(3, TimeUnit.SECONDS);
        log.debug("HTTPS is closed");
    }
}
