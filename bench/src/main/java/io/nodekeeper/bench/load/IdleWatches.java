package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A watch for each node that selects only this node, as every kubelet has one, each on its own connection. Confined to
 * the event loop.
 */
final class IdleWatches {
    /** Handshakes in progress at once: more would only wait longer, and time out. */
    private static final int OPENING = 16;

    private final ServerConnections connections;
    private final int count;
    private final long from;
    private final CompletableFuture<Void> opened = new CompletableFuture<>();
    private int begun;
    private int open;
    private int lost;
    private int told;
    private Optional<String> fault = Optional.empty();

    private IdleWatches(ServerConnections connections, int count, long from) {
        this.connections = connections;
        this.count = count;
        this.from = from;
    }

    /** Opens the watches of nodes 0 to {@code count} - 1 after revision {@code from}. */
    static IdleWatches open(ServerConnections connections, int count, long from) {
        IdleWatches watches = new IdleWatches(connections, count, from);
        for (int i = 0; i < OPENING; i++) {
            watches.openNext();
        }
        return watches;
    }

    /** Completes when all are open; fails with the first refusal. */
    CompletableFuture<Void> opened() {
        return opened;
    }

    int open() {
        return open;
    }

    /** The number of watches that ended or were disconnected. */
    int lost() {
        return lost;
    }

    /** The total number of events received. */
    int told() {
        return told;
    }

    Optional<String> fault() {
        return fault;
    }

    private void openNext() {
        if (begun < count) {
            connections.connect(new One(begun++));
        }
    }

    private void failed(Throwable why) {
        lost++;
        if (fault.isEmpty()) {
            fault = Optional.of(why.toString());
        }
        opened.completeExceptionally(why);
    }

    private final class One extends ChannelInboundHandlerAdapter {
        private final int node;
        private boolean answered;
        private boolean gone;

        private One(int node) {
            this.node = node;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
                byte[] request =
                        Bytes.ascii("GET /api/v1/nodes?watch=1&timeoutSeconds=86400&fieldSelector=metadata.name%3D"
                                + Fleet.name(node) + "&resourceVersion=" + from + " HTTP/1.1\r\nHost: "
                                + connections.host()
                                + "\r\nUser-Agent: bench\r\nAccept: application/json\r\n\r\n");
                context.writeAndFlush(context.alloc().buffer(request.length).writeBytes(request));
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf in = (ByteBuf) message;
            if (!answered) {
                answered = true;
                if (Bytes.number(in, in.readerIndex() + "HTTP/1.1 ".length(), 3) != 200) {
                    failed(new IllegalStateException(
                            "a watch was answered with " + in.toString(StandardCharsets.UTF_8)));
                } else if (++open == count) {
                    opened.complete(null);
                }
                openNext();
            } else if (Bytes.indexOf(in, Bytes.ascii("{\"type\":\""), in.readerIndex()) >= 0) {
                told++;
            }
            in.release();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            exceptionCaught(context, new java.io.IOException("the watch of " + Fleet.name(node) + " was closed"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (!gone) {
                gone = true;
                failed(cause);
                context.close();
            }
        }
    }
}
