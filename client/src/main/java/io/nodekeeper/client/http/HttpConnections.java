package io.nodekeeper.client.http;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * The connections to one server. Each exchange has a connection for itself, the one that was used last if one is idle, so a connection that
 * hangs affects only its own exchange. A new connection has 5 s, divided among the server's addresses, which are tried in
 * turn, and 10 s for TLS. Nothing else has a deadline: callers cancel. Their number is bounded by that of the exchanges. Thread-safe.
 */
public final class HttpConnections {
    /** Shorter than Kubernetes' 30 s, which is longer than the deadline of a heartbeat, so that a retry is in time. */
    private static final int CONNECT_MILLIS = 5_000;
    /** As in Go's client. */
    private static final int HANDSHAKE_MILLIS = 10_000;

    private static final int LONGEST_LINE = 8 << 10;
    /** An API server sends some hundred bytes of headers, and warnings of up to 4 KiB. */
    private static final int MOST_HEADERS = 64 << 10;

    private static final int LARGEST_PIECE = 64 << 10;

    private final EventLoop loop;
    private final Executor lookups;
    private final Lookup lookup;
    private final String host;
    private final String authority;
    private final int port;
    private final Optional<SSLContext> tls;
    private final ArrayDeque<HttpConnection> idle = new ArrayDeque<>();
    private final Set<HttpConnection> open = new HashSet<>();
    private boolean isRetired;

    /** Finds the addresses of a host: at least one. */
    interface Lookup {
        List<InetAddress> addresses(String host) throws UnknownHostException;
    }

    /**
     * No connections yet.
     *
     * @param loop runs them; its owner ends it
     * @param lookups runs lookups of the server's name, which block
     * @param server the address; its path is not used
     */
    public HttpConnections(EventLoop loop, Executor lookups, URI server, Optional<SSLContext> tls) {
        this(loop, lookups, server, tls, host -> List.of(InetAddress.getAllByName(host)));
    }

    HttpConnections(EventLoop loop, Executor lookups, URI server, Optional<SSLContext> tls, Lookup lookup) {
        this.loop = loop;
        this.lookup = lookup;
        this.lookups = lookups;
        String name = Optional.ofNullable(server.getHost())
                .orElseThrow(() -> new IllegalArgumentException("the server " + server + " has no host name"));
        this.host = name.startsWith("[") ? name.substring(1, name.length() - 1) : name;
        this.authority = server.getPort() < 0 ? name : name + ":" + server.getPort();
        this.port = server.getPort() >= 0 ? server.getPort() : tls.isPresent() ? 443 : 80;
        this.tls = tls;
    }

    /**
     * Sends a request.
     *
     * @param target path and query, percent-encoded
     * @param headers all but {@code Host} and {@code Content-Length}, which are added
     * @param body must not be changed
     */
    public HttpExchange send(
            HttpMethod method, String target, HttpHeaders headers, byte[] body, ResponseReceiver receiver) {
        headers.set(HttpHeaderNames.HOST, authority);
        if (body.length > 0 || !method.equals(HttpMethod.GET)) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, body.length);
        }
        HttpExchange exchange = new HttpExchange(this, method, target, headers, body, receiver);
        try {
            loop.execute(() -> start(exchange));
        } catch (RejectedExecutionException e) {
            exchange.fail(new IOException("the client is closed", e));
        }
        return exchange;
    }

    /** Closes idle connections now, and each other one after its exchange. */
    public void retire() {
        execute(() -> {
            isRetired = true;
            idle.clear();
            List.copyOf(open).forEach(HttpConnection::retire);
        });
    }

    /** Runs {@code task} on the event loop, or drops it if that has ended, and with it all connections. */
    void execute(Runnable task) {
        if (!loop.isShuttingDown()) {
            try {
                loop.execute(task);
            } catch (RejectedExecutionException e) {
                // It ended just now.
                return;
            }
        }
    }

    void start(HttpExchange exchange) {
        if (exchange.isOver()) {
            return;
        }
        HttpConnection connection = idle.pollLast();
        if (connection != null) {
            connection.begin(exchange);
        } else {
            lookUp(exchange);
        }
    }

    private void lookUp(HttpExchange exchange) {
        byte[] literal = NetUtil.createByteArrayFromIpAddressString(host);
        try {
            if (literal != null) {
                connect(exchange, List.of(InetAddress.getByAddress(literal)));
            } else {
                lookups.execute(() -> lookUpNow(exchange));
            }
        } catch (UnknownHostException | RejectedExecutionException e) {
            exchange.fail(e);
        }
    }

    private void lookUpNow(HttpExchange exchange) {
        try {
            List<InetAddress> addresses = lookup.addresses(host);
            execute(() -> connect(exchange, addresses));
        } catch (UnknownHostException e) {
            execute(() -> exchange.fail(e));
        }
    }

    private void connect(HttpExchange exchange, List<InetAddress> addresses) {
        connect(exchange, new ArrayList<>(addresses), CONNECT_MILLIS / addresses.size());
    }

    private void connect(HttpExchange exchange, List<InetAddress> addresses, int millis) {
        if (exchange.isOver()) {
            return;
        }
        ChannelFuture connecting = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        prepare(channel);
                    }
                })
                .connect(new InetSocketAddress(addresses.removeFirst(), port));
        exchange.on(connecting.channel());
        connecting.addListener((ChannelFutureListener) connected -> {
            if (connected.isSuccess()) {
                connected(connected.channel(), exchange);
            } else if (connected.cause() instanceof ConnectException && !addresses.isEmpty()) {
                connect(exchange, addresses, millis);
            } else {
                exchange.fail(connected.cause());
            }
        });
    }

    private void prepare(Channel channel) {
        tls.ifPresent(context -> {
            SslHandler handler = new SslHandler(engine(context));
            handler.setHandshakeTimeoutMillis(HANDSHAKE_MILLIS);
            channel.pipeline().addLast(handler);
        });
        channel.pipeline()
                .addLast(new HttpClientCodec(
                        new HttpDecoderConfig()
                                .setMaxInitialLineLength(LONGEST_LINE)
                                .setMaxHeaderSize(MOST_HEADERS)
                                .setMaxChunkSize(LARGEST_PIECE),
                        false,
                        false))
                .addLast(new HttpConnection(this, channel));
    }

    private SSLEngine engine(SSLContext context) {
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        // The certificate must be for this host.
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        serverName().ifPresent(name -> parameters.setServerNames(List.of(name)));
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** The name that TLS shows to the server; addresses have none (RFC 6066, 3), nor have names with an underscore. */
    private Optional<SNIServerName> serverName() {
        try {
            return NetUtil.createByteArrayFromIpAddressString(host) == null
                    ? Optional.of(new SNIHostName(host))
                    : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private void connected(Channel channel, HttpExchange exchange) {
        HttpConnection connection = channel.pipeline().get(HttpConnection.class);
        if (connection == null) {
            // It was closed at once.
            exchange.fail(new IOException("the connection was closed without a response"));
        } else if (exchange.isOver()) {
            channel.close();
        } else {
            open.add(connection);
            connection.begin(exchange);
        }
    }

    /** Keeps an idle connection for the next exchange; false if it has to be closed. */
    boolean keep(HttpConnection connection) {
        if (!isRetired) {
            idle.addLast(connection);
        }
        return !isRetired;
    }

    void closed(HttpConnection connection) {
        open.remove(connection);
        idle.remove(connection);
    }
}
