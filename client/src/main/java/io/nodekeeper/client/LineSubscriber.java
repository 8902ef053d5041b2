package io.nodekeeper.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Cuts the body of an answer into lines. It holds one unfinished line at most, and asks the network for more only when
 * the handler has dealt with what it was given, so a slow handler slows the server and fills no memory. Called by one
 * thread at a time.
 */
final class LineSubscriber implements HttpResponse.BodySubscriber<Optional<byte[]>> {
    /** The longest line; an object may have 1.5 MiB in etcd and grows on the way. Chosen. */
    static final int LONGEST = 16 << 20;

    private final Transport.StreamHandler handler;
    private final CompletableFuture<Optional<byte[]>> done = new CompletableFuture<>();
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
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
        for (ByteBuffer buffer : buffers) {
            take(buffer);
        }
        Flow.Subscription more = subscription;
        if (more == null) {
            return;
        }
        if (line.size() > LONGEST) {
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
        if (line.size() > 0) {
            flush();
        }
        done.complete(Optional.empty());
    }

    private void take(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        int start = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                line.write(bytes, start, i - start);
                flush();
                start = i + 1;
            }
        }
        line.write(bytes, start, bytes.length - start);
    }

    private void flush() {
        byte[] bytes = line.toByteArray();
        line.reset();
        handler.onLine(bytes);
    }
}
