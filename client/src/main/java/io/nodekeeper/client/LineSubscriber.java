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
 * Cuts the body of an answer into lines and hands over together what arrived together. It asks the network for more only
 * when the handler has dealt with what it was given, so a slow handler slows the server and fills no memory, and one array
 * of bytes is used over and over. Called by one thread at a time.
 */
final class LineSubscriber implements HttpResponse.BodySubscriber<Optional<byte[]>> {
    /** The longest line; an object may have 1.5 MiB in etcd and grows on the way. Chosen. */
    static final int LONGEST = 16 << 20;
    /** A larger array is not kept for the lines to come. Chosen: the network hands over 16 KiB at a time. */
    private static final int USUAL = 64 << 10;

    private final Transport.StreamHandler handler;
    private final CompletableFuture<Optional<byte[]>> done = new CompletableFuture<>();
    private final Lines lines = new Lines();
    private byte[] bytes = new byte[USUAL];
    /** The unfinished line lies in {@code [begun, end)}. */
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
        // The handler has dealt with all finished lines by now: this was asked for only then.
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
        // The unfinished line is dropped: it is half an event.
        done.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        if (end > begun) {
            // Copied: the lines before it may not have been dealt with.
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
            // Twice as much, lest a long line be copied with each of its pieces.
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
