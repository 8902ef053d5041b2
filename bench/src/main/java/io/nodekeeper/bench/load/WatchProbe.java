package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A watch of all leases. It records which revisions it saw, how old each renewal was when it arrived, and errors in the
 * order. Confined to the event loop; its results may be read when no request is in progress.
 */
final class WatchProbe extends ChannelInboundHandlerAdapter {
    private static final byte[] TIME = Bytes.ascii("\"renewTime\":\"");
    /** The longest possible line of a lease. */
    private static final int LINE = 64 << 10;

    private final String host;
    private final long from;
    private final BitSet seen = new BitSet();
    private Histogram lags = new Histogram(60_000_000_000L, 2);
    private long last;
    private long duplicates;
    private boolean open;
    private Optional<String> fault = Optional.empty();

    private @Nullable ByteBuf text;
    /** An incomplete line of the response's head, or of a chunk's length. */
    private final StringBuilder control = new StringBuilder();

    private boolean inBody;
    private int chunkLeft;

    /** A watch of the changes after revision {@code from}. */
    WatchProbe(String host, long from) {
        this.host = host;
        this.from = from;
        this.last = from;
    }

    boolean isOpen() {
        return open;
    }

    /** The newest revision seen. */
    long last() {
        return last;
    }

    /** The number of revisions received. */
    long count() {
        return seen.cardinality();
    }

    /** The revisions seen, minus the first one's number. */
    BitSet seen() {
        return seen;
    }

    /** The first error. */
    Optional<String> fault() {
        return fault;
    }

    /** Returns the age of each renewal when it arrived, in nanoseconds, and starts a new histogram. */
    Histogram takeLags() {
        Histogram taken = lags;
        lags = new Histogram(60_000_000_000L, 2);
        return taken;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
            byte[] request = Bytes.ascii(
                    "GET /apis/coordination.k8s.io/v1/leases?watch=1&allowWatchBookmarks=true&timeoutSeconds=86400"
                            + "&resourceVersion=" + from + " HTTP/1.1\r\nHost: " + host
                            + "\r\nUser-Agent: bench\r\nAccept: application/json\r\n\r\n");
            context.writeAndFlush(context.alloc().buffer(request.length).writeBytes(request));
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        ByteBuf lines = text;
        if (lines == null) {
            lines = context.alloc().buffer(LINE);
            text = lines;
        }
        while (in.isReadable()) {
            if (chunkLeft > 0) {
                int part = Math.min(chunkLeft, in.readableBytes());
                lines.writeBytes(in, part);
                chunkLeft -= part;
            } else {
                byte next = in.readByte();
                if (next == '\n') {
                    control();
                } else if (next != '\r') {
                    control.append((char) next);
                }
            }
        }
        in.release();
        events(lines);
    }

    private void control() {
        String is = control.toString();
        control.setLength(0);
        if (inBody && !is.isEmpty()) {
            chunkLeft = Integer.parseInt(is, 16);
            if (chunkLeft == 0) {
                fail("the watch was ended after revision " + last);
            }
        } else if (!inBody && is.startsWith("HTTP/1.1 ") && !is.startsWith("HTTP/1.1 200")) {
            fail("the watch was answered with " + is);
        } else if (!inBody && is.isEmpty()) {
            inBody = true;
            open = true;
        }
    }

    /** Processes the complete lines; an incomplete one stays in the buffer. */
    private void events(ByteBuf lines) {
        long now = System.nanoTime();
        int end;
        while ((end = lines.indexOf(lines.readerIndex(), lines.writerIndex(), (byte) '\n')) >= 0) {
            event(lines, end, now);
            lines.readerIndex(end + 1);
        }
        lines.discardReadBytes();
    }

    private void event(ByteBuf lines, int end, long now) {
        int start = lines.readerIndex();
        byte kind = lines.getByte(start + "{\"type\":\"".length());
        if (kind == 'B') {
            return;
        }
        if (kind != 'M' && kind != 'A') {
            fail("unexpected: " + lines.toString(start, end - start, StandardCharsets.UTF_8));
            return;
        }
        long revision = Fleet.version(lines, start);
        if (revision <= last) {
            duplicates++;
            fail("revision " + revision + " came after " + last + "; " + duplicates + " times so far");
            return;
        }
        last = revision;
        seen.set((int) (revision - from));
        // The time is near the end of the line.
        int time = Bytes.indexOf(lines, TIME, Math.max(start, end - 120));
        if (time >= 0 && kind == 'M') {
            lags.recordValue(Math.min(SendTime.age(lines, time + TIME.length, now), lags.getHighestTrackableValue()));
        }
    }

    private void fail(String what) {
        if (fault.isEmpty()) {
            fault = Optional.of(what);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        fail("the watch's connection was closed after revision " + last);
        if (text != null) {
            text.release();
            text = null;
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail("the watch failed: " + cause);
        context.close();
    }
}
