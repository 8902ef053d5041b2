package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Opens connections and closes them again; no thread waits meanwhile, except for names. Thread-safe. */
final class TcpActions implements AutoCloseable {
    /** For hosts that are names: DNS blocks. */
    private final ThreadPool names = new ThreadPool("probe-names", 2);

    /** Connects; cancelling the result gives up. Completes on any thread. */
    CompletableFuture<Boolean> connect(String host, int port) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        try {
            connect(new InetSocketAddress(InetAddress.ofLiteral(host), port), result);
        } catch (IllegalArgumentException notLiteral) {
            names.execute(() -> {
                if (!result.isDone()) {
                    connect(new InetSocketAddress(host, port), result);
                }
            });
        }
        return result;
    }

    private static void connect(InetSocketAddress address, CompletableFuture<Boolean> result) {
        try {
            if (address.isUnresolved()) {
                throw new IOException("lookup " + address.getHostString() + ": no such host");
            }
            AsynchronousSocketChannel channel = AsynchronousSocketChannel.open();
            result.whenComplete((done, error) -> close(channel));
            channel.connect(address, result, new Connected());
        } catch (IOException e) {
            result.completeExceptionally(e);
        }
    }

    /** Ends the threads. Idempotent. */
    @Override
    public void close() {
        names.close();
    }

    private static void close(AsynchronousSocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // It was only opened to see whether that works.
        }
    }

    private static final class Connected implements CompletionHandler<@Nullable Void, CompletableFuture<Boolean>> {
        @Override
        public void completed(@Nullable Void nothing, CompletableFuture<Boolean> result) {
            result.complete(true);
        }

        @Override
        public void failed(Throwable error, CompletableFuture<Boolean> result) {
            result.completeExceptionally(error);
        }
    }
}
