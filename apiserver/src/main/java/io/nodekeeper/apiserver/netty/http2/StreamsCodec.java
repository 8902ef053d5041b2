package io.nodekeeper.apiserver.netty.http2;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DecoratingHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import java.time.Duration;
import java.util.Map;

/**
 * Makes Netty's codec for the server's side of a connection, with a {@link FrameMeter} that also counts large headers. They are
 * counted once they are decoded, because a header of 4 KB that a client has sent once takes one byte later on; and before they are
 * converted and joined, which costs ten times as much. Those of streams that Netty ignores cost their decoding only. Netty limits resets, empty data, continuations
 * and its own responses to settings and pings.
 */
public final class StreamsCodec extends Http2FrameCodecBuilder {
    /** What a header takes besides its text (RFC 9113, section 6.5.2). */
    private static final int HEADER = 32;

    private final FrameMeter meter;

    private StreamsCodec(FrameMeter meter) {
        this.meter = meter;
        server(true);
    }

    /**
     * A codec.
     *
     * @param meter an earlier handler of the same connection
     * @param streams the most concurrent requests
     * @param headerBytes the largest list of headers, bytes as in RFC 9113
     * @param drain how long open streams may take after the connection is asked to close
     */
    public static Http2FrameCodec of(FrameMeter meter, int streams, int headerBytes, Duration drain) {
        return new StreamsCodec(meter)
                .initialSettings(Http2Settings.defaultSettings()
                        .maxConcurrentStreams(streams)
                        .maxHeaderListSize(headerBytes))
                .gracefulShutdownTimeoutMillis(drain.toMillis())
                .build();
    }

    @Override
    protected Http2FrameCodec build(
            Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
        return super.build(new CountingDecoder(decoder), encoder, settings);
    }

    private final class CountingDecoder extends DecoratingHttp2ConnectionDecoder {
        private CountingDecoder(Http2ConnectionDecoder decoder) {
            super(decoder);
        }

        @Override
        public void frameListener(Http2FrameListener listener) {
            super.frameListener(new CountingListener(listener));
        }
    }

    private final class CountingListener extends Http2FrameListenerDecorator {
        private CountingListener(Http2FrameListener listener) {
            super(listener);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean last)
                throws Http2Exception {
            meter.headers(bytes(headers));
            super.onHeadersRead(context, stream, headers, padding, last);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context,
                int stream,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean last)
                throws Http2Exception {
            meter.headers(bytes(headers));
            super.onHeadersRead(context, stream, headers, dependency, weight, exclusive, padding, last);
        }
    }

    private static int bytes(Http2Headers headers) {
        int bytes = 0;
        for (Map.Entry<CharSequence, CharSequence> header : headers) {
            bytes += HEADER + header.getKey().length() + header.getValue().length();
        }
        return bytes;
    }
}
