package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Readers that stopped reading do not keep their answers for ever. */
final class Stalled {
    private static final Logger log = LoggerFactory.getLogger(Stalled.class);
    /** How long an answer waits to be read: as long as a request may take in Kubernetes. */
    private static final int SECONDS = 60;

    private Stalled() {}

    /** Closes the channel if {@code written} is not done in time; costs nothing if it is done already. */
    static void watch(ChannelHandlerContext context, ChannelFuture written) {
        if (!written.isDone()) {
            Future<?> timer = closeLater(context, written::isDone);
            written.addListener(done -> timer.cancel(false));
        }
    }

    /** Closes the channel after a while unless {@code fine} then. */
    static Future<?> closeLater(ChannelHandlerContext context, BooleanSupplier fine) {
        return context.executor()
                .schedule(
                        () -> {
                            if (!fine.getAsBoolean()) {
                                log.debug("{} does not read its answer", Peer.address(context.channel()));
                                context.close();
                            }
                        },
                        SECONDS,
                        TimeUnit.SECONDS);
    }
}
