package io.nodekeeper.client.http;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/**
 * The connections to one server. Each exchange has a connection for itself, the one that was used last if one is idle, so a connection that
 * hangs affects only its own exchange. If none is idle a new one is opened in {@link OpeningTurns}, unless one becomes idle before. A new
 * connection has 5 s, and 10 s for TLS. The server's addresses are tried in turn, that of the
 * newest connection first, for half a second each but the last. Nothing else has a deadline: callers cancel. Their number is bounded by that of the exchanges. Thread-safe.
 */
public final class HttpConnections {
    /** Shorter than Kubernetes' 30 s, which is longer than the deadline of a heartbeat, so that a retry is in time. */
    private static final int CONNECT_MILLIS = 5_000;
    /**
     * For each address but the last: several times a round trip around the world, and short enough that a verdict's call of 2 s tries the
     * next one.
     */
    private static final int NEXT_ADDRESS_MILLIS = 500;
    /** For the address that is known to answer: its first packet may be lost, and is sent again after a second. */
    private static final int KNOWN_ADDRESS_MILLIS = 1_500;
    /** As in Go's client. */
    private static final int HANDSHAKE_MILLIS = 10_000;

    private static final int LONGEST_LINE = 8 << 10;
    /** An API server sends some hundred bytes of headers, and warnings of up to 4 KiB. */
    private static final int MOST_HEADERS = 64 << 10;

    private static final int LARGEST_PIECE = 64 << 10;

    private final EventLoop loop;
    private final ServerName server;
    private final AddressLookup lookup;
    private final ChannelFactory<SocketChannel> channels;
    private final ArrayDeque<HttpConnection> idle = new ArrayDeque<>();
    /** With the server's address. */
    private final Map<HttpConnection, InetAddress> open = new HashMap<>();
    /** Exchanges whose connection is being made. */
    private final Set<HttpExchange> connecting = new HashSet<>();

    private final OpeningTurns turns;

    private final HttpConnection.Owner owner = new HttpConnection.Owner() {
        @Override
        public void keep(HttpConnection connection) {
            idle.addLast(connection);
            if (turns.isAnyWaiting()) {
                // As a separate task: what the server sent beyond its response must not count as the next one.
                loop.execute(HttpConnections.this::serveWaiting);
            }
        }

        @Override
        public void gone(HttpConnection connection) {
            InetAddress address = open.remove(connection);
            idle.remove(connection);
            if (!connection.hasAnswered()) {
                // An address that accepts connections and does not answer must not be tried first.
                answered = answered.filter(known -> !known.equals(address));
            }
        }

        @Override
        public void again(HttpExchange exchange) {
            start(exchange);
        }
    };
    /** The address of the newest connection, unless that ended without an answer. */
    private Optional<InetAddress> answered = Optional.empty();

    private Optional<SSLContext> tls;
    /** How often {@link #tls} was renewed. */
    private int renewals;

    private boolean isClosed;

    /**
     * No connections yet.
     *
     * @param loop runs them; its owner ends it
     * @param threads runs lookups of the server's name, which block, one at a time
     * @param server the address; its path is not used
     * @param shown the name that TLS shows to the server; that of the address if it is empty
     * @throws IllegalArgumentException if the address has no host or no possible port
     */
    public HttpConnections(EventLoop loop, Executor threads, URI server, String shown, Optional<SSLContext> tls) {
        this(loop, threads, server, shown, tls, host -> List.of(InetAddress.getAllByName(host)), NioSocketChannel::new);
    }

    HttpConnections(
            EventLoop loop,
            Executor threads,
            URI server,
            String shown,
            Optional<SSLContext> tls,
            AddressLookup.Resolver resolver,
            ChannelFactory<SocketChannel> channels) {
        this.loop = loop;
        this.channels = channels;
        this.server = ServerName.of(server, tls.isPresent(), shown);
        this.turns = new OpeningTurns(loop, this::open);
        this.lookup =
                new AddressLookup(this.server.host(), resolver, threads, this::onLoop, this::connect, this::failed);
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
        headers.set(HttpHeaderNames.HOST, server.authority());
        if (body.length > 0 || !method.equals(HttpMethod.GET)) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, body.length);
        }
        HttpExchange exchange = new HttpExchange(this::onLoop, method, target, headers, body, receiver);
        try {
            loop.execute(() -> start(exchange));
        } catch (RejectedExecutionException e) {
            exchange.fail(closed());
        } catch (OutOfMemoryError e) {
            // No process id is left for the event loop's thread; the next exchange tries again, and does not send this
            // one with it.
            exchange.fail(e);
        }
        return exchange;
    }

    /** Uses another context for new connections; those that there are serve no further exchange. */
    public void renew(Optional<SSLContext> context) {
        onLoop(() -> {
            tls = context;
            renewals++;
            List.copyOf(open.keySet()).forEach(HttpConnection::retire);
        });
    }

    /** Fails all exchanges and closes all connections. To be called before the event loop ends. */
    public void close() {
        onLoop(() -> {
            isClosed = true;
            for (Optional<HttpExchange> next = turns.poll(); next.isPresent(); next = turns.poll()) {
                next.get().fail(closed());
            }
            lookup.fail(closed());
            for (HttpExchange exchange : List.copyOf(connecting)) {
                exchange.fail(closed());
            }
            for (HttpConnection connection : List.copyOf(open.keySet())) {
                connection.fail(closed());
            }
        });
    }

    private static IOException closed() {
        return new IOException("the client is closed");
    }

    /** Runs {@code task} on the event loop, unless that has ended, and with it all exchanges. */
    private void onLoop(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
        } else {
            try {
                loop.execute(task);
            } catch (RejectedExecutionException e) {
                return;
            }
        }
    }

    private void start(HttpExchange exchange) {
        if (exchange.isOver()) {
            return;
        }
        if (isClosed) {
            exchange.fail(closed());
            return;
        }
        Optional<HttpConnection> connection = idle();
        try {
            if (connection.isPresent()) {
                begin(connection.get(), exchange);
            } else {
                turns.add(exchange);
            }
        } catch (RuntimeException e) {
            // The event loop would only log it, and the caller would wait.
            exchange.fail(e);
        }
    }

    /** Connections have become idle: they serve what waits for a turn to open one. */
    private void serveWaiting() {
        while (turns.isAnyWaiting()) {
            Optional<HttpConnection> connection = idle();
            if (connection.isEmpty()) {
                return;
            }
            turns.poll()
                    .ifPresentOrElse(
                            exchange -> begin(connection.get(), exchange), () -> idle.addLast(connection.get()));
        }
    }

    /** Removes the connection that was used last and is still open. */
    private Optional<HttpConnection> idle() {
        HttpConnection connection = idle.pollLast();
        while (connection != null && !connection.isOpen()) {
            connection = idle.pollLast();
        }
        return Optional.ofNullable(connection);
    }

    private static void begin(HttpConnection connection, HttpExchange exchange) {
        try {
            connection.begin(exchange);
        } catch (RuntimeException e) {
            connection.fail(e);
        }
    }

    /** It is the turn of {@code exchange}. */
    private void open(HttpExchange exchange) {
        try {
            if (server.literal().isPresent()) {
                connect(exchange, List.of(server.literal().get()));
            } else {
                lookup.start(exchange);
            }
        } catch (RuntimeException e) {
            failed(exchange, e);
        }
    }

    /** No connection for {@code exchange} can be opened. */
    private void failed(HttpExchange exchange, Throwable why) {
        exchange.fail(why);
        turns.ended(exchange);
    }

    private void connect(HttpExchange exchange, List<InetAddress> addresses) {
        ArrayDeque<InetAddress> inTurn = new ArrayDeque<>(addresses);
        boolean known = answered.filter(inTurn::remove).isPresent();
        answered.filter(address -> known).ifPresent(inTurn::addFirst);
        connect(
                exchange,
                inTurn,
                known ? KNOWN_ADDRESS_MILLIS : NEXT_ADDRESS_MILLIS,
                Math.max(NEXT_ADDRESS_MILLIS, CONNECT_MILLIS - NEXT_ADDRESS_MILLIS * (inTurn.size() - 1)));
    }

    /** Tries the first of {@code addresses} for {@code millis}, then the others, the last one for {@code last} milliseconds. */
    private void connect(HttpExchange exchange, ArrayDeque<InetAddress> addresses, int millis, int last) {
        if (exchange.isOver()) {
            connecting.remove(exchange);
            turns.ended(exchange);
            return;
        }
        InetAddress address = addresses.removeFirst();
        ChannelFuture attempt = new Bootstrap()
                .group(loop)
                .channelFactory(channels)
                .disableResolver()
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, addresses.isEmpty() ? last : millis)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        prepare(channel);
                    }
                })
                .connect(new InetSocketAddress(address, server.port()));
        if (!attempt.isDone()) {
            exchange.on(attempt.channel());
            // Calls that come later need not wait for it, too.
            loop.schedule(() -> notFirst(address, attempt), NEXT_ADDRESS_MILLIS, TimeUnit.MILLISECONDS);
        }
        connecting.add(exchange);
        int renewed = renewals;
        // If too many files are open there is no channel, and the listener is called by another thread.
        attempt.addListener(result -> onLoop(() -> {
            if (result.isSuccess()) {
                answered = Optional.of(address);
                connected(attempt.channel(), address, exchange, renewed);
            } else if (result.cause() instanceof SocketException && !addresses.isEmpty()) {
                connect(exchange, addresses, NEXT_ADDRESS_MILLIS, last);
            } else {
                connecting.remove(exchange);
                failed(exchange, result.cause());
            }
        }));
    }

    /** If {@code attempt} still goes on its address is not tried first any more. */
    private void notFirst(InetAddress address, ChannelFuture attempt) {
        if (!attempt.isDone()) {
            answered = answered.filter(known -> !known.equals(address));
        }
    }

    private void prepare(Channel channel) {
        tls.ifPresent(context -> {
            SslHandler handler = new SslHandler(server.engine(context));
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
                .addLast(new HttpConnection(owner, channel));
    }

    private void connected(Channel channel, InetAddress address, HttpExchange exchange, int renewed) {
        connecting.remove(exchange);
        HttpConnection connection = channel.pipeline().get(HttpConnection.class);
        SslHandler secured = channel.pipeline().get(SslHandler.class);
        if (secured == null) {
            turns.ended(exchange);
        } else {
            secured.handshakeFuture().addListener(done -> turns.ended(exchange));
        }
        if (exchange.isOver() || connection == null) {
            // Without a handler it was closed at once.
            channel.close();
            exchange.fail(new IOException("the connection was closed without a response"));
            return;
        }
        open.put(connection, address);
        begin(connection, exchange);
        if (renewed != renewals) {
            connection.retire();
        }
    }
}
