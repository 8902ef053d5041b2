package io.nodekeeper.apiserver.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.netty.connections.Connections;
import io.nodekeeper.apiserver.netty.nodes.NodeIdentity;
import io.nodekeeper.apiserver.netty.nodes.NodeReads;
import io.nodekeeper.client.tls.TlsTurns;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The API over HTTPS: HTTP/2 for clients that offer it in the TLS handshake, otherwise HTTP/1.1. Thread-safe. */
public final class HttpsServer {
    private static final Logger log = LoggerFactory.getLogger(HttpsServer.class);

    private static final int BACKLOG = 4_096;

    /**
     * The most bytes that an event loop reads from one connection before it serves the next one, in two reads. Pipelined
     * small requests cost some 25 µs per 80 bytes, so 20 ms. Netty's default of a megabyte delayed all others for 0.5 s.
     */
    private static final int TURN = 64 << 10;

    /**
     * Accepted connections per {@link AcceptRate#WINDOW_MILLIS} and processor: 1,000 per second, about as many full
     * handshakes as a processor can do.
     */
    private static final int ACCEPTED = 10;

    /** The timeout of a TLS handshake, as Kubernetes' for headers: after a restart all clients connect at the same time. */
    private static final Duration HANDSHAKE = Duration.ofSeconds(32);

    private final EventLoopGroup acceptors;
    private final EventLoopGroup workers;
    private final Channel channel;
    private final Duration drain;
    private final ServerContext serverContext;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** All connections, to end them; {@link #clients} limits their number. */
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    private final Connections clients;
    private final TlsTurns turns;
    private volatile SslContext tls;

    /**
     * What a server needs before there is something to serve. It takes longer than the rest of its start, so it is done while a
     * store opens.
     *
     * @param tls the TLS of clients
     * @param nodes the TLS of connections to nodes, if the server makes any
     */
    public record Prepared(SslContext tls, Optional<NodeIdentity.Tls> nodes, HttpsOptions options) {}

    private HttpsServer(ApiServer server, Prepared prepared) {
        HttpsOptions options = prepared.options;
        tls = prepared.tls;
        drain = options.drain();
        clients = new Connections(options.connections(), options.clock());
        turns = new TlsTurns(HANDSHAKE, options.clock());
        serverContext = new ServerContext(server, options, prepared.nodes);
        boolean epoll = Epoll.isAvailable();
        IoHandlerFactory io = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        acceptors = new MultiThreadIoEventLoopGroup(1, io);
        // One thread per processor; more threads only compete (measured).
        workers = new MultiThreadIoEventLoopGroup(Runtime.getRuntime().availableProcessors(), io);
        server.readNodes(new NodeReads(workers, serverContext::nodes));
        channel = new ServerBootstrap()
                .group(acceptors, workers)
                .channel(epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
                .handler(new AcceptRate(ACCEPTED * Runtime.getRuntime().availableProcessors()))
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, turn())
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        connections.add(connection);
                        Connections.Client client = clients.add(connection);
                        turns.secure(connection, tls, client);
                        connection.pipeline().addLast(new Negotiation(serverContext, client, drain));
                    }
                })
                .bind(options.address())
                .syncUninterruptibly()
                .channel();
    }

    private static RecvByteBufAllocator turn() {
        return new AdaptiveRecvByteBufAllocator(64, 2_048, TURN / 2).maxMessagesPerRead(2);
    }

    /**
     * Prepares a server, which does not listen yet.
     *
     * @throws IllegalArgumentException if an identity cannot be used
     */
    public static Prepared prepare(ServerIdentity identity, HttpsOptions options) {
        return new Prepared(ServerTls.context(identity), options.nodes().map(NodeIdentity::tls), options);
    }

    /** As {@link #start(ApiServer, Prepared)}, with what {@link #prepare} makes of these arguments. */
    public static HttpsServer start(ApiServer server, ServerIdentity identity, HttpsOptions options) {
        return start(server, prepare(identity, options));
    }

    /**
     * Starts to listen.
     *
     * @throws UncheckedIOException if the server cannot listen on the address
     */
    public static HttpsServer start(ApiServer server, Prepared prepared) {
        HttpsOptions options = prepared.options;
        try {
            return new HttpsServer(server, prepared);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            // Netty throws the checked exception of a failed bind without declaring it.
            throw new UncheckedIOException(
                    new IOException("cannot listen on " + options.address() + ": " + e.getMessage(), e));
        }
    }

    /** The port that it listens on. */
    public int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    /**
     * Replaces the certificate for new connections.
     *
     * @throws IllegalArgumentException if the identity cannot be used; the previous one stays
     */
    public void renew(ServerIdentity identity) {
        tls = ServerTls.context(identity);
    }

    /**
     * Replaces the certificate that nodes see.
     *
     * @throws IllegalArgumentException if the identity cannot be used; the previous one stays
     */
    public void renew(NodeIdentity identity) {
        serverContext.nodes(identity);
    }

    /**
     * Stops listening, ends watches, refuses new requests, waits for active requests up to the drain time, and closes all
     * connections. Blocks until then. Idempotent.
     */
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        channel.close().syncUninterruptibly();
        serverContext.stop();
        connections.forEach(connection -> connection.pipeline().fireUserEventTriggered(ConnectionEvent.STOP));
        if (!connections.newCloseFuture().awaitUninterruptibly(drain.toMillis(), TimeUnit.MILLISECONDS)) {
            log.warn("closing {} connections that did not end within {}", connections.size(), drain);
            connections.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
        }
        acceptors.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        workers.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(3, TimeUnit.SECONDS);
        log.debug("the HTTPS server is closed");
    }
}
