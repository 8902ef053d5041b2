package io.nodekeeper.cli.pages;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;

/**
 * Answers a TLS handshake while there is no certificate: with the alert internal_error, as a kubelet does. Clients in Go
 * show it as {@code remote error: tls: internal error}. One for each connection.
 */
final class NoCertificateHandler extends ChannelInboundHandlerAdapter {
    /** A record of type alert, TLS 1.2, two bytes: fatal, internal_error (RFC 8446, section 6). */
    private static final byte[] ALERT = {21, 3, 3, 0, 2, 2, 80};

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ReferenceCountUtil.release(message);
        context.writeAndFlush(Unpooled.wrappedBuffer(ALERT)).addListener(ChannelFutureListener.CLOSE);
    }
}
