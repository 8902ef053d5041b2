package io.nodekeeper.client.tls;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what a connection has received until it is its turn, before TLS sees it. A connection for which more waits than {@link
 * #MOST_BYTES} is closed: others switch reading off and on for reasons of their own. What waits is lost if the client closes the connection.
 */
final class TurnGate extends ChannelInboundHandlerAdapter {
    /** The event that the client is trusted. */
    static final Object TRUSTED = new Object() {
        @Override
        public String toString() {
            return "trusted";
        }
    };

    /** The most that waits for a connection: more than a request without a large body. */
    static final int MOST_BYTES = 128 << 10;

    private static final Logger log = LoggerFactory.getLogger(TurnGate.class);

    private final LoopTurns turns;
    private final Object source;
    private final TlsClient client;
    private final Runnable turn = this::pass;

    private @Nullable ByteBuf waiting;

    /** Set as long as the handler is in a pipeline. */
    @SuppressWarnings("NullAway.Init")
    private ChannelHandlerContext context;

    /** Clients of one {@code source} share its turns. */
    TurnGate(LoopTurns turns, Object source, TlsClient client) {
        this.turns = turns;
        this.source = source;
        this.client = client;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void channelRead(ChannelHandlerContext same, Object message) {
        boolean trusted = client.isTrusted();
        if (waiting == null && (trusted || turns.isFree())) {
            context.fireChannelRead(message);
        } else if (trusted || client.mayWait()) {
            keep((ByteBuf) message);
        } else {
            ReferenceCountUtil.release(message);
            context.close();
        }
    }

    private void keep(ByteBuf part) {
        ByteBuf before = waiting;
        if (before == null) {
            turns.await(source, turn);
        }
        // In one piece: many small ones take many times their bytes.
        ByteBuf all =
                before == null ? part : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), before, part);
        waiting = all;
        if (all.readableBytes() > MOST_BYTES) {
            log.debug(
                    "{} sends {} bytes before it is its turn", context.channel().remoteAddress(), all.readableBytes());
            drop();
            context.close();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext same) {
        // While something waits, TLS would read on.
        if (waiting == null) {
            context.fireChannelReadComplete();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext same, Object event) {
        if (event != TRUSTED) {
            context.fireUserEventTriggered(event);
        } else if (waiting != null) {
            turns.leave(source, turn);
            pass();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext same) {
        drop();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext same) {
        drop();
    }

    private void pass() {
        ByteBuf all = waiting;
        if (all != null) {
            waiting = null;
            context.fireChannelRead(all);
            context.fireChannelReadComplete();
        }
    }

    private void drop() {
        if (waiting != null) {
            turns.leave(source, turn);
            waiting.release();
            waiting = null;
        }
    }
}
