package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Streams of HTTP/2 whose client takes no answers or sends no body, frame by frame, with the channel's frozen clock. */
class ClosedWindowTest {
    private static final long MEMORY = 1 << 20;
    /** What a user who holds nothing may take at once. */
    private static final long WHOLE = MEMORY * 7 / 8;

    private static final int GET = 0x82;
    private static final int POST = 0x83;
    private static final int HTTPS = 0x87;
    private static final int WITH_END = 5;
    private static final int WITHOUT_END = 4;

    private final TestServer server = new TestServer();
    private final ServerContext serverContext = ServerContexts.of(server, MEMORY);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    /** The first stream is that of an upgrade for Netty, because this connection was not accepted by a server. */
    private int streams;

    /** A frame that the server sent. */
    private record Frame(String type, int code) {}

    /** Connects with a window of {@code window} bytes for each stream. */
    private void connect(Optional<ClientCertificate> certificate, int window) {
        channel.freezeTime();
        channel.pipeline()
                .addLast(Http2FrameCodecBuilder.forServer().build())
                .addLast(new Http2MultiplexHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.pipeline()
                                .addLast(new Http2StreamFrameToHttpObjectCodec(true))
                                .addLast(new RequestHandler(serverContext, certificate, () -> {}, name -> {}));
                    }
                }));
        ByteBuf preface = Unpooled.buffer();
        preface.writeCharSequence("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", StandardCharsets.US_ASCII);
        preface.writeMedium(6)
                .writeByte(4)
                .writeByte(0)
                .writeInt(0)
                .writeShort(4)
                .writeInt(window);
        channel.writeInbound(preface);
        frames();
    }

    private void ask(int method, String path, int flags) {
        ByteBuf headers = Unpooled.buffer();
        headers.writeByte(method).writeByte(HTTPS);
        headers.writeByte(1).writeByte(1).writeByte('x');
        headers.writeByte(4);
        if (path.length() < 0x7f) {
            headers.writeByte(path.length());
        } else {
            // The rest follows in groups of seven bits.
            int rest = path.length() - 0x7f;
            headers.writeByte(0x7f).writeByte(rest & 0x7f | 0x80).writeByte(rest >> 7);
        }
        headers.writeCharSequence(path, StandardCharsets.US_ASCII);
        ByteBuf frame = Unpooled.buffer();
        frame.writeMedium(headers.readableBytes()).writeByte(1).writeByte(flags).writeInt(2 * ++streams + 1);
        channel.writeInbound(Unpooled.wrappedBuffer(frame, headers));
    }

    /** The answers, ends and data since the last call. */
    private List<Frame> frames() {
        ByteBuf all = Unpooled.buffer();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            all.writeBytes(part);
            part.release();
        }
        List<Frame> frames = new ArrayList<>();
        while (all.isReadable()) {
            int length = all.readUnsignedMedium();
            int type = all.readByte();
            all.skipBytes(5);
            ByteBuf payload = all.readSlice(length);
            switch (type) {
                case 0 -> frames.add(new Frame("data", length));
                case 1 -> frames.add(new Frame("headers", 0));
                case 3 -> frames.add(new Frame("reset", payload.readInt()));
                default -> {
                    // Settings and pings.
                }
            }
        }
        return frames;
    }

    private long count(String type) {
        return frames().stream().filter(frame -> frame.type.equals(type)).count();
    }

    private void nodeOf40Kilobytes() {
        server.post(
                "/api/v1/nodes",
                "{\"metadata\":{\"name\":\"n1\",\"annotations\":{\"a\":\"" + "x".repeat(40_000) + "\"}}}");
    }

    @Test
    void answersBehindAClosedWindowTakeNoMoreThanTheShareOfTheirUser() {
        nodeOf40Kilobytes();
        connect(Optional.of(ClientCertificate.of(TestServer.ADMIN)), 0);
        // when a client asks for twelve objects and opens no window
        for (int i = 0; i < 12; i++) {
            ask(GET, "/api/v1/nodes/n1", WITH_END);
        }
        // then eight wait, which take a third of the memory, and the streams of the others, which are not written a
        // second later,
        // are reset
        assertThat(count("reset")).isZero();
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(count("reset")).isEqualTo(4);
        assertThat(serverContext.answers.has("admin", 40_000)).isFalse();
        // and all are given up after a minute
        channel.advanceTimeBy(61, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(count("reset")).isEqualTo(8);
        assertThat(serverContext.answers.has("admin", WHOLE)).isTrue();
    }

    /** As that of a controller with a long list, whose write is stored. */
    @Test
    void answerThatIsWrittenAtOnceNeedsNoShare() {
        nodeOf40Kilobytes();
        connect(Optional.of(ClientCertificate.of(TestServer.ADMIN)), 1 << 20);
        assertThat(serverContext.answers.take("admin", 320_000)).isTrue();
        ask(GET, "/api/v1/nodes/n1", WITH_END);
        channel.advanceTimeBy(2, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(count("reset")).isZero();
    }

    /** The refusal names the object, so it is as long as the client likes. */
    @Test
    void refusalsOfAnonymousClientsTakeNoMoreThanTheirShare() {
        connect(Optional.empty(), 0);
        for (int i = 0; i < 60; i++) {
            ask(POST, "/api/v1/nodes/" + "x".repeat(6_000), WITHOUT_END);
        }
        assertThat(serverContext.answers.has("", 20_000)).isFalse();
        assertThat(count("reset")).isPositive();
    }

    @Test
    void answersThatAreWrittenTakeNothing() {
        nodeOf40Kilobytes();
        connect(Optional.of(ClientCertificate.of(TestServer.ADMIN)), 1 << 20);
        ask(GET, "/api/v1/nodes/n1", WITH_END);
        assertThat(count("reset")).isZero();
        assertThat(serverContext.answers.has("admin", WHOLE)).isTrue();
    }

    @Test
    void smallAnswersAreNotCounted() {
        server.node("n1");
        connect(Optional.of(ClientCertificate.of(TestServer.ADMIN)), 0);
        ask(GET, "/api/v1/nodes/n1", WITH_END);
        assertThat(serverContext.answers.has("admin", WHOLE)).isTrue();
    }

    @Test
    void streamOfAnAnonymousClientIsRefusedAndEndsBeforeItsBody() {
        connect(Optional.empty(), 1 << 16);
        ask(POST, "/api/v1/nodes?pretty=" + "x".repeat(1_100), WITHOUT_END);
        List<Frame> frames = frames();
        assertThat(frames).hasSize(3);
        assertThat(frames.getFirst().type).isEqualTo("headers");
        assertThat(frames.get(1).type).isEqualTo("data");
        // NO_ERROR: the client should send no more.
        assertThat(frames.get(2)).isEqualTo(new Frame("reset", 0));
    }
}
