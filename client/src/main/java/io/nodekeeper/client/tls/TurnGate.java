package io.nodekeeper.client.tls;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what a connection has received until it is its turn, before TLS sees it. A connection for which more waits than {@link
 * #MOST_BYTES} is closed, because a connection cannot stop reading for two reasons at once; what waits is lost if the client closes it.
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
    private final TlsClient client;
    private final Runnable turn = this::pass;

    private final Queue<Object> waiting = new ArrayDeque<>();
    private int bytes;
    /** Whether a read has ended since the first that waits. */
    private boolean complete;

    /** Set as long as the handler is in a pipeline. */
    @SuppressWarnings("NullAway.Init")
    private ChannelHandlerContext context;

    private Object address = "";

    TurnGate(LoopTurns turns, TlsClient client) {
        this.turns = turns;
        this.client = client;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void channelRead(ChannelHandlerContext same, Object message) {
        boolean trusted = client.isTrusted();
        if (waiting.isEmpty() && (trusted || turns.isFree())) {
            context.fireChannelRead(message);
            return;
        }
        if (!trusted && !client.mayWait()) {
            ReferenceCountUtil.release(message);
            context.close();
            return;
        }
        if (waiting.isEmpty()) {
            complete = false;
            address = source(context.channel().remoteAddress());
            turns.await(address, turn);
        }
        waiting.add(message);
        bytes += message instanceof ByteBuf part ? part.readableBytes() : 0;
        if (bytes > MOST_BYTES) {
            log.debug(
                    "{} sends {} bytes before it is its turn", context.channel().remoteAddress(), bytes);
            drop();
            context.close();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext same) {
        if (waiting.isEmpty()) {
            context.fireChannelReadComplete();
        } else {
            // TLS would read on.
            complete = true;
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext same, Object event) {
        if (event != TRUSTED) {
            context.fireUserEventTriggered(event);
        } else if (!waiting.isEmpty()) {
            turns.leave(address, turn);
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
        bytes = 0;
        for (Object message = waiting.poll(); message != null; message = waiting.poll()) {
            context.fireChannelRead(message);
        }
        if (complete) {
            context.fireChannelReadComplete();
        }
    }

    private void drop() {
        if (!waiting.isEmpty()) {
            turns.leave(address, turn);
            waiting.forEach(ReferenceCountUtil::release);
            waiting.clear();
            bytes = 0;
        }
    }

    /** Clients of one address share its turns; those of IPv6 the address of their network, as each has 2^64 of its own. */
    static Object source(SocketAddress remote) {
        InetAddress address = remote instanceof InetSocketAddress internet ? internet.getAddress() : null;
        if (address instanceof Inet6Address) {
            return ByteBuffer.wrap(address.getAddress()).getLong();
        }
        return address == null ? remote.toString() : address;
    }
}
