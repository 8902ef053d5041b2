package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.client.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the runtime the same thing again and again, one question at a time, and keeps the newest answer. While it gets none
 * it asks more often at first: 100 ms, doubling to 5 s, as Kubernetes' sync loop waits. Confined to its loop.
 */
final class PolledCall<T> {
    private static final Logger log = LoggerFactory.getLogger(PolledCall.class);
    /** Kubernetes' waits while its runtime is in error. */
    static final Backoff RETRY = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));

    private final String what;
    private final ContainerRuntime runtime;
    private final RuntimeCall<T> call;
    private final Duration deadline;
    private final Duration period;
    private final Loop loop;
    private final Consumer<T> answered;
    private final Runnable ended;
    private final CompletableFuture<Void> tried = new CompletableFuture<>();
    private final CompletableFuture<Void> known = new CompletableFuture<>();
    private Fact<T> fact = Fact.unknown();
    private Loop.@Nullable Timer timer;
    private int failures;
    private boolean asking;
    private boolean stopped;

    /**
     * A question that was not asked yet.
     *
     * @param what what it asks for, as it is logged
     * @param period from one answer to the next question
     * @param answered gets each answer; what it throws makes the answer a failure
     * @param ended runs when a try has ended, however it did
     */
    PolledCall(
            String what,
            ContainerRuntime runtime,
            RuntimeCall<T> call,
            Duration deadline,
            Duration period,
            Loop loop,
            Consumer<T> answered,
            Runnable ended) {
        this.what = what;
        this.runtime = runtime;
        this.call = call;
        this.deadline = deadline;
        this.period = period;
        this.loop = loop;
        this.answered = answered;
        this.ended = ended;
    }

    /** Asks now, unless a question is under way. */
    void ask() {
        if (asking || stopped) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        asking = true;
        runtime.call(call, deadline).thenAccept(this::take).whenComplete((done, error) -> {
            asking = false;
            settle(error);
        });
    }

    /** Asks no more. */
    void stop() {
        stopped = true;
        if (timer != null) {
            timer.cancel();
        }
    }

    /** What it asks for. */
    String what() {
        return what;
    }

    /** The newest answer. */
    Fact<T> fact() {
        return fact;
    }

    /** Completes once it was answered or the first try has failed. */
    CompletableFuture<Void> tried() {
        return tried;
    }

    /** Completes once it was answered. */
    CompletableFuture<Void> known() {
        return known;
    }

    private void take(T answer) {
        answered.accept(answer);
        fact = Fact.of(answer, loop.clock().nanoTime());
    }

    private void settle(@Nullable Throwable error) {
        if (error == null) {
            if (failures > 0) {
                log.info("{}: the runtime answers again, after {} failed tries", what, failures);
            }
            failures = 0;
            known.complete(null);
        } else {
            String text = Failures.text(error);
            if (!text.equals(fact.error())) {
                log.warn("{}: {}", what, text);
            }
            fact = fact.failed(text);
            failures++;
        }
        tried.complete(null);
        ended.run();
        if (!stopped) {
            timer = loop.schedule(failures == 0 ? period : RETRY.delay(failures - 1), this::ask);
        }
    }
}
