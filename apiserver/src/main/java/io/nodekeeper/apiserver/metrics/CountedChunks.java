package io.nodekeeper.apiserver.metrics;

import io.nodekeeper.apiserver.request.ResponseChunks;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/** Counts the bytes of an answer while it is read. */
final class CountedChunks implements ResponseChunks {
    private final ResponseChunks chunks;
    private final LongConsumer size;
    private long bytes;

    /** Gives the number of bytes to {@code size} when all chunks have been read. */
    CountedChunks(ResponseChunks chunks, LongConsumer size) {
        this.chunks = chunks;
        this.size = size;
    }

    @Override
    public List<byte[]> next() {
        List<byte[]> chunk = chunks.next();
        chunk.forEach(part -> bytes += part.length);
        if (chunk.isEmpty()) {
            size.accept(bytes);
        }
        return chunk;
    }

    @Override
    public Optional<ResponseChunks> inProtobuf() {
        return chunks.inProtobuf().map(other -> new CountedChunks(other, size));
    }

    @Override
    public long held() {
        return chunks.held();
    }
}
