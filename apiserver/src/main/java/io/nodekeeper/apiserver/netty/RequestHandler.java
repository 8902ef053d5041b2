package io.nodekeeper.apiserver.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
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
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads requests, passes them to the API server one at a time, and writes the responses: for a connection of HTTP/1.1, or
 * for one stream of HTTP/2. Confined to its event loop.
 */
final class RequestHandler extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(RequestHandler.class);
    /** The largest body (Kubernetes' limit). */
    private static final int BODY_BYTES = 3_145_728;

    /**
     * The most message parts that a client may send ahead during an answer: one packet of pipelined requests; more
     * means that the client ignores backpressure.
     */
    private static final int AHEAD = 256;

    /** The most message parts that a client may send ahead during a watch: they wait as long as the watch lasts. */
    private static final int AHEAD_OF_STREAM = 16;

    /** The most bytes of such parts. */
    private static final long AHEAD_OF_STREAM_BYTES = 64 << 10;

    /**
     * The most bytes of headers that are kept for a body without knowing their sender: those of kubelets have half as much. To
     * check the sender twice would cost each of their renewals as much as the rest of its request.
     */
    private static final long SMALL_HEAD = 1 << 10;

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
    private final ResponseWriter answers;
    /** Parts that arrived during a response, because the decoder passes on everything in one packet. */
    private final ArrayDeque<Object> ahead = new ArrayDeque<>();

    private @Nullable HttpRequest head;
    /** The parts of a body that arrived in several parts. */
    private @Nullable ByteBuf chunks;

    private @Nullable ScheduledFuture<?> bodyTimer;
    private byte[] whole = {};
    private long received;
    /** Bytes of {@link ServerContext#bodies} that the request holds. */
    private long held;
    /** Those of {@link #held} for its headers. */
    private long heldByHead;

    private boolean crowded;
    /** Whether it is known if the sender of the body is authorized. */
    private boolean checked;
    /** Whether the sender of the body is not authorized, so that the body is dropped. */
    private boolean turnedAway;
    /** The user who sends the body, if it arrives in several parts. */
    private String sender = "";
    /** Whether the request is answered before its body has arrived, whose rest is dropped. */
    private boolean unread;
    /** The user who gets the answer; empty if the request is refused. */
    private volatile String user = "";

    private boolean busy;
    private boolean proceeding;
    private boolean stopping;
    private @Nullable NettySink stream;

    /** {@code heard} runs each time the headers of a request are complete. */
    RequestHandler(ServerContext serverContext, Optional<ClientCertificate> certificate, Runnable heard) {
        this.serverContext = serverContext;
        this.certificate = certificate;
        this.heard = heard;
        answers = new ResponseWriter(serverContext);
    }

    /** Whether a request is being received or answered. */
    boolean busy() {
        return busy || head != null;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        // A new request waits while responses cannot be sent; the rest of a started request does not.
        if (!busy && ahead.isEmpty() && (head != null || context.channel().isWritable())) {
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

    /** Keeps a request whose body comes later; if its headers are large, only if its sender is authorized and has a share left. */
    private void expectBody(ChannelHandlerContext context) {
        HttpRequest request = head;
        if (request == null || busy || bodyTimer != null) {
            return;
        }
        long bytes = IncomingRequest.bytes(request);
        if (bytes > SMALL_HEAD) {
            checkSender(context, request);
            crowded = !turnedAway && !serverContext.bodies.take(sender, bytes);
            if (turnedAway || crowded) {
                unread = true;
                dispatch(context, request);
                return;
            }
            held += bytes;
            heldByHead = bytes;
        }
        bodyTimer = context.executor()
                .schedule(
                        () -> refuse(context, 408, "Timeout", "the body did not arrive in " + BODY_SECONDS + " s"),
                        BODY_SECONDS,
                        TimeUnit.SECONDS);
    }

    private void take(ChannelHandlerContext context, Object message) {
        try {
            if (message instanceof HttpRequest request) {
                heard.run();
                head = request;
                whole = new byte[0];
                received = 0;
                crowded = false;
                checked = false;
                turnedAway = false;
                unread = false;
                if (request.decoderResult().isFailure()) {
                    refuse(context, 400, "BadRequest", "malformed HTTP request");
                    return;
                }
                if (HttpUtil.is100ContinueExpected(request)) {
                    checkSender(context, request);
                    if (turnedAway) {
                        // The client has not sent the body yet, and will not send it now.
                        unread = HttpStream.is(context);
                        dispatch(context, request);
                        return;
                    }
                    context.writeAndFlush(new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
                }
            }
            if (message instanceof HttpContent content && head != null) {
                if (content.decoderResult().isFailure()) {
                    refuse(context, 400, "BadRequest", "malformed HTTP body");
                    return;
                }
                collect(context, content.content(), message instanceof LastHttpContent);
                if (message instanceof LastHttpContent) {
                    dispatch(context, head);
                }
            } else if (message instanceof LastHttpContent) {
                unread = false;
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void collect(ChannelHandlerContext context, ByteBuf part, boolean last) {
        int size = part.readableBytes();
        received += size;
        // The rest of a body above a limit is read and dropped, because a client that is still sending may not read a
        // response.
        if (size == 0 || received > BODY_BYTES || crowded || turnedAway) {
            return;
        }
        if (last && chunks == null) {
            whole = ByteBufUtil.getBytes(part);
            return;
        }
        if (chunks == null && head != null) {
            checkSender(context, head);
            if (turnedAway) {
                return;
            }
        }
        if (!serverContext.bodies.take(sender, size)) {
            crowded = true;
            dropChunks();
            giveBack(held - heldByHead);
            return;
        }
        held += size;
        if (chunks == null) {
            chunks = context.alloc().buffer(size);
        }
        chunks.writeBytes(part);
    }

    private void dispatch(ChannelHandlerContext context, HttpRequest request) {
        head = null;
        if (bodyTimer != null) {
            bodyTimer.cancel(false);
            bodyTimer = null;
        }
        byte[] body = chunks == null ? whole : ByteBufUtil.getBytes(chunks);
        whole = new byte[0];
        if (received > BODY_BYTES) {
            refuse(context, 413, "RequestEntityTooLarge", "Request entity too large: limit is " + BODY_BYTES);
            return;
        }
        if (crowded) {
            serverContext.server.dropped(request.method().name());
            if (unread) {
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
        dropChunks();
        ApiRequest asked;
        try {
            asked = IncomingRequest.of(context, request, turnedAway ? new byte[0] : body, certificate);
        } catch (IllegalArgumentException e) {
            refuse(context, 400, "BadRequest", "malformed URL: " + e.getMessage());
            return;
        }
        // One request at a time: pipelined requests wait, here or in the socket, until the response is written.
        busy = true;
        user = "";
        boolean dropped = turnedAway;
        serverContext.server.handle(asked, name -> admitted(name, dropped)).whenComplete((response, error) -> {
            if (error != null) {
                log.error("no response to {} {}", asked.method(), asked.path(), error);
                context.executor().execute(context::close);
            } else if (response instanceof ApiResponse.Full full && Gzip.wanted(asked, full)) {
                serverContext.workers.execute(() -> {
                    ApiResponse packed = Gzip.pack(full);
                    context.executor().execute(() -> answer(context, request, asked, packed));
                });
            } else if (context.executor().inEventLoop()) {
                answer(context, request, asked, response);
            } else {
                context.executor().execute(() -> answer(context, request, asked, response));
            }
        });
    }

    /** The request of {@code name} is authorized. If its body was dropped because it was not, it must not be carried out without. */
    private void admitted(String name, boolean dropped) {
        if (dropped) {
            throw new ApiException(
                    429,
                    "TooManyRequests",
                    "what " + name + " may do has changed while the request arrived; send it again");
        }
        user = name;
    }

    /**
     * Authenticates and authorizes the sender of a body that arrives in several parts or later, once, before the server
     * keeps any part of it; refuses the request otherwise.
     */
    private void checkSender(ChannelHandlerContext context, HttpRequest request) {
        if (checked) {
            return;
        }
        checked = true;
        Optional<String> known;
        try {
            known = serverContext.server.permitted(IncomingRequest.of(context, request, new byte[0], certificate));
        } catch (IllegalArgumentException e) {
            known = Optional.empty();
        }
        sender = known.orElse("");
        turnedAway = known.isEmpty();
    }

    private void answer(ChannelHandlerContext context, HttpRequest request, ApiRequest asked, ApiResponse response) {
        giveBack();
        if (!context.channel().isActive()) {
            // The client has disconnected meanwhile. A watch that was not started needs no end.
            return;
        }
        switch (response) {
            case ApiResponse.Full full
            when unread -> {
                answers.early(context, full, asked.method().equals("HEAD"), () -> unread);
                proceed(context);
            }
            case ApiResponse.Full full -> {
                answers.write(context, full, asked.method().equals("HEAD"), user);
                proceed(context);
            }
            case ApiResponse.Streamed streamed
            when WebSocketWatch.wanted(request) -> WebSocketWatch.open(context, request, streamed, serverContext, user);
            case ApiResponse.Chunked large
            when asked.method().equals("HEAD") -> {
                answers.write(context, new ApiResponse.Full(large.status(), large.headers(), new byte[0]), true, user);
                proceed(context);
            }
            case ApiResponse.Chunked large -> {
                if (!serverContext.answers.has(user, NettySink.needed(large.chunks()) + Gzip.memory(asked))) {
                    answers.write(context, ResponseWriter.TOO_MANY, false, user);
                    proceed(context);
                    return;
                }
                answer(context, request, asked, Gzip.streamed(asked, large));
            }
            case ApiResponse.Relayed relayed ->
                NodeRelay.start(context, request, relayed, serverContext, () -> proceed(context));
            case ApiResponse.Streamed streamed -> {
                answers.begin(context, streamed);
                NettySink sink = new NettySink(context, serverContext, Framing.BODY, user, () -> {
                    stream = null;
                    proceed(context);
                });
                stream = sink;
                serverContext.opened(sink);
                context.channel().config().setAutoRead(true);
                streamed.start().accept(sink);
            }
        }
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
        head = null;
        busy = true;
        dropChunks();
        giveBack();
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

    private void dropChunks() {
        if (chunks != null) {
            chunks.release();
            chunks = null;
        }
    }

    private void giveBack() {
        giveBack(held);
        heldByHead = 0;
    }

    private void giveBack(long bytes) {
        if (bytes > 0) {
            serverContext.bodies.giveBack(sender, bytes);
            held -= bytes;
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
        head = null;
        dropChunks();
        giveBack();
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
