package io.nodekeeper.agent.pods;

import io.nodekeeper.time.BlockingCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Work on files happens at once. */
public final class AtOnce implements BlockingCalls {
    /** Whether calls throw an exception, as none should. */
    boolean throwing;

    /** Calls whose names begin like that are given up at their deadlines; empty for none. */
    String late = "";

    /** Calls whose names begin like that never end; empty for none. */
    String hanging = "";

    /** What was done, in order. */
    final List<String> done = new ArrayList<>();

    @Override
    public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
        if (throwing) {
            throw new IllegalStateException("no thread for " + what);
        }
        if (!late.isEmpty() && what.startsWith(late)) {
            return CompletableFuture.failedFuture(new IllegalStateException(what + ": no answer within " + deadline));
        }
        if (!hanging.isEmpty() && what.startsWith(hanging)) {
            return new CompletableFuture<>();
        }
        done.add(what);
        try {
            return CompletableFuture.completedFuture(work.call());
        } catch (Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
