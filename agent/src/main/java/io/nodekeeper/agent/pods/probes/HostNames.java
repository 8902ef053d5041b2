package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;

/**
 * Finds the addresses of the hosts of actions. DNS blocks, so names are looked up on threads of their own: a server of names that
 * does not answer must not delay the actions that ask pods by their addresses. Thread-safe.
 */
final class HostNames implements AutoCloseable {
    /** Few actions have a host that is a name. */
    static final int THREADS = 4;

    private final ThreadPool threads = new ThreadPool("probe-names", THREADS);
    private final Resolver resolver;

    /** Looks names up; blocks. */
    @FunctionalInterface
    interface Resolver {
        InetAddress resolve(String name) throws UnknownHostException;
    }

    HostNames(Resolver resolver) {
        this.resolver = resolver;
    }

    /** The address of {@code name}. Cancelling the result gives up a lookup that has not begun. Completes on any thread. */
    CompletableFuture<InetAddress> address(String name) {
        CompletableFuture<InetAddress> result = new CompletableFuture<>();
        threads.executeOrDrop(() -> {
            if (result.isDone()) {
                return;
            }
            try {
                result.complete(resolver.resolve(name));
            } catch (UnknownHostException e) {
                result.completeExceptionally(new IOException("lookup " + name + ": no such host"));
            } catch (RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /** Ends the threads. Idempotent. */
    @Override
    public void close() {
        threads.close();
    }
}
