package io.nodekeeper.apiserver.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.apiserver.ApiRequest;
import io.nodekeeper.apiserver.ApiResponse;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.User;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One connection: reads requests, has them answered one at a time, writes the answers. Confined to its event loop. */
final class RequestHandler extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(RequestHandler.class);
    /** The largest body (Kubernetes' limit). */
    private static final int BODY_BYTES = 3_145_728;

    /** What a client may send ahead while a watch runs on the connection, in parts of messages. Chosen. */
    private static final int AHEAD = 256;

    private final ApiServer server;
    /** What came while an answer was under way: the decoder hands out all that was in one packet. */
    private final ArrayDeque<Object> ahead = new ArrayDeque<>();

    private Optional<User> certificate = Optional.empty();
    private @Nullable HttpRequest head;
    private @Nullable ByteBuf body;
    private boolean tooLarge;
    private boolean busy;
    private boolean stopping;
    private @Nullable NettySink stream;

    RequestHandler(ApiServer server) {
        this.server = server;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!busy && ahead.isEmpty()) {
            take(context, message);
        } else if (ahead.size() < AHEAD) {
            ahead.add(message);
        } else {
            ReferenceCountUtil.release(message);
            log.debug(
                    "{} sends on without waiting for its answers",
                    context.channel().remoteAddress());
            context.close();
        }
    }

    private void take(ChannelHandlerContext context, Object message) {
        try {
            if (message instanceof HttpRequest request) {
                head = request;
                tooLarge = false;
                body = Unpooled.EMPTY_BUFFER;
                if (request.decoderResult().isFailure()) {
                    refuse(context, 400, "BadRequest", "malformed HTTP request");
                    return;
                }
                if (HttpUtil.is100ContinueExpected(request)) {
                    context.writeAndFlush(new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
                }
            }
            if (message instanceof HttpContent content && head != null) {
                collect(context, content.content());
                if (message instanceof LastHttpContent) {
                    dispatch(context);
                }
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void collect(ChannelHandlerContext context, ByteBuf part) {
        ByteBuf collected = body;
        if (collected == null || !part.isReadable() || tooLarge) {
            return;
        }
        if (collected.readableBytes() + part.readableBytes() > BODY_BYTES) {
            // The rest is read and dropped: a client that is still sending would not see an answer.
            tooLarge = true;
            return;
        }
        if (collected == Unpooled.EMPTY_BUFFER) {
            collected = context.alloc().buffer(part.readableBytes());
            body = collected;
        }
        collected.writeBytes(part);
    }

    private void dispatch(ChannelHandlerContext context) {
        HttpRequest request = head;
        ByteBuf collected = body;
        head = null;
        body = null;
        if (request == null || collected == null) {
            return;
        }
        byte[] bytes = new byte[collected.readableBytes()];
        collected.readBytes(bytes);
        collected.release();
        if (tooLarge) {
            refuse(context, 413, "RequestEntityTooLarge", "Request entity too large: limit is " + BODY_BYTES);
            return;
        }
        Map<String, String> headers = new HashMap<>();
        request.headers()
                .forEach(header -> headers.merge(
                        header.getKey().toLowerCase(Locale.ROOT),
                        header.getValue(),
                        (first, second) -> first + "\n" + second));
        ApiRequest asked;
        try {
            QueryStringDecoder decoder = new QueryStringDecoder(request.uri());
            Map<String, List<String>> query = decoder.parameters();
            asked = new ApiRequest(
                    request.method().name(),
                    decoder.path(),
                    query,
                    headers,
                    bytes,
                    certificate,
                    request.uri(),
                    source(context));
        } catch (IllegalArgumentException e) {
            refuse(context, 400, "BadRequest", "malformed URL: " + e.getMessage());
            return;
        }
        // One request at a time: pipelined ones wait, here or in the socket, until the answer is out.
        busy = true;
        context.channel().config().setAutoRead(false);
        server.handle(asked)
                .whenComplete((response, error) -> context.executor().execute(() -> {
                    if (error != null) {
                        log.error("{} {} was not answered", asked.method(), asked.path(), error);
                        context.close();
                    } else {
                        answer(context, response);
                    }
                }));
    }

    /** The address of the other end. */
    private static String source(ChannelHandlerContext context) {
        return context.channel().remoteAddress() instanceof InetSocketAddress address && address.getAddress() != null
                ? address.getAddress().getHostAddress()
                : "";
    }

    private void answer(ChannelHandlerContext context, ApiResponse response) {
        switch (response) {
            case ApiResponse.Full full -> {
                FullHttpResponse out = new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1,
                        HttpResponseStatus.valueOf(full.status()),
                        Unpooled.wrappedBuffer(full.body()));
                full.headers().forEach((name, value) -> out.headers().set(name, value));
                out.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, full.body().length);
                if (full.status() == 401 || full.status() == 413) {
                    out.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
                }
                context.writeAndFlush(out);
                proceed(context);
            }
            case ApiResponse.Streamed streamed -> {
                HttpResponse out =
                        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(streamed.status()));
                streamed.headers().forEach((name, value) -> out.headers().set(name, value));
                out.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
                context.writeAndFlush(out);
                NettySink sink = new NettySink(context, () -> {
                    stream = null;
                    proceed(context);
                });
                stream = sink;
                // Reading goes on, so that a client that leaves is noticed.
                context.channel().config().setAutoRead(true);
                streamed.start().accept(sink);
            }
        }
    }

    private void proceed(ChannelHandlerContext context) {
        busy = false;
        if (stopping) {
            context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
            return;
        }
        while (!busy && !ahead.isEmpty()) {
            take(context, ahead.remove());
        }
        if (!busy) {
            context.channel().config().setAutoRead(true);
        }
    }

    /** Ends the connection as soon as the answer under way is out; a watch ends now. */
    private void stop(ChannelHandlerContext context) {
        stopping = true;
        if (stream != null) {
            stream.end();
        } else if (!busy) {
            context.close();
        }
    }

    private void refuse(ChannelHandlerContext context, int code, String reason, String why) {
        head = null;
        // Nothing more is answered on this connection.
        busy = true;
        ApiResponse.Full refusal = ApiResponse.refusal(new ApiException(code, reason, why));
        FullHttpResponse out = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(code), Unpooled.wrappedBuffer(refusal.body()));
        refusal.headers().forEach((name, value) -> out.headers().set(name, value));
        out.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, refusal.body().length);
        out.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        context.writeAndFlush(out).addListener(ChannelFutureListener.CLOSE);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
            certificate = peer(context);
        } else if (event instanceof IdleStateEvent && !busy) {
            context.close();
        } else if (event == HttpsServer.STOP) {
            stop(context);
        }
    }

    /** The user whom the client's certificate names: CN is the name, each O a group. */
    private static Optional<User> peer(ChannelHandlerContext context) {
        SslHandler tls = context.pipeline().get(SslHandler.class);
        try {
            X500Principal subject = (X500Principal) tls.engine().getSession().getPeerPrincipal();
            String name = "";
            List<String> groups = new ArrayList<>();
            for (Rdn part : new LdapName(subject.getName()).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")) {
                    name = part.getValue().toString();
                } else if (part.getType().equalsIgnoreCase("O")) {
                    groups.add(part.getValue().toString());
                }
            }
            return name.isEmpty() ? Optional.empty() : Optional.of(User.authenticated(name, groups));
        } catch (SSLPeerUnverifiedException e) {
            // No certificate was shown, which is allowed.
            return Optional.empty();
        } catch (InvalidNameException e) {
            log.warn("a client certificate's subject cannot be read: {}", e.getMessage());
            return Optional.empty();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        ahead.forEach(ReferenceCountUtil::release);
        ahead.clear();
        if (body != null) {
            body.release();
            body = null;
        }
        if (stream != null) {
            stream.closed();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // Resets and failed handshakes are the network's everyday life.
        log.debug("connection from {}: {}", context.channel().remoteAddress(), cause.toString());
        context.close();
    }
}
