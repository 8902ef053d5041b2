package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2StreamChannel;

/** Ends streams of HTTP/2 otherwise than by their last frame. The same calls end, or leave, a connection of HTTP/1.1. */
final class HttpStream {
    private HttpStream() {}

    /** Whether this is a stream of HTTP/2, and not a connection. */
    static boolean is(ChannelHandlerContext context) {
        return context.channel() instanceof Http2StreamChannel;
    }

    /**
     * Closes a stream with all that waits for its window; of HTTP/1.1, the connection. Netty resets no stream whose last frame
     * was passed on, even if that waits for the window.
     */
    static void cut(ChannelHandlerContext context) {
        if (is(context)) {
            context.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.CANCEL));
        }
        context.close();
    }

    /**
     * Asks the client of a stream to send no more of the body, because it is answered (RFC 9113, section 8.1). HTTP/1.1 has no such
     * message: nothing is sent.
     */
    static void stopSending(ChannelHandlerContext context) {
        if (is(context)) {
            context.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.NO_ERROR));
        }
    }
}
