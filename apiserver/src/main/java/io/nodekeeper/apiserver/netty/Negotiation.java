package io.nodekeeper.apiserver.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.nodekeeper.apiserver.netty.connections.Connections;
import io.nodekeeper.apiserver.netty.http2.FrameMeter;
import io.nodekeeper.apiserver.netty.http2.StreamsCodec;
import io.nodekeeper.apiserver.request.ClientCertificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sets up the handlers of a connection for the protocol of the TLS handshake. */
final class Negotiation extends ApplicationProtocolNegotiationHandler {
    private static final Logger log = LoggerFactory.getLogger(Negotiation.class);
    /**
     * The longest request line. Query strings with long selectors and continue tokens need more than the usual 4 KiB;
     * 64 KiB is also the limit for headers.
     */
    private static final int LINE_BYTES = 64 << 10;

    /** The most concurrent requests on one connection (Kubernetes' earlier limit; now it is 100). */
    private static final int STREAMS = 250;

    /** The time for an HTTP/2 client to read the reason before its connection is closed. */
    private static final int FAREWELL_SECONDS = 1;

    private final ServerContext serverContext;
    private final Connections.Client client;
    private final Duration drain;

    /** {@code drain}: how long open streams may take after the server stops. */
    Negotiation(ServerContext serverContext, Connections.Client client, Duration drain) {
        super(ApplicationProtocolNames.HTTP_1_1);
        this.serverContext = serverContext;
        this.client = client;
        this.drain = drain;
    }

    @Override
    protected void configurePipeline(ChannelHandlerContext context, String protocol) {
        ChannelPipeline pipeline = context.pipeline();
        Optional<X509Certificate> shown = Peer.certificate(pipeline.get(SslHandler.class));
        shown.ifPresent(proof ->
                serverContext.server.certificateShown(proof.getNotAfter().toInstant()));
        Optional<ClientCertificate> certificate = shown.flatMap(Peer::user);
        certificate.ifPresent(proof -> client.proven(proof.user().flow()));
        if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
            streams(pipeline, certificate);
        } else {
            requests(pipeline, certificate);
        }
        if (serverContext.stopping()) {
            pipeline.fireUserEventTriggered(ConnectionEvent.STOP);
        }
    }

    private void requests(ChannelPipeline pipeline, Optional<ClientCertificate> certificate) {
        // Each needs the other: the handler reports headers, and the timeouts check whether a request is active.
        RequestHandler[] handler = new RequestHandler[1];
        ConnectionTimeouts timeouts = ConnectionTimeouts.withRequests(() -> handler[0].busy());
        handler[0] = new RequestHandler(serverContext, certificate, timeouts::heard, client::proven);
        pipeline.addLast(timeouts)
                .addLast(new HttpServerCodec(new HttpDecoderConfig()
                        .setMaxInitialLineLength(LINE_BYTES)
                        .setMaxHeaderSize(LINE_BYTES)))
                .addLast(new HttpServerKeepAliveHandler())
                .addLast(handler[0]);
    }

    private void streams(ChannelPipeline pipeline, Optional<ClientCertificate> certificate) {
        FrameMeter meter = new FrameMeter();
        Http2FrameCodec codec = StreamsCodec.of(meter, STREAMS, LINE_BYTES, drain);
        ConnectionTimeouts timeouts =
                ConnectionTimeouts.withStreams(() -> codec.connection().numActiveStreams() > 0);
        pipeline.addLast(new FlushConsolidationHandler(
                        FlushConsolidationHandler.DEFAULT_EXPLICIT_FLUSH_AFTER_FLUSHES, true))
                .addLast(meter)
                .addLast(timeouts)
                .addLast(codec)
                .addLast(new Http2MultiplexHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        client.opened(stream);
                        stream.pipeline()
                                .addLast(new Http2StreamFrameToHttpObjectCodec(true))
                                .addLast(new RequestHandler(
                                        serverContext, certificate, timeouts::heard, client::proven));
                    }
                }))
                .addLast(new Farewell());
    }

    /** The last handler of a connection's pipeline: sends GOAWAY when the server stops, and drops frames without a stream. */
    private static final class Farewell extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object frame) {
            // The codec has already processed these frames, such as settings.
            ReferenceCountUtil.release(frame);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event == ConnectionEvent.STOP) {
                context.close();
            } else {
                context.fireUserEventTriggered(event);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            log.debug("connection from {}: {}", Peer.address(context.channel()), cause.toString());
            // Bypasses the codec, which would wait for the streams of a misbehaving client. The delay lets the client
            // read
            // the reason.
            ChannelHandlerContext tls = context.pipeline().context(SslHandler.class);
            context.executor().schedule(() -> tls.close(), FAREWELL_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** An error before the protocol is known is a failed handshake. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        serverContext.server.handshakeFailed();
        log.debug("TLS with {}: {}", Peer.address(context.channel()), cause.toString());
        context.close();
    }
}
