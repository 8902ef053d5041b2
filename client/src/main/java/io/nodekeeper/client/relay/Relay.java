package io.nodekeeper.client.relay;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.nodekeeper.client.tls.TlsTurns;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends one HTTP/1.1 request to another server, and passes the response to a client as it arrives. If the server changes
 * the protocol as the client asked, both connections become one: from then on bytes pass in both directions, unread.
 * Before that nothing of the client reaches the server but the request, so a client cannot add requests of its own. A side
 * that reads slowly stops the other. Confined to the event loop of the client's connection.
 */
public final class Relay extends ChannelInboundHandlerAdapter {
    /** How long no byte may pass: the kubelet's default for streams. */
    static final long IDLE_HOURS = 4;

    private static final Logger log = LoggerFactory.getLogger(Relay.class);
    /** For the connection; a node in the same network answers within milliseconds. */
    private static final int CONNECT_MILLIS = 10_000;
    /** From the start to the head of the response: Kubernetes' limit for these requests. */
    private static final int HEAD_SECONDS = 30;
    /** The most of an error's body that is passed on, as in kube-apiserver. */
    private static final int ERROR_BYTES = 50_000;
    /** The headers of an answer to an upgrade that the client needs. */
    private static final List<CharSequence> UPGRADE_HEADERS = List.of(
            "connection",
            "upgrade",
            "x-stream-protocol-version",
            "sec-websocket-accept",
            "sec-websocket-protocol",
            "sec-websocket-extensions");

    private enum State {
        /** The request was sent, or will be. */
        ASKING,
        /** The body of a response is passed on. */
        PASSING,
        /** The body of an error is kept. */
        REFUSED,
        /** The server changed the protocol; the client is being told. */
        JOINING,
        /** Both connections are one. */
        JOINED,
        /** Nothing more to do here. */
        OVER
    }

    private final ChannelHandlerContext client;
    private final boolean upgrade;
    private final boolean verbatim;
    private final RelayTarget target;
    private final RelayListener listener;
    /** What came after the change of protocol in the same read; at most one read of 64 KiB. */
    private final ArrayDeque<Object> early = new ArrayDeque<>();

    private final StringBuilder error = new StringBuilder();
    private int status;
    private State state = State.ASKING;
    private @Nullable ScheduledFuture<?> deadline;
    private @Nullable Channel server;

    private Relay(
            ChannelHandlerContext client,
            RelayTarget target,
            boolean upgrade,
            boolean verbatim,
            RelayListener listener) {
        this.client = client;
        this.upgrade = upgrade;
        this.verbatim = verbatim;
        this.target = target;
        this.listener = listener;
    }

    /**
     * Sends {@code request}.
     *
     * @param client the handler of the client's connection, which writes nothing until the listener is told
     * @param request with all headers; the relay releases it
     * @param upgrade whether the server may change the protocol; otherwise it is an error
     */
    public static Relay start(
            ChannelHandlerContext client,
            RelayTarget target,
            FullHttpRequest request,
            boolean upgrade,
            RelayListener listener) {
        return start(client, target, request, upgrade, false, listener);
    }

    /**
     * The same.
     *
     * @param verbatim whether errors of the server are responses like others: {@link RelayListener#begin} gets them
     */
    public static Relay start(
            ChannelHandlerContext client,
            RelayTarget target,
            FullHttpRequest request,
            boolean upgrade,
            boolean verbatim,
            RelayListener listener) {
        return start(client, target, request, upgrade, verbatim, listener, HEAD_SECONDS);
    }

    /** The same; {@code seconds} is the time for the head of an answer, and for the whole of an error. */
    static Relay start(
            ChannelHandlerContext client,
            RelayTarget target,
            FullHttpRequest request,
            boolean upgrade,
            boolean verbatim,
            RelayListener listener,
            int seconds) {
        Relay relay = new Relay(client, target, upgrade, verbatim, listener);
        relay.connect(request, seconds);
        return relay;
    }

    private void connect(FullHttpRequest request, int seconds) {
        deadline = client.executor().schedule(() -> fail("no answer in " + seconds + " s"), seconds, TimeUnit.SECONDS);
        Bootstrap bootstrap = new Bootstrap();
        if (target.receiveBuffer() > 0) {
            bootstrap.option(ChannelOption.SO_RCVBUF, target.receiveBuffer());
        }
        bootstrap
                .group(client.channel().eventLoop())
                .channel(target.transport())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        target.tls()
                                .ifPresent(tls -> connection
                                        .pipeline()
                                        .addLast(TlsTurns.toServer(
                                                tls,
                                                connection.alloc(),
                                                target.address().getHostString(),
                                                target.address().getPort())));
                        connection
                                .pipeline()
                                .addLast(new IdleStateHandler(0, 0, IDLE_HOURS, TimeUnit.HOURS))
                                .addLast(new HttpRequestEncoder())
                                .addLast(new HttpResponseDecoder())
                                .addLast(Relay.this);
                    }
                })
                .connect(target.address())
                .addListener((ChannelFutureListener) connected -> {
                    if (!connected.isSuccess()) {
                        request.release();
                        fail(String.valueOf(connected.cause().getMessage()));
                        listener.closed();
                    } else {
                        connected(connected.channel(), request);
                    }
                });
    }

    private void connected(Channel connection, FullHttpRequest request) {
        server = connection;
        ChannelFutureListener gone = closed -> connection.close();
        client.channel().closeFuture().addListener(gone);
        connection.closeFuture().addListener(closed -> {
            // The client's connection may serve further requests.
            client.channel().closeFuture().removeListener(gone);
            fail("the connection was closed without an answer");
            if (state == State.JOINING || state == State.JOINED) {
                // The client may still have to receive the rest.
                client.channel().closeFuture().addListener(over -> listener.closed());
            } else {
                listener.closed();
            }
        });
        if (state == State.OVER) {
            request.release();
            connection.close();
            return;
        }
        connection.writeAndFlush(request).addListener(written -> {
            if (!written.isSuccess()) {
                fail(String.valueOf(written.cause().getMessage()));
            }
        });
        connection.read();
    }

    /** Ends the relay and its streams, from any thread. */
    public void stop() {
        client.executor().execute(() -> {
            fail("the server is stopping");
            if (state == State.JOINED) {
                client.channel().close();
            } else if (server != null) {
                server.close();
            }
        });
    }

    /** Tells the owner, unless it has an answer already. */
    private void fail(String why) {
        stopClock();
        if (state == State.ASKING) {
            state = State.OVER;
            listener.failed(why);
        } else if (state == State.REFUSED) {
            // With what has come of the error.
            refuse();
        }
        if (server != null && state == State.OVER) {
            server.close();
        }
    }

    private void stopClock() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpResponse head && state == State.ASKING) {
            head(head);
        }
        if (state == State.JOINING && message instanceof ByteBuf) {
            early.add(message);
            return;
        }
        if (message instanceof HttpContent content) {
            if (content.decoderResult().isFailure()) {
                fail("malformed answer");
                context.close();
            } else if (state == State.PASSING) {
                pass(context, content);
                return;
            } else if (state == State.REFUSED) {
                keep(content);
            }
        }
        ReferenceCountUtil.release(message);
    }

    private void head(HttpResponse head) {
        if (head.decoderResult().isFailure()) {
            fail("malformed answer");
            return;
        }
        status = head.status().code();
        boolean changed = status == HttpResponseStatus.SWITCHING_PROTOCOLS.code();
        if (changed && upgrade) {
            stopClock();
            state = State.JOINING;
            listener.changed();
            change(head);
        } else if (changed) {
            fail("the protocol was changed, which was not asked for");
        } else if (HttpStatusClass.valueOf(status) == HttpStatusClass.INFORMATIONAL) {
            // The answer follows.
        } else if (verbatim || HttpStatusClass.valueOf(status) == HttpStatusClass.SUCCESS) {
            stopClock();
            state = State.PASSING;
            listener.begin(head);
        } else {
            // The deadline goes on: the body of an error is short.
            state = State.REFUSED;
        }
    }

    private void pass(ChannelHandlerContext context, HttpContent content) {
        boolean last = content instanceof LastHttpContent;
        client.write(content).addListener(written -> {
            if (!written.isSuccess()) {
                context.close();
            } else {
                // Later, because Netty reports a write before it counts it as done.
                context.executor().execute(() -> resume(context));
            }
        });
        if (last) {
            state = State.OVER;
            client.flush();
            listener.ended();
            context.close();
        }
    }

    private void resume(ChannelHandlerContext context) {
        if (state == State.PASSING && client.channel().isWritable()) {
            context.read();
        }
    }

    private void keep(HttpContent content) {
        int room = ERROR_BYTES - error.length();
        if (room > 0) {
            ByteBuf bytes = content.content();
            error.append(
                    bytes.toString(bytes.readerIndex(), Math.min(room, bytes.readableBytes()), StandardCharsets.UTF_8));
        }
        if (content instanceof LastHttpContent || error.length() >= ERROR_BYTES) {
            refuse();
        }
    }

    private void refuse() {
        stopClock();
        state = State.OVER;
        listener.refused(status, error.toString());
        if (server != null) {
            server.close();
        }
    }

    /** Tells the client that the protocol changes, then joins the connections. */
    private void change(HttpResponse head) {
        FullHttpResponse answer = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.SWITCHING_PROTOCOLS, Unpooled.EMPTY_BUFFER);
        for (CharSequence name : UPGRADE_HEADERS) {
            if (head.headers().contains(name)) {
                answer.headers().set(name, head.headers().getAll(name));
            }
        }
        ChannelPipeline pipeline = client.pipeline();
        client.channel().config().setAutoRead(false);
        strip(pipeline);
        pipeline.channel().writeAndFlush(answer).addListener(written -> {
            if (written.isSuccess()) {
                // Later: the decoder may still pass on the end of the answer.
                boolean isSpdy = head.headers().containsValue(HttpHeaderNames.UPGRADE, "SPDY/3.1", true);
                client.executor().execute(() -> join(pipeline, isSpdy ? target.spdySeconds() : 0));
            } else {
                pipeline.channel().close();
                dropEarly();
            }
        });
    }

    /** Removes all handlers of the client's connection except those of TLS and HTTP. */
    private static void strip(ChannelPipeline pipeline) {
        List<ChannelHandler> gone = new ArrayList<>();
        for (Map.Entry<String, ChannelHandler> entry : pipeline) {
            if (!TlsTurns.isTls(entry.getValue()) && !(entry.getValue() instanceof HttpServerCodec)) {
                gone.add(entry.getValue());
            }
        }
        gone.forEach(pipeline::remove);
    }

    private void join(ChannelPipeline pipeline, int patienceSeconds) {
        Channel front = pipeline.channel();
        Channel back = server;
        if (back == null || !front.isActive()) {
            front.close();
            dropEarly();
            return;
        }
        state = State.JOINED;
        // A failed write must not close a connection that has more to be read.
        front.config().setAutoClose(false);
        back.config().setAutoClose(false);
        pipeline.addLast(new Passage(back, 0, target.hasClosed()));
        if (back.isActive()) {
            ChannelPipeline behind = back.pipeline();
            behind.replace(this, "passage", new Passage(front, patienceSeconds, any -> false));
            behind.remove(HttpRequestEncoder.class);
            // Each decoder passes on what it has read already.
            pipeline.remove(HttpServerCodec.class);
            writeEarly(front);
            behind.remove(HttpResponseDecoder.class);
            front.flush();
            back.flush();
            front.read();
            back.read();
        } else {
            // It has ended meanwhile; all that it sent came early.
            pipeline.remove(HttpServerCodec.class);
            writeEarly(front);
            Passage.end(front, patienceSeconds);
        }
    }

    private void writeEarly(Channel front) {
        early.forEach(front::write);
        early.clear();
    }

    private void dropEarly() {
        early.forEach(ReferenceCountUtil::release);
        early.clear();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        switch (state) {
            case ASKING, REFUSED -> context.read();
            case PASSING -> {
                client.flush();
                resume(context);
            }
            case JOINING, JOINED, OVER -> {
                // The passages read on, or there is nothing to read.
            }
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof IdleStateEvent) {
            context.close();
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        switch (state) {
            // The client must not take a part of a body for the whole.
            case PASSING -> client.close();
            case REFUSED -> refuse();
            case ASKING, JOINING, JOINED, OVER -> {
                // The listener of the closed connection tells the owner; join() passes what came before the end.
            }
        }
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        log.debug("connection to {}: {}", context.channel().remoteAddress(), cause.toString());
        fail(String.valueOf(cause.getMessage()));
        context.close();
    }
}
