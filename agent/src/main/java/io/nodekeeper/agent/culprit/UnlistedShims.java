package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.DiagnosisInput;
import io.nodekeeper.agent.culprit.diagnosis.ObservedProcess;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Compares the shims that a scan shows with the sandboxes that the runtime lists. The two are of different moments, and
 * after a start the list may not be known; so a shim counts as unlisted only if lists that were requested after a scan had
 * shown it lack its sandbox, at least two of them and {@link #APART} apart. Makes no call while every shim is listed.
 * Confined to its loop.
 */
final class UnlistedShims {
    /** From one list to the next: longer than a healthy runtime needs to change its list after a sandbox changed. */
    static final Duration APART = Duration.ofSeconds(4);
    /** A runtime answers from memory in milliseconds; below the period of scans. */
    private static final Duration DEADLINE = Duration.ofMillis(4_500);

    private final ContainerRuntime runtime;
    private final Loop loop;
    /** The first list that lacked each sandbox; as many entries as there are shims. */
    private Map<String, Long> missing = new HashMap<>();

    private Optional<Long> empty = Optional.empty();
    private Optional<Long> newest = Optional.empty();
    private boolean asking;
    private boolean suspected;

    UnlistedShims(ContainerRuntime runtime, Loop loop) {
        this.runtime = runtime;
        this.loop = loop;
    }

    /** Takes a scan, and the sandboxes that are known from memory; asks the runtime if a shim's sandbox is not known. */
    void look(List<ObservedProcess> processes, Set<String> known) {
        Set<String> unknown = processes.stream()
                .filter(ObservedProcess::isPodShim)
                .flatMap(process -> process.info().ids().stream())
                .filter(id -> !known.contains(id))
                .collect(Collectors.toSet());
        missing.keySet().retainAll(unknown);
        suspected = !unknown.isEmpty();
        long now = loop.clock().nanoTime();
        if (!suspected) {
            empty = Optional.empty();
            newest = Optional.empty();
        } else if (!asking && newest.filter(at -> now - at < APART.toNanos()).isEmpty()) {
            ask(unknown, now);
        }
    }

    /** Whether shims are suspected whose sandboxes were not in the lists long enough, or in no answered list yet. */
    boolean suspects() {
        return suspected;
    }

    /** Which sandboxes of shims two lists or more lacked. */
    DiagnosisInput.Unlisted confirmed() {
        Map<String, Duration> lasted = new HashMap<>();
        missing.forEach((id, since) -> lasting(since).ifPresent(time -> lasted.put(id, time)));
        return new DiagnosisInput.Unlisted(lasted, empty.flatMap(this::lasting));
    }

    private Optional<Duration> lasting(long since) {
        return newest.map(at -> Duration.ofNanos(at - since)).filter(time -> time.compareTo(APART) >= 0);
    }

    private void ask(Set<String> unknown, long now) {
        asking = true;
        runtime.call(new RuntimeCall.ListSandboxes(Optional.empty()), DEADLINE).whenComplete((list, error) -> {
            asking = false;
            if (error == null && suspected) {
                take(list.stream().map(PodSandbox::id).collect(Collectors.toSet()), unknown, now);
            }
        });
    }

    private void take(Set<String> listed, Set<String> unknown, long askedAt) {
        newest = Optional.of(askedAt);
        Map<String, Long> next = new HashMap<>();
        unknown.stream()
                .filter(id -> !listed.contains(id))
                .forEach(id -> next.put(id, missing.getOrDefault(id, askedAt)));
        missing = next;
        empty = listed.isEmpty() ? empty.or(() -> Optional.of(askedAt)) : Optional.empty();
    }
}
