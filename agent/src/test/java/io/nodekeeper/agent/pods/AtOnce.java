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

    /** Calls whose names begin like that end, but after their deadlines; empty for none. */
    String slow = "";

    /** Calls whose names begin like that do not end before {@link #goOn}; empty for none. */
    String hanging = "";

    private final List<Runnable> held = new ArrayList<>();

    /** What was done, in order. */
    final List<String> done = new ArrayList<>();

    @Override
    public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
        if (throwing) {
            throw new IllegalStateException("no thread for " + what);
        }
        if (!late.isEmpty() && what.startsWith(late)) {
            return noAnswer(what, deadline);
        }
        if (!hanging.isEmpty() && what.startsWith(hanging)) {
            CompletableFuture<T> result = new CompletableFuture<>();
            held.add(() -> settle(what, work, result));
            return result;
        }
        CompletableFuture<T> result = new CompletableFuture<>();
        settle(what, work, result);
        return slow.isEmpty() || !what.startsWith(slow) ? result : noAnswer(what, deadline);
    }

    private static <T> CompletableFuture<T> noAnswer(String what, Duration deadline) {
        return CompletableFuture.failedFuture(new IllegalStateException(what + ": no answer within " + deadline));
    }

    /** Nothing hangs any more. */
    void goOn() {
        hanging = "";
        held.forEach(Runnable::run);
        held.clear();
    }

    private <T> void settle(String what, Callable<T> work, CompletableFuture<T> result) {
        done.add(what);
        try {
            result.complete(work.call());
        } catch (Exception e) {
            result.completeExceptionally(e);
        }
    }
}
