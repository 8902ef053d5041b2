package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.zip.GZIPOutputStream;

/**
 * Writes a recording: gzip of lines of JSON, the first of which is its head, and each other one a {@link
 * RecordedChange}. A renewal takes some 20 bytes. Not thread-safe.
 */
public final class RecordingWriter implements AutoCloseable {
    private final GZIPOutputStream out;

    /** Writes the head of a recording that begins at {@code begin}. */
    public RecordingWriter(OutputStream file, Instant begin) throws IOException {
        // What was flushed can be read even if the process is killed.
        out = new GZIPOutputStream(file, 1 << 16, true);
        line(JsonObject.builder()
                .put("kind", Recording.KIND)
                .put("version", Recording.VERSION)
                .put("begin", KubeTime.formatMicro(begin))
                .build());
    }

    public void write(RecordedChange change) throws IOException {
        line(change.line());
    }

    /** Writes what was written so far to the file. */
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    private void line(JsonObject line) throws IOException {
        out.write(Json.writeBytes(line));
        out.write('\n');
    }
}
