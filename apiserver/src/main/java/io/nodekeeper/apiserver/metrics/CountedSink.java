package io.nodekeeper.apiserver.metrics;

import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.request.StreamSink;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import java.util.List;

/**
 * Counts the events of a watch. Thread-safe.
 *
 * @param initial the number of those at its beginning
 * @param events the number of later ones
 * @param sizes their bytes
 */
record CountedSink(StreamSink sink, CounterDataPoint initial, CounterDataPoint events, DistributionDataPoint sizes)
        implements StreamSink {
    @Override
    public void writeFirst(byte[] bytes) {
        initial.inc();
        sink.writeFirst(bytes);
    }

    @Override
    public void writeFirst(ResponseChunks chunks) {
        sink.writeFirst(new InitialEvents(chunks));
    }

    /** Counts events, each a part of a chunk, as they are read. */
    private final class InitialEvents implements ResponseChunks {
        private final ResponseChunks chunks;

        private InitialEvents(ResponseChunks chunks) {
            this.chunks = chunks;
        }

        @Override
        public List<byte[]> next() {
            List<byte[]> chunk = chunks.next();
            if (chunk != NOTHING_YET) {
                initial.inc(chunk.size());
            }
            return chunk;
        }

        @Override
        public long held() {
            return chunks.held();
        }
    }

    @Override
    public void inTurn(Runnable work) {
        sink.inTurn(work);
    }

    @Override
    public void write(byte[] bytes) {
        count(bytes);
        sink.write(bytes);
    }

    @Override
    public void write(List<byte[]> parts) {
        parts.forEach(this::count);
        sink.write(parts);
    }

    private void count(byte[] event) {
        events.inc();
        sizes.observe(event.length);
    }

    @Override
    public void end() {
        sink.end();
    }

    @Override
    public void onClose(Runnable action) {
        sink.onClose(action);
    }
}
