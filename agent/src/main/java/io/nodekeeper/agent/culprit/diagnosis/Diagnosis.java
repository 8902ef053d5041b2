package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.evidence.WaitGraph;
import io.nodekeeper.agent.culprit.evidence.WaitGraph.Entity;
import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Wait;
import io.nodekeeper.api.KubeTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds what hangs. Pure: the same input always gives the same culprits. <p>It builds a graph of who waits for whom and
 * walks it from each process that hangs to the roots, which are the culprits; what waits is their evidence. Then it
 * explains the late and refused calls. A call about a pod that has a culprit becomes that culprit's evidence; a call
 * that nothing explains is a culprit of its own, with confidence {@link Confidence#UNKNOWN}. So each cause is reported
 * once.
 */
public final class Diagnosis {
    /** An ordinary command needs 0.2 s of a processor at most; one that got ten times that does not lack it. */
    private static final Duration ENOUGH_WORK = Duration.ofSeconds(2);
    /** The scans that must examine a command: the second shows what it waits for. */
    private static final int LOOKS = 2;
    /** The same while programs wait for a disk: a scan can miss the wait between two moments of work. */
    private static final int LOOKS_ON_DISK = 4;

    private final DiagnosisInput facts;
    private final HangThresholds patience;
    private final ProcessIndex index;
    private final Lasting lasting;
    private final WaitGraph graph;
    private final Causes causes;
    private final Map<Entity, Finding> found = new LinkedHashMap<>();

    private Diagnosis(DiagnosisInput facts, HangThresholds patience) {
        this.facts = facts;
        this.patience = patience;
        this.index = new ProcessIndex(facts);
        this.lasting = new Lasting(facts, patience, index);
        this.graph = HangGraph.of(facts, patience, lasting, index);
        this.causes = new Causes(facts, patience, lasting, index);
    }

    /** What hangs, causes before effects; empty if nothing does. */
    public static List<Culprit> of(DiagnosisInput facts, HangThresholds patience) {
        if (facts.isCalm()) {
            return List.of();
        }
        Diagnosis diagnosis = new Diagnosis(facts, patience);
        facts.processes().stream().filter(diagnosis::hangs).forEach(diagnosis::explain);
        List<Finding> findings = new ArrayList<>(diagnosis.found.values());
        diagnosis.zombies().forEach(findings::add);
        LimitDiagnosis.of(facts).forEach(findings::add);
        ShimDiagnosis.of(facts, patience, diagnosis.index).ifPresent(findings::add);
        RefusalDiagnosis.of(facts, patience).forEach(refusal -> merge(findings, refusal));
        List<Culprit> all = new CallDiagnosis(
                        facts,
                        patience,
                        diagnosis.lasting,
                        diagnosis.index,
                        diagnosis.graph,
                        diagnosis.causes,
                        findings)
                .culprits();
        return all.stream().sorted((a, b) -> a.layer().compareTo(b.layer())).toList();
    }

    /** Adds a finding, to that of the same reason if there is one: a full disk shows in a limit and in errors. */
    private static void merge(List<Finding> findings, Finding added) {
        for (int i = 0; i < findings.size(); i++) {
            if (findings.get(i).culprit().reason().equals(added.culprit().reason())) {
                findings.set(i, findings.get(i).and(added));
                return;
            }
        }
        findings.add(added);
    }

    /** Whether a process shows by itself that something hangs, even if no call is late. */
    private boolean hangs(ObservedProcess process) {
        ProcessInfo info = process.info();
        if (HangGraph.isStuck(process, patience).isPresent()) {
            return info.role() != ProcessRole.OUTSIDER;
        }
        return switch (info.role()) {
            case RUNTIME, SHIM ->
                lasting.isStopped(process)
                        || lasting.held(process).isPresent()
                        || process.waits().stream()
                                .anyMatch(waiting -> waiting.on() instanceof Wait.ForPipe pipe && !pipe.blocked())
                        || info.role() == ProcessRole.RUNTIME && graph.waits(HangGraph.pid(process)) && versionLate();
            case OCI_RUNTIME, CNI_PLUGIN ->
                Lasting.isLateCommand(process, patience)
                        // Whether it stays stopped shows at the next scan.
                        && (info.state() != 'T' || lasting.isStopped(process))
                        && active(process).compareTo(patience.command()) >= 0
                        // Of each process tree the oldest command is the start.
                        && index.parent(process)
                                .filter(parent -> parent.info().role() == info.role())
                                .isEmpty();
            // A container may stop its own processes; it matters only if a call waits for it.
            case CONTAINER, HELPER, OUTSIDER -> false;
        };
    }

    /**
     * The age of a command without the time in which it and its descendants waited for a processor or for a disk that
     * responds: on an overloaded node an ordinary command takes long. At most three quarters are left out, and nothing once
     * it has worked for long.
     */
    private Duration active(ObservedProcess command) {
        Duration age = command.info().age();
        List<ObservedProcess> tree = index.tree(command);
        Work work =
                tree.stream().flatMap(process -> process.info().work().stream()).reduce(Work.NONE, Work::plus);
        if (work.ran().compareTo(ENOUGH_WORK) >= 0) {
            return age;
        }
        Duration most = age.multipliedBy(3).dividedBy(4);
        Duration waited = tree.stream()
                .map(ObservedProcess::onDisk)
                .max(Duration::compareTo)
                .orElse(Duration.ZERO)
                .plus(work.queued());
        return age.minus(waited.compareTo(most) < 0 ? waited : most);
    }

    /** Whether it shows that a disk is slow: a command of the runtime that has waited for one, or another of its programs. */
    private static boolean isOnDisk(ObservedProcess process) {
        return switch (process.info().role()) {
            case CNI_PLUGIN, OCI_RUNTIME -> process.onDisk().isPositive();
            // These live long, so only the present counts.
            case RUNTIME, SHIM, HELPER ->
                process.onDisk().isPositive() && !process.info().stalls().isEmpty();
            case CONTAINER, OUTSIDER -> false;
        };
    }

    private boolean versionLate() {
        return facts.answers().stream()
                .anyMatch(answer -> answer.kind() == CallOutcome.Kind.LATE
                        && answer.took().compareTo(patience.call()) >= 0
                        && Subject.of(answer.call(), facts.workload()).isNode());
    }

    private void explain(ObservedProcess process) {
        Subject subject = index.subject(process);
        boolean explained = false;
        List<WaitGraph.Chain> chains = graph.roots(HangGraph.pid(process));
        for (WaitGraph.Chain chain : chains) {
            Optional<Culprit> culprit = causes.of(chain, process);
            culprit.ifPresent(cause -> add(chain.root(), cause, subject));
            explained |= culprit.isPresent();
        }
        if (explained || !ProcessIndex.isCommand(process)) {
            return;
        }
        CommandCause cause = new CommandCause(facts, patience, index);
        Optional<ObservedProcess> reader = possibleReader(process);
        boolean complete = Stream.concat(index.tree(process).stream(), reader.stream())
                .allMatch(member -> member.info().examined());
        int looks = Math.min(process.looks(), reader.map(ObservedProcess::looks).orElse(Integer.MAX_VALUE));
        if (!complete && process.info().age().compareTo(patience.command().multipliedBy(2)) >= 0) {
            add(HangGraph.pid(process), cause.unexplained(process), subject);
        }
        // What it waits for counts from its second scan on, so one scan cannot show that it waits for nothing.
        boolean slowDisk = facts.processes().stream().anyMatch(Diagnosis::isOnDisk);
        if (complete && looks >= (slowDisk ? LOOKS_ON_DISK : LOOKS) && !mayBeStuck(process)) {
            // What it waits for does not hang by itself, so the command or its child is the last that is known to.
            Culprit late = cause.of(process, chains);
            add(
                    late.process().<Entity>map(ref -> new Entity.Pid(ref.pid())).orElse(HangGraph.pid(process)),
                    late,
                    subject);
        }
    }

    /** The runtime, if it may still read the output of a command whose parent has ended, and no scans have shown that. */
    private Optional<ObservedProcess> possibleReader(ObservedProcess command) {
        return index.parent(command).isPresent()
                ? Optional.empty()
                : index.first(ProcessRole.RUNTIME)
                        .filter(runtime -> runtime.waits().stream()
                                .map(ObservedProcess.Waiting::on)
                                .noneMatch(wait -> wait instanceof Wait.ForPipe
                                        && wait.holders()
                                                .contains(command.info().ref().pid())));
    }

    /**
     * Whether a command, or a process below it, is in state D and has not run since the last scan: the next scans show
     * whether a disk is the cause. It is decided within {@link HangThresholds#stalled()}.
     */
    private boolean mayBeStuck(ObservedProcess command) {
        return index.tree(command).stream()
                .anyMatch(process -> !process.frozen()
                        && !process.stuck().isEmpty()
                        && HangGraph.isStuck(process, patience).isEmpty());
    }

    private void add(Entity root, Culprit culprit, Subject waiter) {
        found.merge(root, Finding.of(culprit, waiter), (first, second) -> first.and(second));
    }

    /** Ended container processes that a running shim does not reap, although the shim itself does not hang. */
    private List<Finding> zombies() {
        List<Finding> findings = new ArrayList<>();
        for (ObservedProcess process : facts.processes()) {
            ProcessInfo info = process.info();
            Optional<ObservedProcess> shim =
                    index.parent(process).filter(parent -> parent.info().role() == ProcessRole.SHIM);
            Optional<Duration> lasted = process.zombie().filter(age -> age.compareTo(patience.zombie()) >= 0);
            if (info.role() != ProcessRole.CONTAINER
                    || shim.isEmpty()
                    || lasted.isEmpty()
                    || hangs(shim.get())
                    || shim.get().info().state() == 'T') {
                continue;
            }
            Subject subject = index.subject(process);
            Instant since = facts.ago(lasted.get());
            findings.add(Finding.of(
                    Culprit.of(
                                    Layer.SHIM,
                                    "ContainerNotReaped",
                                    "a process of " + subject.text() + " has ended (pid "
                                            + info.ref().pid() + ", state Z), but its shim "
                                            + ProcessIndex.name(shim.get().info()) + " has not reaped it since "
                                            + KubeTime.format(since),
                                    since,
                                    new Remedy.Advice("end the shim: kill -KILL "
                                            + shim.get().info().ref().pid() + "; its pod is lost then"))
                            .about(subject)
                            .by(shim.get().info().ref())
                            .shownBy(List.of(ProcessIndex.describe(shim.get().info())))
                            .sure(Confidence.LIKELY),
                    subject));
        }
        return findings;
    }
}
