package io.nodekeeper.agent.pods.probes;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Reads the beginning of a body and closes the connection if there is more. Used by one response. */
final class FirstBytes implements HttpResponse.BodySubscriber<String> {
    private final int most;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CompletableFuture<String> text = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription;

    FirstBytes(int most) {
        this.most = most;
    }

    @Override
    public CompletionStage<String> getBody() {
        return text;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            byte[] part = new byte[Math.min(buffer.remaining(), most - bytes.size())];
            buffer.get(part);
            bytes.writeBytes(part);
        }
        if (bytes.size() == most && subscription != null) {
            subscription.cancel();
            onComplete();
        }
    }

    @Override
    public void onError(Throwable error) {
        text.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        text.complete(bytes.toString(StandardCharsets.UTF_8));
    }
}
