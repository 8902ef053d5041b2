package io.nodekeeper.controller;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Who waits for a proof that all was seen up to some moment. Confined to the loop. */
final class Proofs {
    private record Waiting(long nodeTime, CompletableFuture<Boolean> proven) {}

    private final ObserverGuard guard;
    private List<Waiting> waiting = new ArrayList<>();

    Proofs(ObserverGuard guard) {
        this.guard = guard;
    }

    /** Completes with true when {@code nodeTime} is proven, with false if sight is lost first. */
    CompletionStage<Boolean> of(long nodeTime, long now) {
        if (guard.proves(nodeTime)) {
            return CompletableFuture.completedStage(true);
        }
        if (guard.isBlind(now)) {
            return CompletableFuture.completedStage(false);
        }
        Waiting one = new Waiting(nodeTime, new CompletableFuture<>());
        waiting.add(one);
        return one.proven;
    }

    /** More is proven than before. */
    void proven() {
        List<Waiting> all = waiting;
        waiting = new ArrayList<>();
        for (Waiting one : all) {
            if (guard.proves(one.nodeTime)) {
                one.proven.complete(true);
            } else {
                waiting.add(one);
            }
        }
    }

    /** Nothing will be proven for a while. */
    void blind() {
        List<Waiting> all = waiting;
        waiting = new ArrayList<>();
        all.forEach(one -> one.proven.complete(false));
    }
}
