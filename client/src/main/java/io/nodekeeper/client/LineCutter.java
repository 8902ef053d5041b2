package io.nodekeeper.client;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * Cuts a stream of bytes into lines and passes lines together that arrived together. Two byte arrays are used in turns: while the
 * handler processes the lines of one, the other is filled, so that the network's thread need not be woken to read on. More is
 * requested only when the handler has processed the lines before the last ones, so that a slow handler slows the server down
 * instead of filling memory. Called by one thread at a time.
 */
final class LineCutter {
    /**
     * The longest line: ten times the 1.5 MiB that an object may have in etcd, because JSON is larger than protobuf.
     */
    static final int LONGEST = 16 << 20;
    /** A larger array is not kept for further lines. The network delivers 64 KiB at a time, behind an unfinished line. */
    private static final int USUAL = 128 << 10;
    /** Enough for most events; many watches are calm. */
    private static final int FIRST = 4 << 10;

    private static final CompletableFuture<Void> NOW = CompletableFuture.completedFuture(null);

    private final Transport.StreamHandler handler;
    /** The lines that are being gathered, and those that the handler may still process. */
    private Lines lines = new Lines();

    private Lines before = new Lines();
    /** Where the lines that are being gathered are, and room for those after them. */
    private byte[] bytes = new byte[0];

    private byte[] spare = new byte[0];
    /** The unfinished line is in {@code [begun, end)}: of {@link #spare} if the lines before it were passed on, else of {@link #bytes}. */
    private int begun;

    private int end;
    private boolean isPassedOn;
    /** Completes when the handler has processed the lines that were passed on last. */
    private CompletableFuture<Void> processed = NOW;
    /** The same of the lines before these. */
    private CompletableFuture<Void> free = NOW;

    LineCutter(Transport.StreamHandler handler) {
        this.handler = handler;
    }

    /**
     * Takes bytes; the result of the last {@link #passOn} is complete.
     *
     * @throws IOException if a line is too long
     */
    void take(ByteBuf arrived) throws IOException {
        int length = arrived.readableBytes();
        makeRoom(length);
        int from = end;
        arrived.readBytes(bytes, from, length);
        end += length;
        for (int i = from; i < end; i++) {
            if (bytes[i] == '\n') {
                lines.add(begun, i);
                begun = i + 1;
            }
        }
        if (end - begun > LONGEST) {
            throw new IOException("a line of the stream is longer than " + LONGEST + " bytes");
        }
    }

    /** Passes on the lines so far. More bytes may be taken when the result completes. */
    CompletableFuture<Void> passOn() {
        if (isPassedOn || lines.count() == 0) {
            return free;
        }
        free = processed;
        handler.onLines(lines);
        processed = handler.drained();
        Lines passed = lines;
        lines = before;
        before = passed;
        byte[] kept = spare;
        spare = bytes;
        bytes = kept;
        isPassedOn = true;
        return free;
    }

    /** Passes on what is left, a line without an end included: the stream has ended. */
    void end() {
        byte[] last = Arrays.copyOfRange(isPassedOn ? spare : bytes, begun, end);
        passOn();
        if (last.length > 0) {
            Lines rest = new Lines();
            rest.reset(last);
            rest.add(0, last.length);
            handler.onLines(rest);
        }
    }

    /** Room for {@code more} bytes behind the unfinished line, which moves to the front if the lines before it were passed on. */
    private void makeRoom(int more) {
        int open = end - begun;
        if (isPassedOn) {
            isPassedOn = false;
            if (bytes.length < open + more || bytes.length > USUAL && open + more <= USUAL) {
                bytes = new byte[capacity(open + more)];
            }
            System.arraycopy(spare, begun, bytes, 0, open);
            begun = 0;
            end = open;
            lines.reset(bytes);
        } else if (bytes.length < end + more) {
            bytes = Arrays.copyOf(bytes, capacity(end + more));
            lines.moveTo(bytes);
        }
    }

    /** Doubled, so that a long line is not copied with each of its pieces. */
    private static int capacity(int needed) {
        return needed <= USUAL ? Math.min(USUAL, Math.max(FIRST, 2 * needed)) : 2 * needed;
    }
}
