package io.nodekeeper.agent.pods;

import io.nodekeeper.time.BlockingCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** The test says when calls begin, and when their deadlines pass. */
public final class HeldCalls implements BlockingCalls {
    private final List<Runnable> work = new ArrayList<>();
    private final List<CompletableFuture<?>> results = new ArrayList<>();

    @Override
    public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        results.add(result);
        work.add(() -> {
            try {
                result.complete(call.call());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /** The calls that wait, in their order. */
    public List<Runnable> work() {
        return List.copyOf(work);
    }

    /** Runs all calls that wait. */
    public void runAll() {
        List<Runnable> all = List.copyOf(work);
        work.clear();
        all.forEach(Runnable::run);
    }

    /** The deadline of all calls passes. */
    public void giveUp() {
        List.copyOf(results).forEach(result -> result.completeExceptionally(new IllegalStateException("late")));
    }
}
