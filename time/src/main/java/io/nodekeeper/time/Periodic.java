package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats an asynchronous action: the first run starts immediately, each further run a jittered period after the end of the
 * previous one. Runs never overlap and missed ones are not made up for; a failed run is logged and does not affect the next
 * (Kubernetes' {@code JitterUntil} with sliding on). Confined to its loop, but {@link #stop} may be called from any thread.
 */
public final class Periodic {
    private static final Logger log = LoggerFactory.getLogger(Periodic.class);

    private final String name;
    private final Loop loop;
    private final Duration period;
    private final double jitter;
    private final RandomGenerator random;
    private final Supplier<? extends CompletionStage<?>> action;
    private Loop.@Nullable Timer timer;
    private boolean stopped;

    private Periodic(
            String name,
            Loop loop,
            Duration period,
            double jitter,
            RandomGenerator random,
            Supplier<? extends CompletionStage<?>> action) {
        this.name = name;
        this.loop = loop;
        this.period = period;
        this.jitter = jitter;
        this.random = random;
        this.action = action;
    }

    /**
     * Starts repeating {@code action} on {@code loop}.
     *
     * @param jitter a wait is period × (1 + u × jitter), u uniform in [0, 1); 0 for none
     */
    public static Periodic start(
            String name,
            Loop loop,
            Duration period,
            double jitter,
            RandomGenerator random,
            Supplier<? extends CompletionStage<?>> action) {
        Periodic periodic = new Periodic(name, loop, period, jitter, random, action);
        loop.execute(periodic::run);
        return periodic;
    }

    /** Starts no further run; one in progress continues to its end. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            if (timer != null) {
                timer.cancel();
            }
        });
    }

    private void run() {
        if (stopped) {
            return;
        }
        CompletionStage<?> stage;
        try {
            stage = action.get();
        } catch (RuntimeException | OutOfMemoryError e) {
            // Also if no thread can be started: what is periodic goes on.
            stage = CompletableFuture.failedFuture(e);
        }
        stage.whenCompleteAsync(
                (value, error) -> {
                    if (error != null) {
                        log.error("{} failed", name, error);
                    }
                    if (!stopped) {
                        timer = loop.schedule(Jitter.stretch(period, jitter, random), this::run);
                    }
                },
                loop);
    }
}
