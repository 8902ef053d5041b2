package io.nodekeeper.cli.pages;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.nodekeeper.client.pages.Pages;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Serves pages over HTTP/1.1, with TLS if they are exposed to other machines. One event loop serves all connections, so a slow client blocks no thread. At the
 * limit of connections, it closes the one with the oldest answer, so that slow clients cannot keep others out.
 * Thread-safe.
 */
public final class PagesServer implements AutoCloseable {
    /** The most connections, with at most 16 KiB of request each: enough for probes, scrapes and people. */
    static final int CONNECTIONS = 256;

    /** Bytes of a request's first line, and of its headers. */
    private static final int HEAD_BYTES = 8 << 10;

    /** Bytes of a request's body, which no page reads. */
    private static final int BODY_BYTES = 4 << 10;

    private final EventLoopGroup loop;
    private final Channel channel;
    /** At most {@link #CONNECTIONS}, the one with the oldest answer first; confined to the event loop. */
    private final Set<Channel> connections = new LinkedHashSet<>();

    private PagesServer(InetSocketAddress address, Pages pages, Optional<Exposure> exposure) throws IOException {
        HostCheck hosts = HostCheck.of(address.getAddress());
        loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        var bound = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        opened(connection);
                        exposure.ifPresent(secure -> secure.secure(connection));
                        connection
                                .pipeline()
                                .addLast(new HttpServerCodec(new HttpDecoderConfig()
                                        .setMaxInitialLineLength(HEAD_BYTES)
                                        .setMaxHeaderSize(HEAD_BYTES)))
                                .addLast(new HttpObjectAggregator(BODY_BYTES))
                                .addLast(new PagesHandler(pages, hosts, exposure, PagesServer.this::answered));
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            throw new IOException(String.valueOf(bound.cause().getMessage()), bound.cause());
        }
        channel = bound.channel();
    }

    /**
     * Starts to listen.
     *
     * @throws IOException if the address cannot be used; its cause is a {@link java.net.BindException} if the address
     *     is taken
     */
    public static PagesServer start(InetSocketAddress address, Pages pages) throws IOException {
        return start(address, pages, Optional.empty());
    }

    /** The same with {@code exposure}, which protects the pages; the caller closes it. */
    static PagesServer start(InetSocketAddress address, Pages pages, Optional<Exposure> exposure) throws IOException {
        return new PagesServer(address, pages, exposure);
    }

    /** The address that it listens on. */
    public InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    /** The number of connections. */
    int open() {
        return loop.submit(connections::size).syncUninterruptibly().getNow();
    }

    private void opened(Channel connection) {
        if (connections.size() >= CONNECTIONS) {
            Channel oldest = connections.iterator().next();
            connections.remove(oldest);
            oldest.close();
        }
        connections.add(connection);
        connection.closeFuture().addListener(closed -> connections.remove(connection));
    }

    /** A client that receives its answer counts as new. */
    private void answered(Channel connection) {
        if (connections.remove(connection)) {
            connections.add(connection);
        }
    }

    /** Stops listening and closes all connections. */
    @Override
    public void close() {
        channel.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
