package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.HangThresholds;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Asks the runtime for its version, which it answers from memory: so the answers show whether it answers at all, and since
 * when at once. While something is late, it asks every second. Confined to its loop.
 */
final class VersionProbe {
    /** Below the period of scans, so that calls do not accumulate. */
    private static final Duration DEADLINE = Duration.ofMillis(4_500);
    /** A runtime that answers later than this is slow; an idle one needs a few milliseconds. */
    private static final Duration SLOW = Duration.ofSeconds(1);
    /** The pause between calls while something is late. */
    private static final Duration CLOSELY = Duration.ofSeconds(1);
    /** Between two prompt answers at most this far apart, the runtime counts as prompt: less than a call's patience. */
    private static final Duration GAP = Duration.ofSeconds(3);
    /** A version that is not answered for so long makes scans more frequent. */
    private static final Duration UNUSUAL = Duration.ofSeconds(2);

    private final ContainerRuntime runtime;
    private final Loop loop;
    private final Runnable onLate;
    private Optional<CallOutcome> newest = Optional.empty();
    private boolean answered;
    private boolean asking;
    private boolean closely;
    private Loop.@Nullable Timer next;
    /** The newest time in which each version was answered at once, monotonic ns; empty while the runtime is slow. */
    private Optional<Prompt> prompt = Optional.empty();

    private record Prompt(long from, long to) {}

    /** {@code onLate} runs when an answer is not there after 2 s. */
    VersionProbe(ContainerRuntime runtime, Loop loop, Runnable onLate) {
        this.runtime = runtime;
        this.loop = loop;
        this.onLate = onLate;
    }

    /** Asks, unless the last call is still open. */
    void ask() {
        if (asking) {
            return;
        }
        asking = true;
        if (next != null) {
            next.cancel();
        }
        RuntimeCall.GetVersion call = new RuntimeCall.GetVersion();
        long start = loop.clock().nanoTime();
        Loop.Timer late = loop.schedule(UNUSUAL, onLate);
        runtime.call(call, DEADLINE).whenComplete((value, error) -> {
            asking = false;
            late.cancel();
            Duration took = Duration.ofNanos(loop.clock().nanoTime() - start);
            take(error == null ? CallOutcome.of(call, start, took) : CallOutcome.failed(call, start, took, error));
            if (closely) {
                next = loop.schedule(CLOSELY, this::ask);
            }
        });
    }

    /** Whether to ask every second from now on. */
    void closely(boolean wanted) {
        if (wanted && !closely) {
            ask();
        }
        if (!wanted && next != null) {
            next.cancel();
        }
        closely = wanted;
    }

    /** The newest outcome; repeated failures of the same kind count from the first one. */
    Optional<CallOutcome> newest() {
        return newest;
    }

    /** Whether it was ever answered. */
    boolean wasAnswered() {
        return answered;
    }

    /** Whether the runtime answers no call at all, so that probing containers is pointless. */
    boolean isDown() {
        return newest.filter(outcome -> !outcome.answered()).isPresent();
    }

    /**
     * Whether a call that was open from {@code from} to {@code to}, monotonic ns, waited for the patience of a call, or for
     * all of its own deadline if that is shorter, while the runtime answered its version at once. Else it may have
     * waited with all others.
     */
    boolean proves(long from, long to, boolean ended) {
        long patience = HangThresholds.AGENT.call().toNanos();
        long enough = ended ? Math.min(patience, to - from) : patience;
        return prompt.filter(known -> Math.min(to, known.to) - Math.max(from, known.from) >= enough)
                .isPresent();
    }

    private void take(CallOutcome outcome) {
        boolean fine = outcome.kind() == CallOutcome.Kind.ANSWERED;
        answered |= fine;
        if (!fine || outcome.took().compareTo(SLOW) >= 0) {
            prompt = Optional.empty();
        } else {
            long end = outcome.askedAt() + outcome.took().toNanos();
            prompt = prompt.filter(known -> outcome.askedAt() - known.to <= GAP.toNanos())
                    .map(known -> new Prompt(known.from, end))
                    .or(() -> Optional.of(new Prompt(outcome.askedAt(), end)));
        }
        newest = newest.filter(before -> before.kind() == outcome.kind() && !fine)
                .map(before -> new CallOutcome(
                        outcome.call(),
                        before.askedAt(),
                        Duration.ofNanos(loop.clock().nanoTime() - before.askedAt()),
                        outcome.kind(),
                        outcome.error()))
                .or(() -> Optional.of(outcome));
    }
}
