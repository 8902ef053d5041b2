package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.signals.Timed;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerUsage;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Asks the runtime what each container wrote into its layer: one call for each container, so that a container that hangs
 * keeps only its own value from being read. Confined to the loop of its runtime.
 */
final class WritableLayers {
    /** The most calls at the same time: the runtime serves a node's pods at the same time. */
    static final int PARALLEL = 4;
    /** A working shim answers in milliseconds. */
    static final Duration DEADLINE = Duration.ofSeconds(2);

    private final ContainerRuntime runtime;
    private final Clock clock;
    /** By id of a container; only those of the last round. */
    private Map<String, Timed<DiskUse>> known = Map.of();

    WritableLayers(ContainerRuntime runtime, Clock clock) {
        this.runtime = runtime;
        this.clock = clock;
    }

    /**
     * Asks for all running containers of {@code pods}; one round at a time. After {@value #PARALLEL} calls have failed, or
     * one before any was answered, it asks for no more. The result has the last value of the containers that did not
     * answer, and of those that have ended, about which a runtime says nothing; it fails if none answered.
     */
    CompletableFuture<Map<String, Timed<DiskUse>>> read(List<RunningPod> pods) {
        Round round = new Round(pods);
        for (int i = 0; i < PARALLEL; i++) {
            round.next();
        }
        return round.result;
    }

    private final class Round {
        private final Deque<String> left = new ArrayDeque<>();
        private final Map<String, Timed<DiskUse>> values = new LinkedHashMap<>();
        private final CompletableFuture<Map<String, Timed<DiskUse>>> result = new CompletableFuture<>();
        private int open;
        private int answered;
        private int failed;
        private String lastError = "";

        private Round(List<RunningPod> pods) {
            for (RunningPod pod : pods) {
                pod.containers().forEach(container -> {
                    left.add(container.id());
                    keep(container.id());
                });
                pod.ended().forEach(container -> keep(container.id()));
            }
        }

        private void keep(String id) {
            Timed<DiskUse> before = known.get(id);
            if (before != null) {
                values.put(id, before);
            }
        }

        private void next() {
            boolean goesOn = failed == 0 || answered > 0 && failed < PARALLEL;
            String id = goesOn ? left.poll() : null;
            if (id == null) {
                if (open == 0) {
                    end();
                }
                return;
            }
            open++;
            runtime.call(new RuntimeCall.GetContainerStats(id), DEADLINE).whenComplete((usage, error) -> {
                open--;
                if (error == null) {
                    answered++;
                    values.put(id, new Timed<>(layer(usage), clock.wallTime(), clock.nanoTime()));
                } else {
                    failed++;
                    lastError = Failures.text(error);
                }
                next();
            });
        }

        private void end() {
            if (failed > 0 && answered == 0) {
                result.completeExceptionally(
                        new IllegalStateException("the container runtime reports on no container: " + lastError));
            } else {
                known = Map.copyOf(values);
                result.complete(known);
            }
        }
    }

    private static DiskUse layer(ContainerUsage usage) {
        return new DiskUse(usage.layerBytes(), usage.layerInodes());
    }
}
