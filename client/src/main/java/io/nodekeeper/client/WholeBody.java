package io.nodekeeper.client;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** The bytes of a body, up to a limit. */
final class WholeBody implements Body<Reply> {
    private static final CompletableFuture<Void> NOW = CompletableFuture.completedFuture(null);

    private final int limit;
    private int status;
    private byte[] bytes = new byte[0];
    private int length;

    /** @param limit the most bytes */
    WholeBody(int limit) {
        this.limit = limit;
    }

    @Override
    public void begin(int code) {
        status = code;
    }

    @Override
    public void take(ByteBuf arrived) throws IOException {
        int more = arrived.readableBytes();
        if (more > limit - length) {
            throw new LongReplyException(limit);
        }
        if (bytes.length < length + more) {
            // Exactly for the first part, which is most often the only one.
            bytes = Arrays.copyOf(bytes, length == 0 ? more : (int) Math.min(limit, 2L * (length + more)));
        }
        arrived.readBytes(bytes, length, more);
        length += more;
    }

    @Override
    public CompletableFuture<Void> arrived() {
        return NOW;
    }

    @Override
    public Reply end() {
        return new Reply(status, bytes.length == length ? bytes : Arrays.copyOf(bytes, length));
    }
}
