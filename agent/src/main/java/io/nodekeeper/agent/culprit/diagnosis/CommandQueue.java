package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Decides whether a call about a pod is late because it waits behind the pod's own commands. A shim begins one command after
 * another, and its other answers wait in the same queue, although it uses no processor. With containerd 1.6, 65 commands
 * wait and one begins each second, so a call with a deadline of 5 s is never answered (measured). A call is explained while
 * commands wait for their start and the shim begins some. One that hangs beside a queue is named once the queue has ended;
 * until then the statement tells that the queue may not be the cause. Pure.
 */
final class CommandQueue {
    /** The fewest commands that wait: one begins each second, and the shortest deadline of a call is 5 s. */
    private static final int MANY = 5;
    /** A shim with waiting commands that begins none for so long hangs; measured were pauses of up to 10 s. */
    private static final Duration PAUSE = Duration.ofSeconds(30);
    /** The wait from which the queue may not be the cause: the time after which Kubernetes' PLEG is unhealthy. */
    private static final Duration LONG = Duration.ofMinutes(3);
    /** The most pods and calls to name as evidence. */
    private static final int NAMED = 8;

    private final DiagnosisInput facts;
    private final ProcessIndex index;

    CommandQueue(DiagnosisInput facts, ProcessIndex index) {
        this.facts = facts;
        this.index = index;
    }

    /** Whether commands of the call's pod explain that it is late. */
    boolean explains(Subject subject) {
        return !subject.isNode() && waiting(subject) >= MANY && begun(subject).isPresent();
    }

    /** The statement about the calls that the queues of their pods explain; empty without calls. */
    Optional<Culprit> culprit(List<CallOutcome> late) {
        if (late.isEmpty()) {
            return Optional.empty();
        }
        Map<String, Subject> pods = new LinkedHashMap<>();
        List<String> waits = new ArrayList<>();
        for (CallOutcome answer : late) {
            Subject subject = Subject.of(answer.call(), facts.workload());
            pods.putIfAbsent(subject.key(), subject);
            waits.add(facts.waits(answer, subject));
        }
        List<String> evidence = Stream.concat(
                        pods.values().stream().limit(NAMED).map(this::text),
                        waits.stream().limit(NAMED))
                .toList();
        Instant since = facts.since(late);
        Culprit culprit = Culprit.of(
                        Layer.RUNTIME,
                        "CommandsQueued",
                        "many commands at once wait for their start in "
                                + pods.values().iterator().next().text()
                                + (pods.size() > 1 ? " and " + (pods.size() - 1) + " more pods" : "")
                                + ": the runtime begins one after another, and calls for the pod wait behind them",
                        since,
                        new Remedy.Advice("wait; if it lasts, run fewer commands in the containers at the same time"
                                + " (kubectl exec, exec probes)"))
                .shownBy(evidence)
                .sure(facts.ago(LONG).isBefore(since) ? Confidence.LIKELY : Confidence.UNKNOWN)
                .delays(late.getFirst().call().method());
        return Optional.of(
                index.server().map(server -> culprit.by(server.info().ref())).orElse(culprit));
    }

    private String text(Subject pod) {
        return String.format(
                Locale.ROOT,
                "%d commands wait for their start in %s (FIFOs of the runtime), the newest began %.1f s ago",
                waiting(pod),
                pod.text(),
                begun(pod).orElse(Duration.ZERO).toMillis() / 1e3);
    }

    /** How many of the pod's open commands have not begun: these have no process below the pod's shim. */
    private int waiting(Subject pod) {
        int open = facts.processes().stream()
                .flatMap(process -> process.info().commands().entrySet().stream())
                .filter(commands -> isOf(pod, commands.getKey()))
                .mapToInt(Map.Entry::getValue)
                .sum();
        if (open == 0) {
            return 0;
        }
        long children =
                children(pod).filter(child -> child.info().state() != 'Z').count();
        // The sandbox has a process, too, and each container its first.
        long own = 1
                + facts.workload().running().stream()
                        .filter(id -> isOf(pod, id))
                        .count();
        return open - (int) Math.max(0, children - own);
    }

    private boolean isOf(Subject pod, String container) {
        return Subject.of(List.of(container), Optional.empty(), facts.workload())
                .samePod(pod);
    }

    /**
     * The processes right below the pod's shim: the first ones of containers and of commands. Whatever these start is below
     * them.
     */
    private Stream<ObservedProcess> children(Subject pod) {
        return facts.processes().stream()
                .filter(child -> index.parent(child)
                        .filter(parent -> isShim(parent, pod))
                        .isPresent());
    }

    /** The time since the pod's shim began a command, if it is short. */
    private Optional<Duration> begun(Subject pod) {
        return facts.processes().stream()
                .filter(process -> isShim(process, pod))
                .flatMap(shim -> shim.begun().stream())
                .filter(ago -> ago.compareTo(PAUSE) < 0)
                .min(Duration::compareTo);
    }

    private boolean isShim(ObservedProcess process, Subject pod) {
        return process.isPodShim() && index.subject(process).samePod(pod);
    }
}
