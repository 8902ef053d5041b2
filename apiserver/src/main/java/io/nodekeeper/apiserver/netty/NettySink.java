package io.nodekeeper.apiserver.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.nodekeeper.apiserver.StreamSink;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A chunked answer. What the reader has not taken piles up in the channel; a reader that leaves too much unread is cut
 * off, so that it costs the server a bounded amount of memory and its neighbours nothing. Thread-safe.
 */
final class NettySink implements StreamSink {
    private static final Logger log = LoggerFactory.getLogger(NettySink.class);

    /** Bytes of news that a slow reader may leave unread; a watch line has about 1 to 5 KB. Chosen. */
    private static final int UNREAD = 4 << 20;

    private final ChannelHandlerContext context;
    private final Runnable afterEnd;
    private final List<Runnable> onClose = new ArrayList<>();
    private boolean closed;
    /** Bytes of the beginning, which do not count as news; touched on the event loop only. */
    private long first;

    /** {@code afterEnd} runs on the event loop once the answer ended as agreed. */
    NettySink(ChannelHandlerContext context, Runnable afterEnd) {
        this.context = context;
        this.afterEnd = afterEnd;
    }

    @Override
    public void writeFirst(byte[] bytes) {
        context.executor().execute(() -> {
            if (!isClosed()) {
                first += bytes.length;
                context.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)));
            }
        });
    }

    @Override
    public void write(byte[] bytes) {
        context.executor().execute(() -> {
            if (isClosed()) {
                return;
            }
            if (unread() > first + UNREAD) {
                log.warn(
                        "a watcher at {} does not keep up and is cut off",
                        context.channel().remoteAddress());
                closed();
                context.close();
                return;
            }
            context.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)));
        });
    }

    private long unread() {
        ChannelOutboundBuffer pending = context.channel().unsafe().outboundBuffer();
        return pending == null ? 0 : pending.totalPendingWriteBytes();
    }

    @Override
    public void end() {
        context.executor().execute(() -> {
            if (!isClosed()) {
                closed();
                context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
                afterEnd.run();
            }
        });
    }

    @Override
    public void onClose(Runnable action) {
        synchronized (this) {
            if (!closed) {
                onClose.add(action);
                return;
            }
        }
        action.run();
    }

    /** The reader is gone. */
    void closed() {
        List<Runnable> actions;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            actions = List.copyOf(onClose);
        }
        actions.forEach(Runnable::run);
    }

    private synchronized boolean isClosed() {
        return closed;
    }
}
