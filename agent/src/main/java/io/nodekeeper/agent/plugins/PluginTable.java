package io.nodekeeper.agent.plugins;

import io.nodekeeper.time.Backoff;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which sockets there are, which plugins are registered, and what is to be done about the difference. Pure. Confined to one
 * thread.
 */
final class PluginTable {
    /** The kubelet's pauses after failures of one socket. */
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(500), Duration.ofSeconds(122));

    /** By path; bounded by {@link PluginDirectory#MOST}, as all that follow. */
    private Map<Path, String> desired = Map.of();

    private final Map<Path, Registered> actual = new HashMap<>();
    private final Map<Path, Failing> failing = new HashMap<>();
    private final Set<Path> busy = new HashSet<>();

    /** Something to do about one socket. */
    sealed interface Step {
        Path socket();

        /** Registers what listens there. */
        record Register(Path socket, String generation) implements Step {}

        /** Forgets what listened there. */
        record Deregister(Path socket, Plugin plugin) implements Step {}
    }

    private record Registered(String generation, Plugin plugin) {}

    /** @param retryAt monotonic ns */
    private record Failing(String generation, int failures, long retryAt) {}

    /** These are the sockets now, with their generations. */
    void desire(Map<Path, String> sockets) {
        desired = Map.copyOf(sockets);
        failing.keySet().retainAll(desired.keySet());
    }

    /** What is due; each of these counts as begun until {@link #registered}, {@link #deregistered} or {@link #failed}. */
    List<Step> due(long now) {
        List<Step> steps = new ArrayList<>();
        actual.forEach((socket, known) -> {
            if (!busy.contains(socket) && !known.generation().equals(desired.get(socket))) {
                steps.add(new Step.Deregister(socket, known.plugin()));
            }
        });
        desired.forEach((socket, generation) -> {
            boolean free = !busy.contains(socket) && !actual.containsKey(socket);
            if (free && !isPaused(socket, generation, now)) {
                steps.add(new Step.Register(socket, generation));
            }
        });
        steps.forEach(step -> busy.add(step.socket()));
        return steps;
    }

    /** A socket that was made again does not wait for what an earlier one has failed at. */
    private boolean isPaused(Path socket, String generation, long now) {
        Failing last = failing.get(socket);
        return last != null && last.generation().equals(generation) && last.retryAt() - now > 0;
    }

    void registered(Step.Register step, Plugin plugin) {
        busy.remove(step.socket());
        failing.remove(step.socket());
        actual.put(step.socket(), new Registered(step.generation(), plugin));
    }

    void deregistered(Step.Deregister step) {
        busy.remove(step.socket());
        actual.remove(step.socket());
    }

    /** The pause until the next attempt. */
    Duration failed(Step.Register step, long now) {
        busy.remove(step.socket());
        Failing last = failing.get(step.socket());
        int failures = last == null || !last.generation().equals(step.generation()) ? 0 : last.failures();
        Duration pause = BACKOFF.delay(failures);
        failing.put(step.socket(), new Failing(step.generation(), failures + 1, now + pause.toNanos()));
        return pause;
    }
}
