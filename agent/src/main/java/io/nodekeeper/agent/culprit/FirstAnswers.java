package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.HangThresholds;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
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

    /**
     * How long a suspicion prevents that the runtime is called well, once everything was answered: the longest patience
     * (30 s for an ended process that its shim does not reap), and three scans.
     */
    private static final Duration SUSPICION = Duration.ofSeconds(45);

    private static final RuntimeCall<?> CONTAINERS = new RuntimeCall.ListContainers(Optional.empty());
    /** The bound within which a culprit is reported. */
    private static final Duration BLIND = Duration.ofSeconds(20);

    private final ContainerRuntime runtime;
    private final Loop loop;
    private final long startedAt;
    private final Map<RuntimeCall<?>, Boolean> answered = new LinkedHashMap<>();
    private final Set<RuntimeCall<?>> open = new HashSet<>();
    private final Set<String> containers = new HashSet<>();
    private Optional<Long> completeAt = Optional.empty();
    private Optional<Long> firstScan = Optional.empty();
    private boolean compared;
    private boolean suspected;
    private boolean well;
    private boolean version;
    private boolean statistics;

    FirstAnswers(ContainerRuntime runtime, Loop loop) {
        this.runtime = runtime;
        this.loop = loop;
        this.startedAt = loop.clock().nanoTime();
        answered.put(new RuntimeCall.GetStatus(), false);
        answered.put(new RuntimeCall.ListSandboxes(Optional.empty()), false);
        answered.put(CONTAINERS, false);
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
                            if (item instanceof Container container) {
                                containers.add(container.id());
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
        long now = loop.clock().nanoTime();
        firstScan = firstScan.or(() -> Optional.of(now));
        compared |= now - firstScan.get() >= HangThresholds.AGENT.stopped().toNanos();
    }

    /** Whether the processes were seen once, without which no culprit can be named; from {@link #BLIND} on without. */
    boolean isSeen() {
        return firstScan.isPresent() || loop.clock().nanoTime() - startedAt >= BLIND.toNanos();
    }

    /**
     * Whether two scans far enough apart showed the processes, so that a call which nothing explains can be called
     * unexplained; from {@link #BLIND} after the start without scans.
     */
    boolean compared() {
        return compared || loop.clock().nanoTime() - startedAt >= BLIND.toNanos();
    }

    /**
     * Statistics of the containers {@code answeredOnes} are known, of all that {@code running} names. While none of the
     * containers that the runtime listed is among {@code known}, these are not known yet.
     */
    void statistics(Set<String> answeredOnes, List<String> running, Set<String> known) {
        boolean current = containers.isEmpty() || containers.stream().anyMatch(known::contains);
        statistics |= listed() && current && answeredOnes.containsAll(running);
        if (listed() && !current) {
            // All of them may have ended before they were known.
            containers.clear();
            answered.put(CONTAINERS, false);
        }
    }

    /** A diagnosis was made; {@code suspicious} is whether its facts may become a culprit at a later one. */
    void diagnosed(boolean suspicious) {
        suspected = suspicious;
        if (completeAt.isEmpty() && unanswered().isEmpty()) {
            completeAt = Optional.of(loop.clock().nanoTime());
        }
        well |= missing().isEmpty();
    }

    /** Whether the lists of sandboxes and containers were answered. */
    private boolean listed() {
        return answered.entrySet().stream()
                .allMatch(entry -> entry.getValue() || entry.getKey() instanceof RuntimeCall.GetStatus);
    }

    /** What is still missing; empty if everything was known once and nothing that may be a fault is examined. */
    Optional<String> missing() {
        long now = loop.clock().nanoTime();
        boolean patient =
                completeAt.filter(at -> now - at >= SUSPICION.toNanos()).isEmpty();
        return unanswered()
                .or(() -> suspected && !well && patient
                        ? Optional.of("something that may be a fault is being examined")
                        : Optional.empty());
    }

    private Optional<String> unanswered() {
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
        String scan = firstScan.isPresent() ? "" : "the processes could not be scanned";
        String text = calls.isEmpty() ? "" : "there is no answer yet to " + String.join(", ", calls);
        return text.isEmpty() && scan.isEmpty()
                ? Optional.empty()
                : Optional.of(text + (text.isEmpty() || scan.isEmpty() ? "" : ", and ") + scan);
    }

    private static boolean isUnimplemented(Throwable error) {
        return RuntimeCallException.isCode(Failures.cause(error), RuntimeCallException.Code.UNIMPLEMENTED);
    }
}
