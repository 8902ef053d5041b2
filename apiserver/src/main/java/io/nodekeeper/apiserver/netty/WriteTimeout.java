package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Readers that stopped reading do not keep their answers for ever. */
final class WriteTimeout {
    private static final Logger log = LoggerFactory.getLogger(WriteTimeout.class);
    /** How long an answer waits to be read: as long as a request may take in Kubernetes. */
    private static final int SECONDS = 60;

    private WriteTimeout() {}

    /** Closes the channel if {@code written} is not done in time; costs nothing if it is done already. */
    static void watch(ChannelHandlerContext context, ChannelFuture written) {
        if (!written.isDone()) {
            Future<?> timer = context.executor()
                    .schedule(
                            () -> {
                                if (!written.isDone()) {
                                    log.debug("{} does not read its answer", Peer.address(context.channel()));
                                    context.close();
                                }
                            },
                            SECONDS,
                            TimeUnit.SECONDS);
            written.addListener(done -> timer.cancel(false));
        }
    }
}
