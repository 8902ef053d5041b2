package io.nodekeeper.client;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Splits the body of a response into lines and passes lines together that arrived together. It requests more from the
 * network only when the handler has processed the lines, so that a slow handler slows the server down instead of
 * filling memory, and one byte array is reused. Called by one thread at a time.
 */
final class LineSubscriber implements HttpResponse.BodySubscriber<Optional<byte[]>> {
    /**
     * The longest line: ten times the 1.5 MiB that an object may have in etcd, because JSON is larger than protobuf.
     */
    static final int LONGEST = 16 << 20;
    /**
     * A larger array is not kept for further lines: the network delivers 16 KiB at a time, so four times that is rarely
     * exceeded.
     */
    private static final int USUAL = 64 << 10;

    private final Transport.StreamHandler handler;
    private final CompletableFuture<Optional<byte[]>> done = new CompletableFuture<>();
    private final Lines lines = new Lines();
    private byte[] bytes = new byte[USUAL];
    /** The unfinished line is in {@code [begun, end)}. */
    private int begun;

    private int end;
    private Flow.@Nullable Subscription subscription;

    LineSubscriber(Transport.StreamHandler handler) {
        this.handler = handler;
    }

    /** Completes without a value at the end of the body. */
    @Override
    public CompletionStage<Optional<byte[]>> getBody() {
        return done;
    }

    @Override
    public void onSubscribe(Flow.Subscription first) {
        subscription = first;
        first.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        // The handler has processed all finished lines, because more was requested only after that.
        makeRoom(buffers.stream().mapToInt(ByteBuffer::remaining).sum());
        lines.reset(bytes);
        for (ByteBuffer buffer : buffers) {
            take(buffer);
        }
        if (lines.count() > 0) {
            handler.onLines(lines);
        }
        Flow.Subscription more = subscription;
        if (more == null) {
            return;
        }
        if (end - begun > LONGEST) {
            more.cancel();
            done.completeExceptionally(new IOException("a line of the stream is longer than " + LONGEST + " bytes"));
        } else {
            handler.drained().whenComplete((nothing, error) -> more.request(1));
        }
    }

    @Override
    public void onError(Throwable error) {
        // The unfinished line is dropped, because it is a part of an event.
        done.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        if (end > begun) {
            // Copied, because earlier lines may not have been processed.
            Lines last = new Lines();
            last.reset(Arrays.copyOfRange(bytes, begun, end));
            last.add(0, end - begun);
            handler.onLines(last);
        }
        done.complete(Optional.empty());
    }

    /** Moves the unfinished line to the front, with room for {@code more} bytes behind it. */
    private void makeRoom(int more) {
        int open = end - begun;
        int needed = open + more;
        byte[] from = bytes;
        if (needed > bytes.length) {
            // Doubled, so that a long line is not copied with each of its pieces.
            bytes = new byte[2 * needed];
        } else if (bytes.length > USUAL && needed <= USUAL) {
            bytes = new byte[USUAL];
        }
        System.arraycopy(from, begun, bytes, 0, open);
        begun = 0;
        end = open;
    }

    private void take(ByteBuffer buffer) {
        int from = end;
        int length = buffer.remaining();
        buffer.get(bytes, from, length);
        end += length;
        for (int i = from; i < end; i++) {
            if (bytes[i] == '\n') {
                lines.add(begun, i);
                begun = i + 1;
            }
        }
    }
}
