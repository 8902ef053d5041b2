package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.api.Failures;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * Runs a bounded number of actions at the same time; others wait in order, and their time begins only when they start. One
 * probe of a container waits at most, so the queue is bounded by the number of probes. Confined to its loop.
 */
final class BoundedProber implements Prober {
    /** As many as Kubernetes' default of pods on a node: one probe of each pod may hang, and the others still run. */
    static final int MOST = 128;

    private final Prober prober;
    private final int most;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int running;

    BoundedProber(Prober prober, int most) {
        this.prober = prober;
        this.most = most;
    }

    @Override
    public CompletableFuture<ProbeResult> run(Target target, Action action, Duration timeout) {
        CompletableFuture<ProbeResult> result = new CompletableFuture<>();
        waiting.add(() -> begin(target, action, timeout, result));
        next();
        return result;
    }

    private void begin(Target target, Action action, Duration timeout, CompletableFuture<ProbeResult> result) {
        if (result.isDone()) {
            running--;
            return;
        }
        CompletableFuture<ProbeResult> started = start(target, action, timeout);
        result.whenComplete((value, error) -> started.cancel(true));
        started.whenComplete((value, error) -> {
            running--;
            if (error == null) {
                result.complete(value);
            } else {
                result.cancel(true);
            }
            next();
        });
    }

    /** An action that cannot even begin has a result, too: else it would keep its place, and its probe would not be repeated. */
    private CompletableFuture<ProbeResult> start(Target target, Action action, Duration timeout) {
        try {
            return prober.run(target, action, timeout);
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(ProbeResult.error(Failures.text(e)));
        }
    }

    private void next() {
        while (running < most && !waiting.isEmpty()) {
            running++;
            waiting.remove().run();
        }
    }
}
