package io.nodekeeper.apiserver.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.apiserver.netty.nodes.NodeIdentity;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.NodeCall;
import io.nodekeeper.client.relay.Relay;
import io.nodekeeper.client.relay.RelayListener;
import io.nodekeeper.client.relay.RelayTarget;
import io.nodekeeper.client.relay.UpgradeHeaders;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets a node answer one request: connects to it, and passes its answer on. Confined to the client's event loop. */
final class NodeRelay implements RelayListener {
    private static final Logger log = LoggerFactory.getLogger(NodeRelay.class);
    /** 128 KiB, of which the kernel makes 256: 13 MB/s over 10 ms, and 220 streams that end together fit into memory. */
    private static final int RECEIVE_BUFFER = 128 << 10;
    /** Much longer than kubectl needs to close a connection whose streams have ended. */
    private static final int SPDY_SECONDS = 30;

    private static final ApiResponse.Full NO_UPGRADE =
            ApiResponse.refusal(ApiException.badRequest("Upgrade request required"));
    private static final ApiResponse.Full NO_NODES = ApiResponse.refusal(
            new ApiException(503, "ServiceUnavailable", "this server has no certificate for connections to nodes"));
    /** What is counted and logged if the client does not wait for the node. */
    private static final ApiResponse.Full GONE =
            ApiResponse.refusal(internal("the client disconnected before the node answered"));

    private final ChannelHandlerContext context;
    private final ServerContext serverContext;
    private final ApiResponse.Relayed relayed;
    private final ResponseWriter answers;
    private final String method;
    private final Runnable afterEnd;
    private Optional<Relay> relay = Optional.empty();

    private NodeRelay(
            ChannelHandlerContext context,
            ServerContext serverContext,
            ApiResponse.Relayed relayed,
            String method,
            Runnable afterEnd) {
        this.context = context;
        this.serverContext = serverContext;
        this.relayed = relayed;
        this.method = method;
        this.afterEnd = afterEnd;
        answers = new ResponseWriter(serverContext);
    }

    /** Begins; {@code afterEnd} runs on the event loop when the client may send its next request. */
    static void start(
            ChannelHandlerContext context,
            HttpRequest request,
            ApiResponse.Relayed relayed,
            ServerContext serverContext,
            Runnable afterEnd) {
        NodeRelay begun =
                new NodeRelay(context, serverContext, relayed, request.method().name(), afterEnd);
        NodeCall call = relayed.call();
        boolean mayChange =
                context.pipeline().get(HttpServerCodec.class) != null && UpgradeHeaders.wanted(request.headers());
        if (!context.channel().isActive()) {
            begun.refuse(GONE);
        } else if (serverContext.nodes().isEmpty()) {
            begun.refuse(NO_NODES);
        } else if (call.upgrade() && !mayChange) {
            begun.refuse(NO_UPGRADE);
        } else if (!serverContext.relays.take(call.user(), 1)) {
            begun.refuse(ResponseWriter.TOO_MANY);
        } else {
            begun.connect(request, serverContext.nodes().get());
        }
    }

    private void refuse(ApiResponse.Full why) {
        answer(why);
        relayed.ended().run();
    }

    /** Answers without the node. */
    private void answer(ApiResponse.Full answer) {
        relayed.answered().accept(answer);
        answers.write(context, answer, method, relayed.call().user());
        afterEnd.run();
    }

    private void connect(HttpRequest client, NodeIdentity.Tls tls) {
        NodeCall call = relayed.call();
        byte[] body = call.passed().map(NodeCall.Passed::body).orElse(new byte[0]);
        FullHttpRequest request = new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1, client.method(), call.target(), Unpooled.wrappedBuffer(body));
        call.passed()
                .ifPresent(passed -> passed.headers()
                        .forEach((name, value) -> request.headers().set(name, value)));
        String host = call.host().contains(":") ? "[" + call.host() + "]" : call.host();
        request.headers()
                .set(HttpHeaderNames.HOST, host + ":" + call.port())
                .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                .set(NodeCall.RELAYED, "1");
        if (call.upgrade()) {
            UpgradeHeaders.copy(client.headers(), request.headers());
        } else {
            request.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        RelayTarget node = new RelayTarget(
                new InetSocketAddress(InetAddress.ofLiteral(call.host()), call.port()),
                Optional.of(tls.context(call.verified())),
                Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class,
                RECEIVE_BUFFER,
                SPDY_SECONDS,
                connection -> false);
        Relay begun = Relay.start(
                context, node, request, call.upgrade(), call.passed().isPresent(), this);
        relay = Optional.of(begun);
        serverContext.relaying(begun);
    }

    @Override
    public void failed(String why) {
        log.info("node at {}:{}: {}", relayed.call().host(), relayed.call().port(), why);
        boolean waits = context.channel().isActive();
        answer(waits ? ApiResponse.refusal(internal("error dialing backend: " + why)) : GONE);
    }

    private static ApiException internal(String why) {
        return new ApiException(500, "InternalError", "Internal error occurred: " + why);
    }

    @Override
    public void refused(int status, String text) {
        String why = text.strip();
        answer(relayed.call().upgrade() ? ApiResponse.text(status, why) : refusal(status, why));
    }

    @Override
    public void changed() {
        relayed.answered().accept(ApiResponse.empty(HttpResponseStatus.SWITCHING_PROTOCOLS.code()));
    }

    /** As kube-apiserver translates a kubelet's error. */
    private static ApiResponse.Full refusal(int status, String text) {
        return ApiResponse.refusal(
                switch (status) {
                    case 400 -> ApiException.badRequest(text);
                    case 401, 403 -> internal("the node refused this server: " + text);
                    case 404 -> new ApiException(404, "NotFound", text);
                    case 429 -> new ApiException(429, "TooManyRequests", text);
                    default -> internal(text);
                });
    }

    @Override
    public void begin(HttpResponse head) {
        HttpResponseStatus status = relayed.call().passed().isPresent() ? head.status() : HttpResponseStatus.OK;
        relayed.answered().accept(ApiResponse.empty(status.code()));
        HttpResponse out = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status);
        answers.headers(out.headers(), relayed);
        boolean isEmpty = status.code() == HttpResponseStatus.NO_CONTENT.code()
                || status.code() == HttpResponseStatus.NOT_MODIFIED.code();
        if (!isEmpty) {
            out.headers()
                    .set(HttpHeaderNames.CONTENT_TYPE, head.headers().get(HttpHeaderNames.CONTENT_TYPE, "text/plain"))
                    .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        }
        context.channel().config().setAutoRead(true);
        context.writeAndFlush(out);
    }

    @Override
    public void ended() {
        afterEnd.run();
    }

    @Override
    public void closed() {
        serverContext.relays.giveBack(relayed.call().user(), 1);
        relay.ifPresent(serverContext::relayed);
        relayed.ended().run();
    }
}
