package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.evidence.WaitGraph;
import io.nodekeeper.agent.culprit.evidence.WaitGraph.Entity;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The second half of the diagnosis: overdue calls. Calls that a known culprit explains become its evidence. Others are
 * followed in the graph through the processes that serve them. What remains is unexplained; which calls are answered at
 * the same time shows how far it reaches: if none, the runtime itself hangs; if all but those of one pod, something of
 * that pod. Pure.
 */
final class CallDiagnosis {
    private final DiagnosisInput facts;
    private final HangThresholds patience;
    private final Lasting lasting;
    private final ProcessIndex index;
    private final WaitGraph graph;
    private final Causes causes;
    private final List<Finding> findings;
    private final List<CallOutcome> late;

    CallDiagnosis(
            DiagnosisInput facts,
            HangThresholds patience,
            Lasting lasting,
            ProcessIndex index,
            WaitGraph graph,
            Causes causes,
            List<Finding> known) {
        this.facts = facts;
        this.patience = patience;
        this.lasting = lasting;
        this.index = index;
        this.graph = graph;
        this.causes = causes;
        this.findings = new ArrayList<>(known);
        this.late = facts.answers().stream()
                .filter(answer -> answer.kind() == CallOutcome.Kind.LATE
                        && answer.took().compareTo(patience.of(answer.call())) >= 0)
                .toList();
    }

    /** The given culprits with the calls that they delay, and those that only calls indicate. */
    List<Culprit> culprits() {
        RuntimeDiagnosis runtime = new RuntimeDiagnosis(facts, patience, index, late);
        if (findings.stream().noneMatch(known -> known.culprit().layer() == Layer.RUNTIME)) {
            boolean diskHangs =
                    findings.stream().anyMatch(known -> known.culprit().layer() == Layer.DISK);
            runtime.of(diskHangs).ifPresent(findings::add);
        }
        CommandQueue queue = new CommandQueue(facts, index);
        List<CallOutcome> queued = new ArrayList<>();
        Map<ObservedProcess, List<CallOutcome>> busy = new LinkedHashMap<>();
        Map<String, List<CallOutcome>> pods = new LinkedHashMap<>();
        List<CallOutcome> ofTheNode = new ArrayList<>();
        for (CallOutcome answer : late) {
            Subject subject = Subject.of(answer.call(), facts.workload());
            if (attribute(answer, subject) || follow(answer, subject) && attribute(answer, subject)) {
                continue;
            }
            Optional<ObservedProcess> load = runtime.busy(
                    answer,
                    facts.processes().stream()
                            .filter(process -> !subject.isNode()
                                    && isProgram(process)
                                    && index.subject(process).samePod(subject)));
            if (load.isPresent()) {
                busy.computeIfAbsent(load.get(), key -> new ArrayList<>()).add(answer);
            } else if (queue.explains(subject)) {
                queued.add(answer);
            } else if (!answer.proven()) {
                // Nothing shows that the runtime answered others meanwhile; the next scans will, or that it is silent.
                continue;
            } else if (subject.isNode()) {
                ofTheNode.add(answer);
            } else {
                pods.computeIfAbsent(subject.key(), key -> new ArrayList<>()).add(answer);
            }
        }
        List<Culprit> culprits =
                new ArrayList<>(findings.stream().map(Finding::culprit).toList());
        if (pods.size() > 1
                && pods.values().stream()
                        .allMatch(waiting -> neighbours(waiting).isEmpty())) {
            culprits.add(noPodAnswered(pods));
        } else {
            pods.values().forEach(waiting -> culprits.add(alone(waiting)));
        }
        ofTheNode.forEach(answer -> culprits.add(hungCall(answer)));
        culprits.addAll(runtime.busy(busy));
        queue.culprit(queued).ifPresent(culprits::add);
        return culprits;
    }

    /** Adds a late call to the evidence of a culprit that explains it. */
    private boolean attribute(CallOutcome answer, Subject subject) {
        for (int i = 0; i < findings.size(); i++) {
            if (findings.get(i).explains(subject)) {
                findings.set(i, findings.get(i).delays(answer.call().method(), facts.waits(answer, subject)));
                return true;
            }
        }
        return false;
    }

    /** Looks for a cause through the processes that serve a call; whether it found one. */
    private boolean follow(CallOutcome answer, Subject subject) {
        Entity call = new Entity.Call(answer.call());
        for (ObservedProcess process : facts.processes()) {
            boolean waits = graph.waits(HangGraph.pid(process)) || lasting.isStopped(process);
            if (waits && serves(process, answer.call(), subject)) {
                graph.add(
                        call,
                        HangGraph.pid(process),
                        subject.isNode(),
                        answer.call().method() + " is served by " + index.nameWithPod(process));
            }
        }
        boolean found = false;
        if (graph.waits(call)) {
            for (WaitGraph.Chain chain : graph.roots(call)) {
                Optional<ObservedProcess> server =
                        chain.steps().getFirst().to() instanceof Entity.Pid(int pid) ? index.of(pid) : Optional.empty();
                Optional<Culprit> culprit = server.flatMap(first -> causes.of(chain, first));
                culprit.ifPresent(cause -> findings.add(Finding.of(cause, subject)));
                found |= culprit.isPresent();
            }
        }
        return found;
    }

    /** Whether a call waits for that process if it hangs: the runtime for all, and the programs of the call's pod. */
    private boolean serves(ObservedProcess process, RuntimeCall<?> call, Subject subject) {
        return switch (process.info().role()) {
            case RUNTIME -> subject.isNode();
            case SHIM, OCI_RUNTIME, CNI_PLUGIN, HELPER ->
                !subject.isNode() && index.subject(process).samePod(subject);
            // Only the end of a container depends on its processes.
            case CONTAINER ->
                HangThresholds.changes(call)
                        && index.subject(process).samePod(subject)
                        && process.held().isPresent();
            case OUTSIDER -> false;
        };
    }

    /** Whether it is a program of the runtime, whose work is examined. */
    private static boolean isProgram(ObservedProcess process) {
        return switch (process.info().role()) {
            case SHIM, OCI_RUNTIME, CNI_PLUGIN, HELPER -> true;
            case RUNTIME, CONTAINER, OUTSIDER -> false;
        };
    }

    private Culprit alone(List<CallOutcome> waiting) {
        CallOutcome first = waiting.getFirst();
        Subject subject = Subject.of(first.call(), facts.workload());
        Instant since = facts.since(first);
        String methods = waiting.stream()
                .map(answer -> answer.call().method())
                .distinct()
                .collect(Collectors.joining(", "));
        List<CallOutcome> neighbours = neighbours(waiting);
        String others = neighbours.isEmpty()
                ? "; no answer for another container is known"
                : "; it answers for " + others(neighbours);
        Remedy remedy = subject.sandboxId()
                .<Remedy>map(Remedy.RemoveSandbox::new)
                .orElseGet(() -> first.call() instanceof RuntimeCall.RunSandbox
                        ? new Remedy.Advice("check the runtime's log for pod " + subject.text())
                        : facts.restart());
        List<String> evidence = new ArrayList<>();
        waiting.forEach(answer -> evidence.add(answer.call().method()
                + answer.call()
                        .containerId()
                        .map(id -> " of container " + Subject.brief(id))
                        .orElse("")
                + " has been waiting since " + KubeTime.format(facts.since(answer))));
        neighbours.stream()
                .max((a, b) -> a.took().compareTo(b.took()))
                .ifPresent(slowest -> evidence.add(
                        others(neighbours) + " answered in the meantime, the slowest in " + text(slowest.took())));
        evidence.addAll(Examined.of(subject, facts, index));
        String container = subject.containerId()
                .filter(id -> waiting.stream()
                        .allMatch(answer -> answer.call().containerId().equals(Optional.of(id))))
                .map(id -> "container "
                        + facts.workload()
                                .container(id)
                                .map(known -> known.name())
                                .orElse(Subject.brief(id)) + " of ")
                .orElse("");
        return Culprit.of(
                        Layer.CONTAINER,
                        "ContainerCallHung",
                        "the container runtime has not answered " + methods + " for " + container + subject.text()
                                + " since " + KubeTime.format(since) + others,
                        since,
                        remedy)
                .about(subject)
                .delays(first.call().method())
                .shownBy(evidence)
                .sure(Confidence.UNKNOWN);
    }

    private Culprit noPodAnswered(Map<String, List<CallOutcome>> pods) {
        CallOutcome first = pods.values().iterator().next().getFirst();
        Instant since = facts.since(first);
        List<String> evidence =
                new ArrayList<>(List.of("calls for " + pods.size() + " pods are waiting, none has been answered"));
        evidence.addAll(Examined.of(Subject.NODE, facts, index));
        return Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeHung",
                        "the container runtime has answered " + first.call().method() + " for no pod since "
                                + KubeTime.format(since),
                        since,
                        facts.restart())
                .delays(first.call().method())
                .shownBy(evidence)
                .sure(Confidence.UNKNOWN);
    }

    private Culprit hungCall(CallOutcome answer) {
        Instant since = facts.since(answer);
        return Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeCallHung",
                        "the container runtime has not answered "
                                + answer.call().method() + " since " + KubeTime.format(since),
                        since,
                        facts.restart())
                .delays(answer.call().method())
                .shownBy(Examined.of(Subject.NODE, facts, index))
                .sure(Confidence.UNKNOWN);
    }

    /**
     * Calls about other containers or sandboxes that were answered while {@code waiting} already waited. An earlier
     * answer says nothing about now.
     */
    private List<CallOutcome> neighbours(List<CallOutcome> waiting) {
        long from = waiting.stream()
                .mapToLong(CallOutcome::askedAt)
                .reduce((a, b) -> a - b < 0 ? a : b)
                .orElse(facts.now());
        return facts.answers().stream()
                .filter(answer -> answer.answered()
                        && answer.askedAt() + answer.took().toNanos() - from >= 0
                        && (answer.call().containerId().isPresent()
                                || answer.call().sandboxId().isPresent()))
                .toList();
    }

    private static String others(List<CallOutcome> neighbours) {
        return neighbours.size() == 1 ? "1 other" : neighbours.size() + " others";
    }

    private static String text(Duration took) {
        return GoDuration.format(Duration.ofMillis(took.toMillis()));
    }
}
