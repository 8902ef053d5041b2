package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.HangThresholds;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What has to be known before a runtime can be called well: after a start, each kind of question must be answered once,
 * and the time must pass after which a call or process counts as hung. Asks the questions that no other part of the
 * watch asks. Confined to its loop.
 */
final class FirstAnswers {
    /** A runtime answers these calls from memory in milliseconds; below the period of scans. */
    private static final Duration DEADLINE = Duration.ofMillis(4_500);
    /** The time after which calls and processes of every kind count as hung. */
    private static final Duration PATIENCE = HangThresholds.AGENT.slowCall();

    private final ContainerRuntime runtime;
    private final Loop loop;
    private final long startedAt;
    private final Map<RuntimeCall<?>, Boolean> answered = new LinkedHashMap<>();
    private final Set<RuntimeCall<?>> open = new HashSet<>();
    private final Set<String> sandboxes = new HashSet<>();
    private boolean current;
    private boolean version;
    private boolean scanned;
    private boolean statistics;

    FirstAnswers(ContainerRuntime runtime, Loop loop) {
        this.runtime = runtime;
        this.loop = loop;
        this.startedAt = loop.clock().nanoTime();
        answered.put(new RuntimeCall.GetStatus(), false);
        answered.put(new RuntimeCall.ListSandboxes(Optional.empty()), false);
        answered.put(new RuntimeCall.ListContainers(Optional.empty()), false);
    }

    /** Asks what has not been answered, unless the question is still open. */
    void ask() {
        answered.forEach((call, known) -> {
            if (!known && open.add(call)) {
                runtime.call(call, DEADLINE).whenComplete((value, error) -> {
                    open.remove(call);
                    if (error == null || isUnimplemented(error)) {
                        answered.put(call, true);
                    }
                    if (value instanceof List<?> list) {
                        list.forEach(item -> {
                            if (item instanceof PodSandbox sandbox) {
                                sandboxes.add(sandbox.id());
                            }
                        });
                    }
                });
            }
        });
    }

    /** The runtime answered its version. */
    void version() {
        version = true;
    }

    /** The processes were scanned. */
    void scanned() {
        scanned = true;
    }

    /** Statistics of these containers are known, of all containers that {@code running} names. */
    void statistics(Set<String> known, List<String> running) {
        statistics |= listed() && known.containsAll(running);
    }

    /**
     * Whether the sandboxes in {@code known} are those that the runtime lists: all were listed since the start, and
     * {@code known} had those of the first list at least once.
     */
    boolean listed(Set<String> known) {
        current |= listed() && known.containsAll(sandboxes);
        return current && missing().isEmpty();
    }

    /** Whether the lists of sandboxes and containers were answered. */
    private boolean listed() {
        return answered.entrySet().stream()
                .allMatch(entry -> entry.getValue() || entry.getKey() instanceof RuntimeCall.GetStatus);
    }

    /** What is still missing; empty if everything was known once. */
    Optional<String> missing() {
        if (loop.clock().nanoTime() - startedAt < PATIENCE.toNanos()) {
            return Optional.of("the first examination takes " + PATIENCE.toSeconds() + " s");
        }
        List<String> calls = new ArrayList<>();
        if (!version) {
            calls.add("Version");
        }
        answered.forEach((call, known) -> {
            if (!known) {
                calls.add(call.method());
            }
        });
        if (!statistics) {
            calls.add("ContainerStats");
        }
        String scan = scanned ? "" : "the processes could not be scanned";
        String text = calls.isEmpty() ? "" : "there is no answer yet to " + String.join(", ", calls);
        return text.isEmpty() && scan.isEmpty()
                ? Optional.empty()
                : Optional.of(text + (text.isEmpty() || scan.isEmpty() ? "" : ", and ") + scan);
    }

    private static boolean isUnimplemented(Throwable error) {
        return Failures.cause(error) instanceof RuntimeCallException refused
                && refused.code() == RuntimeCallException.Code.UNIMPLEMENTED;
    }
}
