package io.nodekeeper.agent.runtime;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Subscribes to the runtime's event stream and subscribes again when it ends. Events are hints: they trigger an
 * earlier inspection of a pod, and correctness never depends on them. Confined to its loop.
 */
final class EventHints {
    private static final Logger log = LoggerFactory.getLogger(EventHints.class);
    /** A restarting runtime is back within about a second; 30 s limits the load of retries while it stays away. */
    private static final Backoff AGAIN = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    /** Receives what happens, on the loop. */
    interface Listener {
        /** A subscription was sent. */
        void opened();

        /** An event. */
        void heard(ContainerEvent event);

        /** The subscription has ended. */
        void ended();
    }

    private final ContainerRuntime runtime;
    private final Loop loop;
    private final Listener listener;
    private CompletableFuture<Void> stream = CompletableFuture.completedFuture(null);
    private Loop.@Nullable Timer timer;
    private int failures;
    private boolean stopped;

    EventHints(ContainerRuntime runtime, Loop loop, Listener listener) {
        this.runtime = runtime;
        this.loop = loop;
        this.listener = listener;
    }

    void start() {
        if (stopped) {
            return;
        }
        listener.opened();
        stream = runtime.events(this::heard);
        stream.whenComplete((end, error) -> loop.execute(() -> ended(error)));
    }

    void stop() {
        stopped = true;
        stream.cancel(true);
        if (timer != null) {
            timer.cancel();
        }
    }

    private void heard(ContainerEvent event) {
        failures = 0;
        listener.heard(event);
    }

    private void ended(@Nullable Throwable error) {
        if (stopped) {
            return;
        }
        listener.ended();
        if (error != null
                && RuntimeCallException.isCode(Failures.cause(error), RuntimeCallException.Code.UNIMPLEMENTED)) {
            log.info("The runtime does not support events; pods are still listed every second");
            return;
        }
        log.debug("The runtime's event stream ended: {}", error == null ? "end of stream" : Failures.text(error));
        timer = loop.schedule(AGAIN.delay(failures++), this::start);
    }
}
