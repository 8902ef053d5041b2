package io.nodekeeper.apiserver.netty;

import io.nodekeeper.apiserver.request.ResponseChunks;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Compresses the chunks of a response one by one, as parts of one gzip stream. The reader calls {@link #close} at the
 * end or when it gives up, from any thread, also while a chunk is made.
 */
final class GzipChunks implements ResponseChunks, AutoCloseable {
    /** The header of a gzip stream (RFC 1952): magic number, deflate, no name or time, fastest, unknown system. */
    private static final byte[] HEAD = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 4, (byte) 255};

    /** The memory of zlib for one stream, in bytes (256 KiB for these settings, according to its manual). */
    static final long ZLIB = 256 << 10;

    private final ResponseChunks plain;
    private final Deflater deflater;
    private final CRC32 sum = new CRC32();
    private final byte[] buffer = new byte[16 << 10];
    private boolean begun;
    /** Whether a thread makes a chunk, and so uses the deflater. Guarded by this. */
    private boolean making;
    /** Whether there are no more chunks. Guarded by this. */
    private boolean ended;

    GzipChunks(ResponseChunks plain) {
        this(plain, new Deflater(Deflater.BEST_SPEED, true));
    }

    /** {@code deflater} without a header of zlib; it is ended here. */
    GzipChunks(ResponseChunks plain, Deflater deflater) {
        this.plain = plain;
        this.deflater = deflater;
    }

    @Override
    public List<byte[]> next() {
        if (!enter()) {
            return List.of();
        }
        try {
            return make();
        } finally {
            leave();
        }
    }

    private synchronized boolean enter() {
        making = !ended;
        return making;
    }

    private synchronized void leave() {
        making = false;
        if (ended) {
            deflater.end();
        }
    }

    private synchronized boolean hasEnded() {
        return ended;
    }

    private List<byte[]> make() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(SIZE / 4);
        if (!begun) {
            begun = true;
            out.writeBytes(HEAD);
        }
        while (!hasEnded() && (out.size() == 0 || out.size() == HEAD.length)) {
            List<byte[]> parts = plain.next();
            if (parts == NOTHING_YET) {
                return out.size() == 0 ? NOTHING_YET : List.of(out.toByteArray());
            }
            for (byte[] part : parts) {
                sum.update(part);
                deflater.setInput(part);
                drain(out);
            }
            if (parts.isEmpty()) {
                deflater.finish();
                drain(out);
                trailer(out, sum.getValue());
                trailer(out, deflater.getBytesRead());
                close();
            }
        }
        return out.size() == 0 ? List.of() : List.of(out.toByteArray());
    }

    private void drain(ByteArrayOutputStream out) {
        int made;
        while ((made = deflater.deflate(buffer)) > 0) {
            out.write(buffer, 0, made);
        }
    }

    private static void trailer(ByteArrayOutputStream out, long number) {
        for (int shift = 0; shift < 32; shift += 8) {
            out.write((int) (number >>> shift));
        }
    }

    @Override
    public long held() {
        return plain.held() + ZLIB;
    }

    /** Never waits for a chunk that is being made, which takes as long as a disk hangs; the deflater ends after it. */
    @Override
    public synchronized void close() {
        if (!ended && !making) {
            deflater.end();
        }
        ended = true;
    }
}
