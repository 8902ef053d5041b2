package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.api.Failures;
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
 * Repeats one call to the runtime, one at a time, and keeps the newest answer. Failures shorten the period: it
 * retries after 100 ms, doubling to 5 s, as Kubernetes' sync loop does. Confined to its loop.
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
     * A poll that is not started yet.
     *
     * @param what the subject, for log lines
     * @param period from an answer to the next call
     * @param answered receives each answer; an exception that it throws counts as a failed call
     * @param ended runs after each call, successful or not
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

    /** Calls now, unless a call is in progress. */
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

    /** Stops polling. */
    void stop() {
        stopped = true;
        if (timer != null) {
            timer.cancel();
        }
    }

    /** The subject, for log lines. */
    String what() {
        return what;
    }

    /** The newest answer. */
    Fact<T> fact() {
        return fact;
    }

    /** Completes after the first call, successful or not. */
    CompletableFuture<Void> tried() {
        return tried;
    }

    /** Completes after the first successful call. */
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
                log.info("{}: the runtime answers again after {} failed calls", what, failures);
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
