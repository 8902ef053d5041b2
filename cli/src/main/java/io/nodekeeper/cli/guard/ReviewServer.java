package io.nodekeeper.cli.guard;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.tls.TlsTurns;
import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Serves admission reviews over HTTPS. One event loop serves all connections; reviews are parsed on other threads. At
 * the limit of connections it closes the one that has been open for longest. Without a certificate it closes every
 * connection, so that the API server lets writes pass. Thread-safe.
 */
final class ReviewServer implements AutoCloseable {
    /** The most connections: an API server keeps some tens, a cluster has up to seven API servers. */
    static final int CONNECTIONS = 256;
    /** Bytes of a request's first line, and of its headers. */
    private static final int HEAD_BYTES = 8 << 10;
    /** The timeout of a TLS handshake, far more than the second that the API server waits for an answer. */
    private static final Duration HANDSHAKE = Duration.ofSeconds(5);

    private final TlsTurns turns;
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel channel;
    /** At most {@link #CONNECTIONS}, the oldest first; confined to the event loop. */
    private final Set<Channel> connections = new LinkedHashSet<>();

    private final ReviewClients clients;
    private volatile @Nullable SslContext tls;

    /**
     * Starts to listen.
     *
     * @param clients who may send reviews
     * @param clock tells when the certificates of clients end, and measures what their TLS records cost
     * @param workers parse reviews
     * @param reviews answers a review; fails with an IllegalArgumentException if the body is none
     * @throws IOException if the address cannot be used
     */
    ReviewServer(
            InetSocketAddress address,
            ReviewClients clients,
            Clock clock,
            Executor workers,
            Function<byte[], CompletableFuture<byte[]>> reviews)
            throws IOException {
        this.clients = clients;
        turns = new TlsTurns(HANDSHAKE, clock);
        ReviewHandler.Bodies bodies = new ReviewHandler.Bodies();
        var bound = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        opened(connection, new ReviewHandler(bodies, clients, clock, workers, reviews));
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            throw new IOException(
                    "--guard-bind-address " + address + ": " + bound.cause().getMessage(), bound.cause());
        }
        channel = bound.channel();
    }

    private void opened(Channel connection, ReviewHandler handler) {
        SslContext context = tls;
        if (context == null) {
            connection.close();
            return;
        }
        if (connections.size() >= CONNECTIONS) {
            Channel oldest = connections.iterator().next();
            connections.remove(oldest);
            oldest.close();
        }
        connections.add(connection);
        connection.closeFuture().addListener(closed -> connections.remove(connection));
        turns.secure(connection, context);
        connection
                .pipeline()
                .addLast(new HttpServerCodec(new HttpDecoderConfig()
                        .setMaxInitialLineLength(HEAD_BYTES)
                        .setMaxHeaderSize(HEAD_BYTES)))
                .addLast(handler);
    }

    /** New connections are served with {@code identity} from now on. */
    void show(Identity identity) {
        try {
            tls = clients.demand(SslContextBuilder.forServer(
                                    identity.key(), identity.chain().toArray(new X509Certificate[0]))
                            .protocols("TLSv1.3", "TLSv1.2"))
                    .build();
        } catch (SSLException e) {
            throw new IllegalArgumentException("the certificate " + identity + " is unusable: " + e.getMessage(), e);
        }
    }

    /** The address that it listens on. */
    InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    /** The number of connections. */
    int open() {
        return loop.submit(connections::size).syncUninterruptibly().getNow();
    }

    /** Stops listening and closes all connections. */
    @Override
    public void close() {
        channel.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
