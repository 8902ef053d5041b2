package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Decides about a request by objects other than its own, such as a new pod by its service account. On a store with other writers,
 * these come from the cache, which is free. If the decision is a refusal, the cache may lag, so it is repeated on a fresh one.
 * Thread-safe.
 */
public final class FreshLookups {
    private final Store store;

    public FreshLookups(Store store) {
        this.store = store;
    }

    /** A decision, and what follows from it. */
    public interface Decision<T> {
        /** The result; {@code fresh} if the cache has all acknowledged writes, so that an object that it lacks does not exist. */
        CompletableFuture<T> on(boolean fresh);
    }

    /** The result of {@code decision}; {@code executor} runs it if it is repeated. */
    public <T> CompletableFuture<T> decide(Executor executor, Decision<T> decision) {
        return store.alone()
                ? decision.on(true)
                : Futures.start(() -> decision.on(false))
                        .exceptionallyCompose(error -> isByOthers(Failures.cause(error))
                                ? repeated(executor, decision)
                                : CompletableFuture.failedFuture(error));
    }

    /**
     * Roles reach the policy one task of the store's loop after the cache. The second question ends after that task; both are rare,
     * because the first decision has failed.
     */
    private <T> CompletableFuture<T> repeated(Executor executor, Decision<T> decision) {
        CompletableFuture<Long> current = store.current().thenCompose(cached -> store.current());
        return Futures.nowOrOn(executor, current).thenCompose(followed -> decision.on(true));
    }

    /** Whether other objects can be the reason of a refusal. The store itself has decided that an object exists already. */
    private static boolean isByOthers(Throwable error) {
        return error instanceof ApiException refused
                && (refused.code() == 403
                        || refused.code() == 404
                        || refused.code() == 409 && !refused.reason().equals("AlreadyExists"));
    }
}
