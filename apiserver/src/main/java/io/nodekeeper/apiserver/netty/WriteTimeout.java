package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes connections of clients that do not read their responses. */
final class WriteTimeout {
    private static final Logger log = LoggerFactory.getLogger(WriteTimeout.class);
    /** How long a response may stay unread: Kubernetes' limit for a request. */
    private static final int SECONDS = 60;

    private WriteTimeout() {}

    /** Closes the channel if {@code written} does not complete in time. Starts no timer if it is already complete. */
    static void watch(ChannelHandlerContext context, ChannelFuture written) {
        if (!written.isDone()) {
            Future<?> timer = context.executor()
                    .schedule(
                            () -> {
                                if (!written.isDone()) {
                                    log.debug("{} does not read its response", Peer.address(context.channel()));
                                    HttpStream.cut(context);
                                }
                            },
                            SECONDS,
                            TimeUnit.SECONDS);
            written.addListener(done -> timer.cancel(false));
        }
    }
}
