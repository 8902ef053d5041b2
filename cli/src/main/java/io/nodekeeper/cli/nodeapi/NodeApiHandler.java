package io.nodekeeper.cli.nodeapi;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.nodekeeper.agent.host.TcpDiag;
import io.nodekeeper.agent.logs.LogPump;
import io.nodekeeper.agent.nodeapi.Answer;
import io.nodekeeper.agent.nodeapi.NodeApi;
import io.nodekeeper.agent.nodeapi.Query;
import io.nodekeeper.cli.http.HttpConnection;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.relay.Relay;
import io.nodekeeper.client.relay.RelayListener;
import io.nodekeeper.client.relay.RelayTarget;
import io.nodekeeper.client.relay.UpgradeHeaders;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to the node's API: one request at a time, each with a time limit, then one log or one stream of the
 * runtime, which ends with the connection. A request during another one, a log or a stream closes the connection.
 * Confined to the event loop.
 */
final class NodeApiHandler extends HttpConnection<FullHttpRequest> {
    private static final Logger log = LoggerFactory.getLogger(NodeApiHandler.class);

    /** Seconds for a client to send a request, and to take a page. */
    private static final int CLIENT_SECONDS = 10;

    /** The most parameters of a URL: above the characters that a URL may have. */
    private static final int PARAMETERS = (64 << 10) + 1;

    private static final Page TOO_MANY =
            Page.text(429, "too many logs and streams of this pod or of all pods are open");

    private final NodeApi api;
    private final NodeApiAccess access;
    private final Connections connections;
    private Optional<LogPump> pump = Optional.empty();

    NodeApiHandler(NodeApi api, NodeApiAccess access, Connections connections) {
        this.api = api;
        this.access = access;
        this.connections = connections;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        expectClient(context, CLIENT_SECONDS);
        context.fireChannelActive();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        if (!begin(context)) {
            return;
        }
        stopTimer();
        boolean keep = HttpUtil.isKeepAlive(request) && request.decoderResult().isSuccess();
        QueryStringDecoder uri = url(request.uri());
        String path;
        Query query;
        try {
            path = uri.path();
            query = new Query(uri.parameters());
        } catch (IllegalArgumentException e) {
            answer(context, Page.text(400, "malformed request"), false);
            return;
        }
        if (!request.decoderResult().isSuccess()) {
            answer(context, Page.text(400, "malformed request"), false);
            return;
        }
        String method = request.method().name();
        FullHttpRequest asked = withoutBody(request);
        access.check(context.channel(), request.headers().get(HttpHeaderNames.AUTHORIZATION, ""), method, path)
                .thenCompose(refusal -> refusal.<CompletableFuture<Answer>>map(
                                page -> CompletableFuture.completedFuture(new Answer.Whole(page)))
                        .orElseGet(() -> api.answer(method, path, query, uri.rawQuery())))
                .whenComplete((answer, error) -> context.executor().execute(() -> {
                    if (error != null) {
                        log.error("{} {} failed", method, path, error);
                        answer(context, Page.text(500, "the request failed; the log says why"), false);
                    } else {
                        give(context, asked, answer, keep);
                    }
                }));
    }

    /** Path and parameters, of which none is dropped: they may be the words of a command. */
    static QueryStringDecoder url(String uri) {
        return new QueryStringDecoder(uri, StandardCharsets.UTF_8, true, PARAMETERS, true);
    }

    /** What is needed of the request for longer than its buffers live. */
    private static FullHttpRequest withoutBody(FullHttpRequest request) {
        FullHttpRequest copy = new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1, request.method(), request.uri(), Unpooled.EMPTY_BUFFER);
        copy.headers().set(request.headers());
        return copy;
    }

    private void give(ChannelHandlerContext context, FullHttpRequest asked, Answer answer, boolean keep) {
        switch (answer) {
            case Answer.Whole whole -> answer(context, whole.page(), keep);
            case Answer.Log of -> send(context, of);
            case Answer.Stream stream -> stream(context, asked, stream);
        }
    }

    private void send(ChannelHandlerContext context, Answer.Log of) {
        if (!context.channel().isActive() || !connections.begin(context.channel(), of.pod())) {
            // The pump closes the file.
            of.open().apply(new NoClient()).stop();
            answer(context, TOO_MANY, false);
            return;
        }
        LogPump begun = of.open().apply(new LogBody(context));
        pump = Optional.of(begun);
        begun.start();
        // Reading notices that the client closes the connection.
        context.channel().config().setAutoRead(true);
    }

    private void stream(ChannelHandlerContext context, FullHttpRequest asked, Answer.Stream stream) {
        if (!UpgradeHeaders.wanted(asked.headers())) {
            answer(context, Page.text(400, "Upgrade request required"), false);
            return;
        }
        if (!connections.begin(context.channel(), stream.pod())) {
            answer(context, TOO_MANY, false);
            return;
        }
        URI place = stream.place();
        String target = place.getRawPath() + (place.getRawQuery() == null ? "" : "?" + place.getRawQuery());
        FullHttpRequest request =
                new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, asked.method(), target, Unpooled.EMPTY_BUFFER);
        request.headers().set(HttpHeaderNames.HOST, place.getAuthority()).set(HttpHeaderNames.CONTENT_LENGTH, 0);
        UpgradeHeaders.copy(asked.headers(), request.headers());
        RelayTarget runtime = new RelayTarget(
                new InetSocketAddress(place.getHost(), place.getPort()),
                Optional.empty(),
                NioSocketChannel.class,
                0,
                0,
                connection -> TcpDiag.hasPeerClosed(
                        (InetSocketAddress) connection.localAddress(), (InetSocketAddress) connection.remoteAddress()));
        Relay.start(context, runtime, request, true, new Upgraded(context));
    }

    /** What becomes of the request to the runtime's streaming server. */
    private final class Upgraded implements RelayListener {
        private final ChannelHandlerContext context;

        Upgraded(ChannelHandlerContext context) {
            this.context = context;
        }

        @Override
        public void failed(String why) {
            answer(context, Page.text(500, "error dialing the runtime's streaming server: " + why), false);
        }

        @Override
        public void refused(int status, String text) {
            answer(context, Page.text(status, text.stripTrailing()), false);
        }

        @Override
        public void begin(HttpResponse head) {
            // A streaming server changes the protocol or refuses.
            context.close();
        }

        @Override
        public void ended() {
            context.close();
        }

        @Override
        public void closed() {
            // The connection's end frees its place.
        }
    }

    private void answer(ChannelHandlerContext context, Page page, boolean keep) {
        send(
                context,
                response(HttpResponseStatus.valueOf(page.status()), page.type(), page.body(), keep),
                CLIENT_SECONDS,
                CLIENT_SECONDS,
                () -> connections.answered(context.channel()));
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        pump.ifPresent(LogPump::stop);
        super.channelInactive(context);
    }
}
