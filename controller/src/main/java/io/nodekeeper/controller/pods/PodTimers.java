package io.nodekeeper.controller.pods;

import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The deadlines of all pods in one timer wheel, with one loop timer. Confined to the loop. */
final class PodTimers {
    private final Loop loop;
    private final long origin;
    private final Consumer<TrackedPod> expired;
    private final DeadlineWheel<TrackedPod> wheel = new DeadlineWheel<>();
    private Loop.@Nullable Timer wakeTimer;
    private long wakeAt = DeadlineWheel.NEVER;
    private boolean stopped;

    /** {@code expired} receives each pod whose deadline has passed. */
    PodTimers(Loop loop, Consumer<TrackedPod> expired) {
        this.loop = loop;
        this.origin = loop.clock().nanoTime();
        this.expired = expired;
    }

    /** The monotonic time since this was created, in nanoseconds. */
    long now() {
        return loop.clock().nanoTime() - origin;
    }

    /** Sets or moves the deadline of {@code pod}. */
    void set(TrackedPod pod, long at) {
        if (pod.timer == null) {
            pod.timer = new DeadlineWheel.Deadline<>(pod);
        }
        wheel.set(pod.timer, at);
        sleep();
    }

    /** The deadline of {@code pod}, if it has one. */
    Optional<Long> of(TrackedPod pod) {
        return pod.timer == null || pod.timer.at() == DeadlineWheel.NEVER
                ? Optional.empty()
                : Optional.of(pod.timer.at());
    }

    /** Removes the deadline of {@code pod}; true if it had one. */
    boolean unset(TrackedPod pod) {
        boolean pending = of(pod).isPresent();
        if (pod.timer != null) {
            wheel.cancel(pod.timer);
            pod.timer = null;
        }
        return pending;
    }

    /** Stops all deadlines. */
    void stop() {
        stopped = true;
        if (wakeTimer != null) {
            wakeTimer.cancel();
        }
    }

    private void wake() {
        wakeAt = DeadlineWheel.NEVER;
        wheel.poll(now(), expired);
        sleep();
    }

    private void sleep() {
        long next = wheel.nextWake();
        if (stopped || next >= wakeAt) {
            return;
        }
        if (wakeTimer != null) {
            wakeTimer.cancel();
        }
        wakeAt = next;
        wakeTimer = loop.schedule(Duration.ofNanos(next - now()), this::wake);
    }
}
