package io.nodekeeper.cli.nodeapi;

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
import io.nodekeeper.agent.certificates.IssuedCertificate;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.NodeApiConfig;
import io.nodekeeper.agent.nodeapi.NodeApi;
import io.nodekeeper.agent.nodeapi.Requests;
import io.nodekeeper.cli.pages.Exposure;
import io.nodekeeper.client.access.DelegatedAccess;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.SystemClock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the node's API over HTTPS. One event loop serves all connections, so a slow client blocks no thread.
 * Thread-safe.
 */
public final class NodeApiServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(NodeApiServer.class);
    /** Bytes of a request's first line, and of its headers: the command of an exec is in the line. */
    private static final int HEAD_BYTES = 16 << 10;

    /** Bytes of a request's body, which is not read. */
    private static final int BODY_BYTES = 4 << 10;

    private final EventLoopGroup loop;
    private final Channel channel;
    private final Exposure exposure;

    private NodeApiServer(InetSocketAddress address, NodeApi api, NodeApiAccess access, Exposure exposure)
            throws IOException {
        this.exposure = exposure;
        Connections connections = new Connections();
        loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        var bound = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        connections.opened(connection);
                        exposure.secure(connection);
                        connection
                                .pipeline()
                                .addLast(new HttpServerCodec(new HttpDecoderConfig()
                                        .setMaxInitialLineLength(HEAD_BYTES)
                                        .setMaxHeaderSize(HEAD_BYTES)))
                                .addLast(new HttpObjectAggregator(BODY_BYTES))
                                .addLast(new NodeApiHandler(api, access, connections));
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            exposure.close();
            throw new IOException("port " + address + ": " + bound.cause().getMessage(), bound.cause());
        }
        channel = bound.channel();
    }

    /**
     * Starts to listen.
     *
     * @param issued the certificate that the cluster issues, if it does; instead of all others
     * @param given the certificate that flags name, before those of {@code config}
     * @param clientAuthorities the file that flags name, before that of {@code config}
     * @param server the API server that decides who may send requests
     * @throws IOException if the address or a file cannot be used
     */
    public static NodeApiServer start(
            NodeApi api,
            AgentConfig config,
            Optional<IssuedCertificate> issued,
            Optional<IdentityFiles> given,
            Optional<Path> clientAuthorities,
            ServerAccess server)
            throws IOException {
        NodeApiConfig settings = config.nodeApi();
        Optional<Path> authorities = clientAuthorities.or(settings::clientAuthorities);
        Optional<IdentityFiles> identity = issued.isPresent() ? Optional.empty() : Optional.of(identity(config, given));
        Exposure.Settings exposed = new Exposure.Settings(
                identity,
                authorities.isPresent() ? IdentityFiles.authorities("clientCAFile", authorities.get()) : List.of(),
                path -> false,
                path -> Requests.right(config.nodeName(), "GET", path),
                new DelegatedAccess.Times(settings.tokenTtl(), settings.allowedTtl(), settings.deniedTtl()));
        Exposure exposure = issued.isPresent()
                ? Exposure.withoutCertificate(exposed, server)
                : Exposure.start(exposed, settings.address(), server);
        issued.ifPresent(certificate -> certificate.listen(exposure::use));
        InetSocketAddress address =
                new InetSocketAddress(settings.address(), config.serving().kubeletPort());
        NodeApiServer started =
                new NodeApiServer(address, api, new NodeApiAccess(exposure, settings, config.nodeName()), exposure);
        log.info("The agent serves the node's API at https://{}", started.address());
        return started;
    }

    private static IdentityFiles identity(AgentConfig config, Optional<IdentityFiles> given) throws IOException {
        Optional<IdentityFiles> configured = config.nodeApi()
                .certificate()
                .map(file -> new IdentityFiles(file, config.nodeApi().key().orElseThrow()));
        return given.or(() -> configured).isPresent()
                ? given.or(() -> configured).orElseThrow()
                : ServingFiles.ensure(
                        config.rootDir(),
                        config.nodeName(),
                        config.nodeIps(),
                        new SystemClock().wallTime(),
                        Randoms.secure());
    }

    /** Asks the API server about clients with another client certificate. */
    public void renew(Identity identity) {
        exposure.renew(identity);
    }

    /** The address that it listens on. */
    public InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    /** Stops listening and closes all connections. */
    @Override
    public void close() {
        channel.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
        exposure.close();
    }
}
