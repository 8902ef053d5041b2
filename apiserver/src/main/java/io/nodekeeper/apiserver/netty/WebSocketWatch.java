package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker13;
import io.netty.util.ReferenceCountUtil;
import io.nodekeeper.apiserver.request.ApiResponse;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A WebSocket with one watch: sends events, and answers ping and close frames. Confined to its event loop. */
final class WebSocketWatch extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(WebSocketWatch.class);
    /** The largest frame from a client: control frames have at most 125 bytes, and all other frames are ignored. */
    private static final int HEARD_BYTES = 64 << 10;

    /**
     * How long the client may take to answer the close frame: well above a round trip; after that the connection is
     * closed anyway.
     */
    private static final int CLOSING_SECONDS = 2;

    private final ApiResponse.Streamed streamed;
    private final ServerContext serverContext;
    private final String user;
    private @Nullable NettySink sink;
    /** The last ping, if its pong waits until the channel accepts it. */
    private @Nullable PingWebSocketFrame pinged;
    /** The pong that the client must accept in time. */
    private @Nullable ChannelFuture watched;

    private WebSocketWatch(ApiResponse.Streamed streamed, ServerContext serverContext, String user) {
        this.streamed = streamed;
        this.serverContext = serverContext;
        this.user = user;
    }

    /** Whether a request is a WebSocket upgrade of the supported version. */
    static boolean wanted(HttpRequest request) {
        HttpHeaders headers = request.headers();
        return request.protocolVersion().equals(HttpVersion.HTTP_1_1)
                // The only protocol, as Netty's handshake wants it; of several, a client gets HTTP/1.1.
                && headers.contains(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true)
                && headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)
                && headers.contains(HttpHeaderNames.SEC_WEBSOCKET_VERSION, "13", true)
                && headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY);
    }

    /** Changes the protocol, replaces the handler of {@code context}, and starts the watch of {@code user}. */
    static void open(
            ChannelHandlerContext context,
            HttpRequest request,
            ApiResponse.Streamed streamed,
            ServerContext serverContext,
            String user) {
        FullHttpRequest asked = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, request.method(), request.uri());
        asked.headers().set(request.headers());
        HttpHeaders headers = new DefaultHttpHeaders();
        new ResponseWriter(serverContext).headers(headers, streamed);
        headers.remove(HttpHeaderNames.CONTENT_TYPE);
        WebSocketServerHandshaker handshaker = new WebSocketServerHandshaker13(
                request.uri(),
                null,
                WebSocketDecoderConfig.newBuilder()
                        .maxFramePayloadLength(HEARD_BYTES)
                        .build());
        context.pipeline().remove(HttpServerKeepAliveHandler.class);
        handshaker
                .handshake(context.channel(), asked, headers, context.newPromise())
                .addListener(done -> {
                    if (done.isSuccess()) {
                        context.pipeline()
                                .replace(context.handler(), "watch", new WebSocketWatch(streamed, serverContext, user));
                    } else {
                        log.debug("WebSocket handshake with {} failed", Peer.address(context.channel()), done.cause());
                        context.close();
                    }
                });
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        // The client closes the connection after the close frame; the wait for it is limited.
        NettySink begun = new NettySink(
                context,
                serverContext,
                Framing.WEB_SOCKET,
                user,
                () -> context.executor().schedule(() -> context.close(), CLOSING_SECONDS, TimeUnit.SECONDS));
        sink = begun;
        serverContext.opened(begun);
        context.channel().config().setAutoRead(true);
        streamed.start().accept(begun);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        switch (message) {
            case PingWebSocketFrame ping -> {
                dropPing();
                pinged = ping;
                pong(context);
            }
            case CloseWebSocketFrame close -> {
                leave();
                ChannelFuture written = context.writeAndFlush(close);
                WriteTimeout.watch(context, written);
                written.addListener(ChannelFutureListener.CLOSE);
            }
            default -> ReferenceCountUtil.release(message);
        }
    }

    /**
     * Answers only the last ping of a client that does not read, as RFC 6455 allows. The pongs of all of them would fill the
     * memory.
     */
    private void pong(ChannelHandlerContext context) {
        PingWebSocketFrame ping = pinged;
        if (ping == null || !context.channel().isWritable()) {
            return;
        }
        // Before the write, which may change the writability and so call this again.
        pinged = null;
        ChannelFuture written = context.writeAndFlush(new PongWebSocketFrame(ping.content()));
        // One timer is enough, because pongs are written in their order.
        if (watched == null || watched.isDone()) {
            watched = written;
            WriteTimeout.watch(context, written);
        }
    }

    private void dropPing() {
        if (pinged != null) {
            pinged.release();
            pinged = null;
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        // First, because the events that wait may fill the channel again.
        pong(context);
        if (sink != null) {
            sink.write();
        }
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        leave();
        context.fireChannelInactive();
    }

    private void leave() {
        dropPing();
        if (sink != null) {
            sink.closed();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        log.debug("watch of {}: {}", Peer.address(context.channel()), cause.toString());
        context.close();
    }
}
