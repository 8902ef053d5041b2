package io.nodekeeper.apiserver.metrics;

import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.request.StreamSink;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import java.util.List;

/** Counts the events that a watch sends after its beginning. Thread-safe. */
record CountedSink(StreamSink sink, CounterDataPoint events, DistributionDataPoint sizes) implements StreamSink {
    @Override
    public void writeFirst(byte[] bytes) {
        sink.writeFirst(bytes);
    }

    @Override
    public void writeFirst(ResponseChunks chunks) {
        sink.writeFirst(chunks);
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
