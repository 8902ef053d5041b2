package io.nodekeeper.apiserver.netty.http2;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts the useless frames of an HTTP/2 client before they are processed, and closes a connection with too many:
 * settings, pings, priorities, resets, continuations, empty data and unknown types, which cost the server more than the
 * client. The codec behind this limits some of them separately; this limits their total number. The client gets
 * {@code GOAWAY} with {@code ENHANCE_YOUR_CALM}, and a second later the connection is closed.
 *
 * <p>Large headers count as useless frames, too: a list of 61 KB takes a client 60 bytes and the server 0.1 ms.
 *
 * <p>Clients that read responses send window updates, about one per 4 KB, so the limit of these grows with the sent
 * bytes. Confined to its event loop.
 */
public final class FrameMeter extends ChannelDuplexHandler {
    /** The period of a count. */
    private static final int SECONDS = 10;

    /**
     * The most useless frames per period. Go's and Java's clients send a few settings and pings, and one reset for each
     * cancelled request.
     */
    static final int FRAMES = 2_000;

    /** Headers up to this size count nothing, bytes. Those of kubelets have 0.5 KB, and large OIDC tokens 8 KB. */
    static final int USUAL_HEADERS = 10 << 10;

    /** Each of these bytes above {@link #USUAL_HEADERS} counts as a frame, so that a connection can cost some 20 ms in a period. */
    static final int BYTES_A_FRAME = 4 << 10;

    /** The most window updates per period, in addition to one per {@link #BYTES_A_WINDOW} sent. */
    static final int WINDOWS = 2_000;

    /** Half of the bytes after which Go's client updates a window, because it updates those of stream and connection. */
    private static final int BYTES_A_WINDOW = 2_048;

    /** The time for the client to read the reason before its connection is closed. */
    private static final int FAREWELL_SECONDS = 1;

    private static final int PREFACE = 24;
    private static final int HEAD = 9;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int WINDOW_UPDATE = 8;

    /** The remaining bytes of the preface or of a payload. */
    private int skipping = PREFACE;

    /** The received bytes of a frame's header, and its length and type as far as received. */
    private int head;

    private int length;
    private int type;

    private int frames;
    private int windows;
    private long sent;
    private boolean ended;
    private @Nullable ScheduledFuture<?> timer;

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        timer = context.executor()
                .scheduleAtFixedRate(
                        () -> {
                            frames = 0;
                            windows = 0;
                            sent = 0;
                        },
                        SECONDS,
                        SECONDS,
                        TimeUnit.SECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes) {
            sent += bytes.readableBytes();
        }
        context.write(message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (ended) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (message instanceof ByteBuf bytes) {
            count(bytes);
        }
        if (frames <= FRAMES && windows <= WINDOWS + sent / BYTES_A_WINDOW) {
            context.fireChannelRead(message);
            return;
        }
        ReferenceCountUtil.release(message);
        ended = true;
        context.fireExceptionCaught(tooMany());
        // From here, so that no later handler waits for streams to end.
        context.executor().schedule(() -> context.close(), FAREWELL_SECONDS, TimeUnit.SECONDS);
    }

    /**
     * Counts a list of headers of so many bytes.
     *
     * @throws Http2Exception if there were too many; the codec then reads no more
     */
    void headers(int bytes) throws Http2Exception {
        if (bytes > USUAL_HEADERS) {
            frames += (bytes - USUAL_HEADERS + BYTES_A_FRAME - 1) / BYTES_A_FRAME;
            if (frames > FRAMES) {
                throw tooMany();
            }
        }
    }

    private Http2Exception tooMany() {
        return Http2Exception.connectionError(
                Http2Error.ENHANCE_YOUR_CALM,
                "%d frames (large headers count as several) and %d window updates in less than %d s",
                frames,
                windows,
                SECONDS);
    }

    private void count(ByteBuf bytes) {
        int at = bytes.readerIndex();
        int end = bytes.writerIndex();
        while (at < end) {
            if (skipping > 0) {
                int skipped = Math.min(skipping, end - at);
                skipping -= skipped;
                at += skipped;
                continue;
            }
            int next = bytes.getUnsignedByte(at++);
            if (head < 3) {
                length = length << 8 | next;
            } else if (head == 3) {
                type = next;
            }
            if (++head == HEAD) {
                frame();
                skipping = length;
                head = 0;
                length = 0;
            }
        }
    }

    private void frame() {
        if (type == WINDOW_UPDATE) {
            windows++;
        } else if (type != HEADERS && (type != DATA || length == 0)) {
            frames++;
        }
    }
}
