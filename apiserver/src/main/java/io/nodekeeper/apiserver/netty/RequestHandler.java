package io.nodekeeper.apiserver.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.request.RequestOrigin;
import io.nodekeeper.apiserver.request.User;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads requests, passes them to the API server one at a time, and writes the responses: for a connection of HTTP/1.1, or
 * for one stream of HTTP/2. Confined to its event loop.
 */
final class RequestHandler extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(RequestHandler.class);
    /**
     * The most message parts that a client may send ahead during an answer: one packet of pipelined requests; more
     * means that the client ignores backpressure.
     */
    private static final int AHEAD = 256;

    /** The most message parts that a client may send ahead during a watch: they wait as long as the watch lasts. */
    private static final int AHEAD_OF_STREAM = 16;

    /** The most bytes of such parts. */
    private static final long AHEAD_OF_STREAM_BYTES = 64 << 10;

    /** How long a body may take to arrive: as long as a request may take in Kubernetes. */
    private static final int BODY_SECONDS = 60;

    /**
     * How long an idle connection stays open when the server stops, so that a request in flight gets a 503: longer than
     * a usual round trip, without delaying the stop noticeably.
     */
    private static final int LINGER_MILLIS = 200;

    private final ServerContext serverContext;
    private final Optional<ClientCertificate> certificate;
    private final Runnable heard;
    private final Consumer<String> proven;
    private final ResponseWriter answers;
    /** Parts that arrived during a response, because the decoder passes on everything in one packet. */
    private final ArrayDeque<Object> ahead = new ArrayDeque<>();

    /** The request whose body is arriving. */
    private @Nullable IncomingRequest receiving;
    /** The request that is being answered. */
    private @Nullable IncomingRequest answering;

    private @Nullable ScheduledFuture<?> bodyTimer;
    /** Whether the request is answered before its body has arrived, whose rest is dropped. */
    private boolean unread;
    /** The user who gets the answer; empty if the request is refused. */
    private volatile String user = "";

    private boolean busy;
    private boolean proceeding;
    private boolean stopping;
    private @Nullable NettySink stream;

    /**
     * {@code heard} runs each time the headers of a request are complete, and {@code proven}, on any thread, each time a request is
     * authorized for a user who is known.
     */
    RequestHandler(
            ServerContext serverContext,
            Optional<ClientCertificate> certificate,
            Runnable heard,
            Consumer<String> proven) {
        this.serverContext = serverContext;
        this.certificate = certificate;
        this.heard = heard;
        this.proven = proven;
        answers = new ResponseWriter(serverContext);
    }

    /** Whether a request is being received or answered. */
    boolean busy() {
        return busy || receiving != null;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        // A new request waits while responses cannot be sent; the rest of a started request does not.
        if (!busy && ahead.isEmpty() && (receiving != null || context.channel().isWritable())) {
            take(context, message);
        } else if (stream == null ? ahead.size() < AHEAD : fitsAheadOfStream(message)) {
            ahead.add(message);
            if (stream == null) {
                // Reading continues during a watch, to notice when the client disconnects.
                context.channel().config().setAutoRead(false);
            }
        } else {
            ReferenceCountUtil.release(message);
            log.debug("{} sends further requests without waiting for responses", Peer.address(context.channel()));
            context.close();
        }
    }

    private boolean fitsAheadOfStream(Object message) {
        return ahead.size() < AHEAD_OF_STREAM
                && ahead.stream().mapToLong(IncomingRequest::bytes).sum() + IncomingRequest.bytes(message)
                        <= AHEAD_OF_STREAM_BYTES;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        expectBody(context);
        context.fireChannelReadComplete();
    }

    /** Waits for the body of a request that comes later, for some time. */
    private void expectBody(ChannelHandlerContext context) {
        IncomingRequest request = receiving;
        if (request == null || busy || bodyTimer != null) {
            return;
        }
        if (!request.expectBody()) {
            unread = true;
            dispatch(context, request);
            return;
        }
        bodyTimer = context.executor()
                .schedule(
                        () -> refuse(context, 408, "Timeout", "the body did not arrive in " + BODY_SECONDS + " s"),
                        BODY_SECONDS,
                        TimeUnit.SECONDS);
    }

    private void take(ChannelHandlerContext context, Object message) {
        try {
            if (message instanceof HttpRequest head) {
                heard.run();
                releaseRequests();
                IncomingRequest request =
                        new IncomingRequest(serverContext, context, head, certificate, this::authorized);
                receiving = request;
                unread = false;
                if (head.decoderResult().isFailure()) {
                    refuse(context, 400, "BadRequest", "malformed HTTP request");
                    return;
                }
                if (HttpUtil.is100ContinueExpected(head)) {
                    if (!request.isAuthorized()) {
                        // The client has not sent the body yet, and will not send it now.
                        unread = HttpStream.is(context);
                        dispatch(context, request);
                        return;
                    }
                    context.writeAndFlush(new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
                }
            }
            IncomingRequest request = receiving;
            if (message instanceof HttpContent content && request != null) {
                if (content.decoderResult().isFailure()) {
                    refuse(context, 400, "BadRequest", "malformed HTTP body");
                    return;
                }
                boolean last = message instanceof LastHttpContent;
                request.add(content.content(), last);
                if (last) {
                    dispatch(context, request);
                }
            } else if (message instanceof LastHttpContent) {
                unread = false;
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void dispatch(ChannelHandlerContext context, IncomingRequest request) {
        if (bodyTimer != null) {
            bodyTimer.cancel(false);
            bodyTimer = null;
        }
        if (request.isTooLarge()) {
            refuse(
                    context,
                    413,
                    "RequestEntityTooLarge",
                    "Request entity too large: limit is " + IncomingRequest.BODY_BYTES);
            return;
        }
        if (request.isCrowded()) {
            serverContext.server.dropped(request.head().method().name());
            if (unread) {
                releaseRequests();
                answers.early(context, ResponseWriter.TOO_MANY, false, () -> unread);
                proceed(context);
            } else {
                refuse(context, ResponseWriter.TOO_MANY);
            }
            return;
        }
        if (serverContext.stopping()) {
            refuse(context, ResponseWriter.CLOSING);
            return;
        }
        ApiRequest asked;
        try {
            asked = request.complete();
        } catch (IllegalArgumentException e) {
            refuse(context, 400, "BadRequest", "malformed URL: " + e.getMessage());
            return;
        }
        // One request at a time: pipelined requests wait, here or in the socket, until the response is written.
        busy = true;
        answering = request;
        receiving = null;
        user = "";
        RequestOrigin origin = new Origin(request.isTurnedAway(), asked.method());
        serverContext.server.handle(asked, origin).whenComplete((response, error) -> {
            if (error != null) {
                log.error("no response to {} {}", asked.method(), asked.path(), error);
                context.executor().execute(context::close);
            } else if (response instanceof ApiResponse.Full full && Gzip.wanted(asked, full)) {
                pack(
                        asked,
                        full,
                        packed -> context.executor().execute(() -> answerOrClose(context, request, asked, packed)));
            } else if (context.executor().inEventLoop()) {
                answerOrClose(context, request, asked, response);
            } else {
                context.executor().execute(() -> answerOrClose(context, request, asked, response));
            }
        });
    }

    /** A client whose answer fails would wait for ever: the connection counts as busy. */
    private void answerOrClose(
            ChannelHandlerContext context, IncomingRequest request, ApiRequest asked, ApiResponse response) {
        try {
            answer(context, request, asked, response);
        } catch (RuntimeException e) {
            log.error("the answer to {} {} failed", asked.method(), asked.path(), e);
            context.close();
        }
    }

    /** Compresses a large response, from the user's share while it waits; without a share left the response is another one. */
    private void pack(ApiRequest asked, ApiResponse.Full full, Consumer<ApiResponse> then) {
        String reader = user;
        int length = full.body().length;
        if (!serverContext.answers.take(reader, length)) {
            then.accept(ResponseWriter.withoutRoom(asked.method(), full.status()));
            return;
        }
        serverContext.pieces.resume(reader, () -> {
            try {
                then.accept(Gzip.pack(full));
            } finally {
                serverContext.answers.giveBack(reader, length);
            }
        });
    }

    private void authorized(String name) {
        if (!name.equals(User.ANONYMOUS.name())) {
            proven.accept(name);
        }
    }

    /** The connection of one request. */
    private final class Origin implements RequestOrigin {
        private final boolean dropped;
        private final String method;
        /** Its user. The handler's may be that of a later request, if this one is not answered in time. */
        private volatile String reader = "";

        /** {@code dropped}: the body was not kept, because the request was not authorized when it arrived. */
        Origin(boolean dropped, String method) {
            this.dropped = dropped;
            this.method = method;
        }

        @Override
        public void authorized(String name) {
            if (dropped) {
                throw new ApiException(
                        429,
                        "TooManyRequests",
                        "what " + name + " may do has changed while the request arrived; send it again");
            }
            RequestHandler.this.authorized(name);
            reader = name;
            user = name;
        }

        @Override
        public boolean hasRoom(long bytes) {
            return method.equals("HEAD") || answers.hasRoom(reader, bytes);
        }
    }

    private void answer(
            ChannelHandlerContext context, IncomingRequest request, ApiRequest asked, ApiResponse response) {
        releaseRequests();
        if (!context.channel().isActive() && !(response instanceof ApiResponse.Relayed)) {
            // The client has disconnected meanwhile. A watch that was not started needs no end, a relay does.
            return;
        }
        switch (response) {
            case ApiResponse.Full full
            when unread -> {
                answers.early(context, full, asked.method().equals("HEAD"), () -> unread);
                proceed(context);
            }
            case ApiResponse.Full full -> {
                answers.write(context, full, asked.method(), user);
                proceed(context);
            }
            case ApiResponse.Streamed streamed
            when WebSocketWatch.wanted(request.head()) ->
                WebSocketWatch.open(context, request.head(), streamed, serverContext, user);
            case ApiResponse.Chunked large
            when asked.method().equals("HEAD") -> {
                answers.write(
                        context,
                        new ApiResponse.Full(large.status(), large.headers(), new byte[0]),
                        asked.method(),
                        user);
                proceed(context);
            }
            case ApiResponse.Chunked large -> {
                // At once, as other connections of the same user take from the share, too. Once the response has begun,
                // it is too late.
                long needed = NettySink.needed(large.chunks()) + Gzip.memory(asked);
                if (serverContext.answers.take(user, needed)) {
                    stream(context, Gzip.streamed(asked, large), needed);
                } else {
                    answers.write(
                            context, ResponseWriter.withoutRoom(asked.method(), large.status()), asked.method(), user);
                    proceed(context);
                }
            }
            case ApiResponse.Relayed relayed ->
                NodeRelay.start(context, request.head(), relayed, serverContext, () -> proceed(context));
            case ApiResponse.Streamed streamed -> stream(context, streamed, 0);
        }
    }

    /** Starts a stream whose chunks use {@code held} bytes of the user's share, which are taken already. */
    private void stream(ChannelHandlerContext context, ApiResponse.Streamed streamed, long held) {
        NettySink sink = new NettySink(context, serverContext, Framing.BODY, user, () -> {
            stream = null;
            proceed(context);
        });
        sink.holds(held);
        answers.begin(context, streamed);
        stream = sink;
        serverContext.opened(sink);
        context.channel().config().setAutoRead(true);
        streamed.start().accept(sink);
    }

    private void proceed(ChannelHandlerContext context) {
        busy = false;
        if (proceeding) {
            // The response was immediate, so the loop below continues.
            return;
        }
        if (stopping) {
            context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
            return;
        }
        proceeding = true;
        // Serves no further requests of a client that does not read its responses.
        while (!busy && !ahead.isEmpty() && context.channel().isWritable()) {
            take(context, ahead.remove());
        }
        proceeding = false;
        expectBody(context);
        if (!busy && ahead.isEmpty() && !context.channel().config().isAutoRead()) {
            context.channel().config().setAutoRead(true);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (stream != null) {
            stream.write();
        } else if (!busy && !ahead.isEmpty()) {
            proceed(context);
        }
        context.fireChannelWritabilityChanged();
    }

    private void refuse(ChannelHandlerContext context, int code, String reason, String why) {
        refuse(context, ApiResponse.refusal(new ApiException(code, reason, why)));
    }

    /** Responds without the API server, and closes the connection. */
    private void refuse(ChannelHandlerContext context, ApiResponse.Full refusal) {
        releaseRequests();
        busy = true;
        answers.last(context, refusal);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event == ConnectionEvent.STOP) {
            stopping = true;
            if (!busy()) {
                context.executor()
                        .schedule(
                                () -> {
                                    if (!busy()) {
                                        context.close();
                                    }
                                },
                                LINGER_MILLIS,
                                TimeUnit.MILLISECONDS);
            }
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    private void releaseRequests() {
        if (receiving != null) {
            receiving.release();
            receiving = null;
        }
        if (answering != null) {
            answering.release();
            answering = null;
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        dropAll();
        context.fireChannelInactive();
    }

    /**
     * Releases what waits when the protocol has changed. A client that sends something before the answer loses it: clients of
     * WebSockets and SPDY wait for the answer.
     */
    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        dropAll();
    }

    private void dropAll() {
        ahead.forEach(ReferenceCountUtil::release);
        ahead.clear();
        releaseRequests();
        if (bodyTimer != null) {
            bodyTimer.cancel(false);
        }
        if (stream != null) {
            stream.closed();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // Resets and broken records are normal.
        log.debug("connection from {}: {}", Peer.address(context.channel()), cause.toString());
        context.close();
    }
}
