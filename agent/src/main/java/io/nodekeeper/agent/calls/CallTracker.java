package io.nodekeeper.agent.calls;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tracks all calls to the runtime, and which of them are in progress or overdue. Calls are identified by method and
 * subject. A call is overdue from the start of its first attempt that times out until an attempt is answered, with an
 * error or not, or until it has not been repeated for {@link #FORGET_AFTER}. Confined to the loop of its runtime.
 */
public final class CallTracker implements ContainerRuntime {
    /**
     * Overdue calls that are still of interest are repeated within two minutes, the longest pause of a quarantined
     * pod; the third minute covers the deadline of that attempt.
     */
    private static final Duration FORGET_AFTER = Duration.ofMinutes(3);

    private final ContainerRuntime runtime;
    private final Clock clock;
    private final OperationListener listener;
    private Optional<AnsweredCall> answered = Optional.empty();
    private final Map<Object, OpenCall> open = new LinkedHashMap<>();
    private final Map<RuntimeCall<?>, Late> timedOut = new LinkedHashMap<>();

    /**
     * The most refused calls to remember; the oldest is forgotten first. A node has some 500 containers, and an error
     * that concerns all of them shows in a few.
     */
    private static final int MOST_REFUSED = 256;

    /** The calls whose last attempt was refused, at most {@value #MOST_REFUSED}, and when. */
    private final Map<RuntimeCall<?>, Refused> refused = new LinkedHashMap<>();

    private record Refused(RefusedCall trouble, long at) {}

    /** A call whose last attempt timed out, and when. */
    private record Late(OverdueCall trouble, long at) {}

    /** Passes calls on to {@code runtime}. */
    public CallTracker(ContainerRuntime runtime, Clock clock, OperationListener listener) {
        this.runtime = runtime;
        this.clock = clock;
        this.listener = listener;
    }

    @Override
    public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
        Object entry = new Object();
        long start = clock.nanoTime();
        CompletableFuture<T> answer = runtime.call(call, deadline);
        // Only now: a call that throws is not in progress.
        open.put(entry, new OpenCall(call, start, deadline));
        answer.whenComplete((value, error) -> {
            open.remove(entry);
            listener.ended(call.method(), Duration.ofNanos(clock.nanoTime() - start), error != null);
            settle(call, start, error);
        });
        return answer;
    }

    @Override
    public CompletableFuture<Void> events(Consumer<ContainerEvent> consumer) {
        return runtime.events(consumer);
    }

    /** The calls in progress, oldest first. */
    public List<OpenCall> open() {
        return List.copyOf(open.values());
    }

    /** The calls that have been overdue or in progress for {@code patience} or longer, oldest first. */
    public List<OverdueCall> overdue(Duration patience) {
        long now = clock.nanoTime();
        forgetOld(now);
        Map<RuntimeCall<?>, OverdueCall> all = new LinkedHashMap<>();
        timedOut.forEach((call, late) -> all.put(call, late.trouble));
        for (OpenCall late : open.values()) {
            // A call that takes long by its nature is late only after that time.
            long due = late.startedAt() + late.call().expected().toNanos();
            if (!all.containsKey(late.call()) && now - due >= 0) {
                all.put(late.call(), new OverdueCall(late.call(), due, 0, late.startedAt(), now));
            }
        }
        List<OverdueCall> troubles = new ArrayList<>(all.values());
        troubles.removeIf(trouble -> now - trouble.since() < patience.toNanos());
        troubles.sort((a, b) -> Long.compare(a.since() - now, b.since() - now));
        return troubles;
    }

    /** How many calls that timed out it remembers. */
    int remembered() {
        return timedOut.size();
    }

    private void forgetOld(long now) {
        timedOut.values().removeIf(late -> now - late.at > FORGET_AFTER.toNanos());
    }

    /** The calls whose last attempt the runtime answered with an error, within {@link #FORGET_AFTER}. */
    public List<RefusedCall> refused() {
        long now = clock.nanoTime();
        refused.values().removeIf(error -> now - error.at > FORGET_AFTER.toNanos());
        return refused.values().stream().map(Refused::trouble).toList();
    }

    /** The newest answer, with an error or not; empty before the first one. */
    public Optional<AnsweredCall> newestAnswer() {
        return answered;
    }

    private void refused(RuntimeCall<?> call, long start, Throwable cause) {
        Refused before = refused.remove(call);
        refused.put(
                call,
                new Refused(
                        before == null
                                ? new RefusedCall(call, start, 1, Failures.text(cause))
                                : new RefusedCall(
                                        call, before.trouble.since(), before.trouble.tries() + 1, Failures.text(cause)),
                        clock.nanoTime()));
        if (refused.size() > MOST_REFUSED) {
            refused.remove(refused.keySet().iterator().next());
        }
    }

    private static boolean isUnreachable(Throwable cause) {
        return RuntimeCallException.isCode(cause, RuntimeCallException.Code.UNAVAILABLE);
    }

    private void settle(RuntimeCall<?> call, long start, @Nullable Throwable error) {
        Throwable cause = error == null ? null : Failures.cause(error);
        if (cause instanceof CancellationException
                || RuntimeCallException.isCode(cause, RuntimeCallException.Code.NOT_SENT)) {
            // The caller cancelled the call, or it was never sent: this says nothing about the runtime.
            return;
        }
        boolean late = cause != null
                && RuntimeCallException.isTimeout(cause)
                && !(call.limitsPodsTime() && cause instanceof RuntimeCallException);
        if (cause == null || !late && !isUnreachable(cause)) {
            answered = Optional.of(new AnsweredCall(call, start, clock.nanoTime()));
        }
        if (cause == null || late) {
            refused.remove(call);
        } else if (!isUnreachable(cause) && !call.dependsOnPod()) {
            refused(call, start, cause);
        }
        if (late) {
            long now = clock.nanoTime();
            // With RuntimeCulprits off, only this bounds the map: overdue() is not called.
            forgetOld(now);
            Late before = timedOut.get(call);
            OverdueCall trouble = before == null
                    ? new OverdueCall(call, start, 1, start, now)
                    : new OverdueCall(call, before.trouble.since(), before.trouble.tries() + 1, start, now);
            timedOut.put(call, new Late(trouble, now));
        } else {
            timedOut.remove(call);
        }
    }
}
