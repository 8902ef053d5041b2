package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Makes the same call for each container: a hung container is visible when others are answered. The call is the
 * cheapest one that reaches the shim. Confined to its loop.
 */
final class ContainerProbes {
    /** A busy runtime answers within 0.5 s; a call that takes ten times that hangs. */
    static final Duration DEADLINE = Duration.ofSeconds(5);
    /** The most calls at once, so that a node full of hung containers does not occupy its runtime with many calls. */
    private static final int PARALLEL = 16;

    private final ContainerRuntime runtime;
    private final Loop loop;
    private final Runnable onLate;
    private final Map<String, CallOutcome> answers = new LinkedHashMap<>();
    private final ArrayDeque<String> waiting = new ArrayDeque<>();
    private Set<String> stillLate = Set.of();
    private long validFrom;
    private int asking;
    /** When the newest round began, monotonic ns. */
    private long askedAt;

    /** {@code onLate} runs when a container's call is late for the first time. */
    ContainerProbes(ContainerRuntime runtime, Loop loop, Runnable onLate) {
        this.runtime = runtime;
        this.loop = loop;
        this.onLate = onLate;
        this.validFrom = loop.clock().nanoTime();
    }

    /** Probes these containers, unless an earlier round is still in progress; forgets all others. */
    void ask(List<String> containers) {
        if (asking > 0) {
            return;
        }
        answers.keySet().retainAll(containers);
        waiting.addAll(containers);
        askedAt = loop.clock().nanoTime();
        for (int i = 0; i < PARALLEL; i++) {
            next();
        }
    }

    /** Whether a call of this round is open although the round began {@code patience} ago. */
    boolean isLate(Duration patience) {
        return asking > 0 && loop.clock().nanoTime() - askedAt >= patience.toNanos();
    }

    /** Starts no further call in this round. */
    void stop() {
        waiting.clear();
    }

    /** Forgets late outcomes, except those of {@code still}: their cause is resolved, so only newer calls count. */
    void forgetLate(Set<String> still) {
        answers.entrySet()
                .removeIf(entry -> entry.getValue().kind() == CallOutcome.Kind.LATE && !still.contains(entry.getKey()));
        stillLate = still;
        validFrom = loop.clock().nanoTime();
    }

    /** The newest outcome for each container. */
    List<CallOutcome> answers() {
        return new ArrayList<>(answers.values());
    }

    private void next() {
        String container = waiting.poll();
        if (container == null) {
            return;
        }
        asking++;
        RuntimeCall<?> call = new RuntimeCall.GetContainerStats(container);
        long start = loop.clock().nanoTime();
        CompletableFuture<?> asked = runtime.call(call, DEADLINE);
        asked.whenComplete((usage, error) -> {
            asking--;
            Duration took = Duration.ofNanos(loop.clock().nanoTime() - start);
            CallOutcome answer =
                    error == null ? CallOutcome.of(call, start, took) : CallOutcome.failed(call, start, took, error);
            put(container, answer);
            next();
        });
    }

    private void put(String container, CallOutcome answer) {
        if (answer.kind() == CallOutcome.Kind.LATE
                && answer.askedAt() - validFrom < 0
                && !stillLate.contains(container)) {
            return;
        }
        CallOutcome before = answers.get(container);
        if (answer.kind() != CallOutcome.Kind.LATE) {
            answers.put(container, answer);
            return;
        }
        if (before != null && before.kind() == CallOutcome.Kind.LATE) {
            // It has waited since the first attempt.
            long waited = answer.askedAt() - before.askedAt() + answer.took().toNanos();
            answers.put(
                    container,
                    new CallOutcome(
                            answer.call(), before.askedAt(), Duration.ofNanos(waited), answer.kind(), answer.error()));
        } else {
            answers.put(container, answer);
            onLate.run();
        }
    }
}
