package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The second half of the diagnosis: overdue calls. Calls that a hung process explains become its evidence. The cause of
 * the others depends on which calls are answered at the same time: if none, the runtime itself hangs; if all but those of
 * one pod, the runtime holds that pod's lock. Pure.
 */
final class CallDiagnosis {
    /** An answer from memory takes about 1 ms; 100 times that is slow. */
    private static final Duration SLOW = Duration.ofMillis(100);
    /**
     * The share of throttled periods from which a quota counts as the cause: in most periods the runtime had to wait.
     */
    private static final double THROTTLED = 0.5;

    private final DiagnosisInput facts;
    private final List<Culprit> culprits;
    private final List<CallOutcome> late;
    private final HangThresholds patience;

    CallDiagnosis(DiagnosisInput facts, HangThresholds patience, List<Culprit> processes) {
        this.facts = facts;
        this.patience = patience;
        this.culprits = new ArrayList<>(processes);
        this.late = facts.answers().stream()
                .filter(answer -> answer.kind() == CallOutcome.Kind.LATE
                        && answer.took().compareTo(changes(answer.call()) ? patience.slowCall() : patience.call()) >= 0)
                .toList();
    }

    /** The given culprits with the calls that they delay, and those that only calls indicate. */
    List<Culprit> culprits() {
        if (culprits.stream().noneMatch(known -> known.layer() == Layer.RUNTIME)) {
            runtime().ifPresent(culprits::add);
        }
        Map<String, List<CallOutcome>> pods = new LinkedHashMap<>();
        List<CallOutcome> ofTheNode = new ArrayList<>();
        for (CallOutcome answer : late) {
            Subject subject = Subject.of(answer.call(), facts.workload());
            if (attribute(answer, subject)) {
                continue;
            }
            if (subject.isNode()) {
                ofTheNode.add(answer);
            } else {
                pods.computeIfAbsent(subject.key(), key -> new ArrayList<>()).add(answer);
            }
        }
        if (pods.size() > 1 && answeredNeighbours().isEmpty()) {
            culprits.add(noPodAnswered(pods));
        } else {
            pods.values().forEach(waiting -> culprits.add(alone(waiting)));
        }
        ofTheNode.forEach(answer -> culprits.add(hungCall(answer)));
        return culprits;
    }

    /** A culprit for the runtime as a whole, if any. */
    private Optional<Culprit> runtime() {
        Optional<ProcessInfo> process = facts.processes().stream()
                .map(ObservedProcess::info)
                .filter(info -> info.role() == ProcessRole.RUNTIME)
                .findFirst();
        Optional<CallOutcome> version = facts.answers().stream()
                .filter(answer -> answer.call() instanceof RuntimeCall.GetVersion)
                .findFirst();
        Optional<Culprit> found = unreachable(version, process).or(() -> throttled(version));
        boolean diskHangs = culprits.stream().anyMatch(known -> known.layer() == Layer.DISK);
        if (found.isEmpty() && !diskHangs && version.filter(late::contains).isPresent()) {
            found = version.map(answer -> silent(answer, process));
        }
        return found.map(culprit -> process.map(info -> culprit.by(info.ref())).orElse(culprit));
    }

    private Optional<Culprit> unreachable(Optional<CallOutcome> version, Optional<ProcessInfo> process) {
        return version.filter(answer -> answer.kind() == CallOutcome.Kind.UNREACHABLE
                        && answer.took().compareTo(patience.stopped()) >= 0)
                .map(answer -> {
                    Instant since = since(answer);
                    return Culprit.of(
                                    Layer.RUNTIME,
                                    "RuntimeUnreachable",
                                    process.isPresent()
                                            ? "the container runtime at " + facts.socket()
                                                    + " has not accepted connections since " + KubeTime.format(since)
                                            : "no process has listened on the container runtime's socket "
                                                    + facts.socket() + " since " + KubeTime.format(since),
                                    since,
                                    process.isPresent()
                                            ? Remedy.RESTART_RUNTIME
                                            : new Remedy.Advice(
                                                    "start the container runtime, e.g. systemctl start containerd"))
                            .shownBy(List.of(answer.error()));
                });
    }

    private Optional<Culprit> throttled(Optional<CallOutcome> version) {
        if (version.filter(answer -> answer.took().compareTo(SLOW) >= 0).isEmpty() && late.isEmpty()) {
            // A quota that delays no call is intended.
            return Optional.empty();
        }
        return facts.processes().stream()
                .filter(process ->
                        process.throttled().filter(share -> share >= THROTTLED).isPresent())
                .findFirst()
                .map(process -> {
                    List<String> evidence = new ArrayList<>();
                    evidence.add(String.format(
                            Locale.ROOT,
                            "%.0f %% of its cgroup's periods since the last look were cut short (cpu.stat)",
                            100 * process.throttled().orElse(0.0)));
                    version.ifPresent(answer -> evidence.add("Version took " + text(answer.took())));
                    return Culprit.of(
                                    Layer.RUNTIME,
                                    "RuntimeThrottled",
                                    "the container runtime (pid "
                                            + process.info().ref().pid()
                                            + ") is slow because its cgroup's processor quota is used up",
                                    facts.wall(),
                                    new Remedy.Advice("raise the processor quota (cpu.max, cpu.cfs_quota_us or"
                                            + " CPUQuota) of the container runtime's cgroup"))
                            .shownBy(evidence);
                });
    }

    private Culprit silent(CallOutcome answer, Optional<ProcessInfo> process) {
        Instant since = since(answer);
        return Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeHung",
                        "the container runtime at " + facts.socket()
                                + " accepts connections but has answered nothing since " + KubeTime.format(since),
                        since,
                        Remedy.RESTART_RUNTIME)
                .delays(answer.call().method())
                .shownBy(process
                        .map(info -> "pid " + info.ref().pid() + ", state " + info.state() + ": "
                                + info.ref().command())
                        .stream()
                        .toList());
    }

    /** Adds a late call to the evidence of a culprit that explains it. */
    private boolean attribute(CallOutcome answer, Subject subject) {
        for (int i = 0; i < culprits.size(); i++) {
            Culprit known = culprits.get(i);
            Subject about = known.subject();
            boolean explains = known.layer() == Layer.RUNTIME
                    || known.layer() == Layer.DISK && (about.isNode() || subject.isNode())
                    || !subject.isNode() && about.samePod(subject);
            if (explains) {
                String waits = answer.call().method() + (subject.isNode() ? "" : " of " + subject.text())
                        + " has been waiting since " + KubeTime.format(since(answer));
                culprits.set(i, known.delays(answer.call().method()).shownBy(List.of(waits)));
                return true;
            }
        }
        return false;
    }

    private Culprit alone(List<CallOutcome> waiting) {
        CallOutcome first = waiting.getFirst();
        Subject subject = Subject.of(first.call(), facts.workload());
        Instant since = since(first);
        String methods = waiting.stream()
                .map(answer -> answer.call().method())
                .distinct()
                .collect(Collectors.joining(", "));
        List<CallOutcome> neighbours = answeredNeighbours();
        String others = neighbours.isEmpty()
                ? "; no answer for another container is known"
                : "; it answers for " + others(neighbours);
        Remedy remedy = subject.sandboxId()
                .<Remedy>map(Remedy.RemoveSandbox::new)
                .orElseGet(() -> first.call() instanceof RuntimeCall.RunSandbox
                        ? new Remedy.Advice("check the runtime's log for pod " + subject.text())
                        : Remedy.RESTART_RUNTIME);
        List<String> evidence = new ArrayList<>();
        waiting.forEach(answer -> evidence.add(answer.call().method()
                + answer.call()
                        .containerId()
                        .map(id -> " of container " + Subject.brief(id))
                        .orElse("")
                + " has been waiting since " + KubeTime.format(since(answer))));
        neighbours.stream()
                .max((a, b) -> a.took().compareTo(b.took()))
                .ifPresent(slowest -> evidence.add(
                        others(neighbours) + " answered in the meantime, the slowest in " + text(slowest.took())));
        evidence.add("no hung process explains it: the runtime itself holds the lock");
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
                .shownBy(evidence);
    }

    private Culprit noPodAnswered(Map<String, List<CallOutcome>> pods) {
        CallOutcome first = pods.values().iterator().next().getFirst();
        Instant since = since(first);
        return Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeHung",
                        "the container runtime has answered " + first.call().method() + " for no pod since "
                                + KubeTime.format(since),
                        since,
                        Remedy.RESTART_RUNTIME)
                .delays(first.call().method())
                .shownBy(List.of("calls for " + pods.size() + " pods are waiting, none has been answered"));
    }

    private Culprit hungCall(CallOutcome answer) {
        Instant since = since(answer);
        return Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeCallHung",
                        "the container runtime has not answered "
                                + answer.call().method() + " since " + KubeTime.format(since),
                        since,
                        Remedy.RESTART_RUNTIME)
                .delays(answer.call().method());
    }

    /** Recent calls about single containers or sandboxes that were answered. */
    private List<CallOutcome> answeredNeighbours() {
        return facts.answers().stream()
                .filter(answer -> answer.answered()
                        && (answer.call().containerId().isPresent()
                                || answer.call().sandboxId().isPresent()))
                .toList();
    }

    private Instant since(CallOutcome answer) {
        return facts.ago(Duration.ofNanos(facts.now() - answer.askedAt()));
    }

    private static boolean changes(RuntimeCall<?> call) {
        return call instanceof RuntimeCall.RunSandbox
                || call instanceof RuntimeCall.StopSandbox
                || call instanceof RuntimeCall.RemoveSandbox;
    }

    private static String others(List<CallOutcome> neighbours) {
        return neighbours.size() == 1 ? "1 other" : neighbours.size() + " others";
    }

    private static String text(Duration took) {
        return GoDuration.format(Duration.ofMillis(took.toMillis()));
    }
}
