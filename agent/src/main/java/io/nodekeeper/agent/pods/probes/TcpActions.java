package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.api.IpLiteral;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Opens connections and closes them again; no thread waits meanwhile, except for names. Thread-safe. */
final class TcpActions {
    private final HostNames names;

    TcpActions(HostNames names) {
        this.names = names;
    }

    /** Connects; cancelling the result gives up. Completes on any thread. */
    CompletableFuture<Boolean> connect(String host, int port) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        if (IpLiteral.is(host)) {
            connect(new InetSocketAddress(InetAddress.ofLiteral(host), port), result);
            return result;
        }
        CompletableFuture<InetAddress> found = names.address(host);
        result.whenComplete((done, error) -> found.cancel(true));
        found.whenComplete((address, error) -> {
            if (error != null) {
                result.completeExceptionally(error);
            } else if (!result.isDone()) {
                connect(new InetSocketAddress(address, port), result);
            }
        });
        return result;
    }

    private static void connect(InetSocketAddress address, CompletableFuture<Boolean> result) {
        try {
            AsynchronousSocketChannel channel = AsynchronousSocketChannel.open();
            result.whenComplete((done, error) -> close(channel));
            channel.connect(address, result, new Connected());
        } catch (IOException e) {
            result.completeExceptionally(e);
        }
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
