package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.load.Activity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
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
import java.util.stream.Stream;

/**
 * Decides whether the runtime as a whole is the culprit: unreachable, restarting, throttled or silent; and whether late
 * calls are due to load. Pure.
 */
final class RuntimeDiagnosis {
    /**
     * The share of throttled periods from which a quota explains slow calls. Between the calls of an idle node most periods
     * need no quota, so that a runtime whose every call is throttled can be throttled in a third of them (measured).
     */
    private static final double THROTTLED = 0.25;
    /**
     * How long a call may be late because the runtime works: one that works and answers nothing for longer spins. Kubernetes
     * declares a runtime down after 30 s. With the time to notice and to clear the old culprit, such a runtime is reported as
     * hung within 60 s.
     */
    private static final Duration BUSY = Duration.ofSeconds(30);
    /** The same while a process waits for a processor: the time after which Kubernetes' PLEG is unhealthy. */
    private static final Duration STARVED = Duration.ofMinutes(3);
    /** The most processes to name as evidence. */
    private static final int NAMED = 8;
    /** The restarts within ten minutes that make a loop: an upgrade restarts a runtime once or twice. */
    private static final int LOOP = 3;

    private final DiagnosisInput facts;
    private final HangThresholds patience;
    private final List<CallOutcome> late;
    private final Optional<ProcessInfo> process;
    private final Optional<CallOutcome> version;
    private final ProcessIndex index;

    RuntimeDiagnosis(DiagnosisInput facts, HangThresholds patience, ProcessIndex index, List<CallOutcome> late) {
        this.facts = facts;
        this.patience = patience;
        this.late = late;
        this.index = index;
        this.process = index.server().map(ObservedProcess::info);
        this.version = facts.answers().stream()
                .filter(answer -> answer.call() instanceof RuntimeCall.GetVersion)
                .findFirst();
    }

    /** The culprit, if any; {@code diskHangs} explains a silent runtime. */
    Optional<Finding> of(boolean diskHangs) {
        Optional<Culprit> found = restarting().or(this::unreachable).or(this::throttled);
        if (found.isEmpty() && !diskHangs) {
            found = version.filter(late::contains)
                    .filter(answer ->
                            !answeredSince(answer) && busy(answer, Stream.of()).isEmpty())
                    .map(this::silent);
        }
        return found.map(culprit -> process.map(info -> culprit.by(info.ref())).orElse(culprit))
                .map(culprit -> Finding.of(culprit, Subject.NODE));
    }

    private Optional<Culprit> restarting() {
        return facts.restarts() < LOOP
                ? Optional.empty()
                : Optional.of(Culprit.of(
                                Layer.RUNTIME,
                                "RuntimeRestarting",
                                "the container runtime at " + facts.socket() + " restarts again and again",
                                facts.wall(),
                                new Remedy.Advice("look at the end of the runtime's log, e.g. journalctl -u "
                                        + facts.service() + " -n 100, and end the cause before the next restart"))
                        .shownBy(List.of("its process was replaced " + facts.restarts() + " times in ten minutes")));
    }

    private Optional<Culprit> unreachable() {
        return version.filter(answer -> answer.kind() == CallOutcome.Kind.UNREACHABLE
                        && answer.took().compareTo(patience.stopped()) >= 0)
                .map(answer -> {
                    Instant since = facts.since(answer);
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
                                            ? facts.restart()
                                            : new Remedy.Advice("start the container runtime, e.g. systemctl start "
                                                    + facts.service()))
                            .shownBy(List.of(answer.error()));
                });
    }

    private Optional<Culprit> throttled() {
        if (version.filter(answer -> answer.took().compareTo(DiagnosisInput.SLOW) >= 0)
                        .isEmpty()
                && late.isEmpty()) {
            // A quota that delays no call is intended.
            return Optional.empty();
        }
        return facts.processes().stream()
                .filter(observed ->
                        observed.throttled().filter(share -> share >= THROTTLED).isPresent())
                .findFirst()
                .map(observed -> {
                    List<String> evidence = new ArrayList<>();
                    evidence.add(String.format(
                            Locale.ROOT,
                            "%.0f %% of its cgroup's periods since the last look were cut short (cpu.stat)",
                            100 * observed.throttled().orElse(0.0)));
                    version.ifPresent(answer -> evidence.add("Version took "
                            + GoDuration.format(Duration.ofMillis(answer.took().toMillis()))));
                    return Culprit.of(
                                    Layer.RUNTIME,
                                    "RuntimeThrottled",
                                    "the container runtime (pid "
                                            + observed.info().ref().pid()
                                            + ") is slow because its cgroup's processor quota is used up",
                                    facts.wall(),
                                    new Remedy.Advice("raise the processor quota (cpu.max, cpu.cfs_quota_us or"
                                            + " CPUQuota) of the container runtime's cgroup"))
                            .shownBy(evidence)
                            .sure(Confidence.LIKELY);
                });
    }

    /**
     * The process whose load explains that a call is late: one of the call's own {@code servers} that waits for a processor,
     * or the runtime if it answers slowly and works or waits for a processor.
     */
    Optional<ObservedProcess> busy(CallOutcome answer, Stream<ObservedProcess> servers) {
        // An answer to a version that was asked before the call says nothing about the time since then.
        boolean slow = version.filter(known -> known.kind() == CallOutcome.Kind.LATE
                        || known.took().compareTo(DiagnosisInput.SLOW) >= 0
                        || known.askedAt() - answer.askedAt() < 0)
                .isPresent();
        return Stream.concat(
                        servers.filter(RuntimeDiagnosis::isStarved), index.server().filter(runtime -> slow).stream())
                .filter(process -> process.activity()
                        .filter(activity -> activity.ago().compareTo(patience.call()) < 0
                                && (isPatient(activity, answer.took()) || beginsCommands(process)))
                        .isPresent())
                .findFirst();
    }

    /**
     * Whether a command began so recently that the runtime works, and the shim that started it: neither spins, so the load
     * explains a late call however long it lasts. Commands that begin and do not end are culprits of their own.
     */
    private boolean beginsCommands(ObservedProcess busy) {
        Subject served = index.subject(busy);
        return facts.processes().stream()
                .filter(ProcessIndex::isCommand)
                .filter(command -> command.info().age().compareTo(patience.command()) < 0)
                .anyMatch(command -> served.isNode() || index.subject(command).samePod(served));
    }

    /** Whether a call may be so late. Time in which it waited for a processor does not count as work. */
    private static boolean isPatient(Activity activity, Duration late) {
        boolean working =
                activity.starved().filter(time -> time.compareTo(BUSY) < 0).isEmpty();
        return late.compareTo(working ? BUSY : STARVED) < 0;
    }

    /** The culprits of calls that are late because of load; {@code calls} are those that each busy process delays. */
    List<Culprit> busy(Map<ObservedProcess, List<CallOutcome>> calls) {
        List<Culprit> culprits = new ArrayList<>();
        Map<ObservedProcess, List<CallOutcome>> starved = new LinkedHashMap<>();
        calls.forEach((process, late) -> {
            if (isStarved(process)) {
                starved.put(process, late);
            } else {
                culprits.add(load(
                                "RuntimeBusy",
                                "the container runtime at " + facts.socket()
                                        + " is busy: it uses the processors and answers late",
                                new Remedy.Advice("wait; if it stays busy, find out what it does: kill -USR1 "
                                        + process.info().ref().pid()
                                        + " makes " + ProcessIndex.program(process.info())
                                        + " write its goroutines to its log"),
                                Map.of(process, late))
                        .by(process.info().ref()));
            }
        });
        if (!starved.isEmpty()) {
            Culprit overloaded = load(
                    "NodeOverloaded",
                    "the node has more work than processors: the container runtime or its programs wait for a"
                            + " processor, and calls are answered late",
                    new Remedy.Advice("reduce the load of the node, or give the container runtime a larger share of"
                            + " the processors: CPUWeight of its service"),
                    starved);
            // The runtime stays the same over scans, the programs do not.
            culprits.add(overloaded.by(index.server()
                    .orElse(starved.keySet().iterator().next())
                    .info()
                    .ref()));
        }
        return culprits;
    }

    private Culprit load(String reason, String summary, Remedy remedy, Map<ObservedProcess, List<CallOutcome>> calls) {
        List<String> evidence = calls.keySet().stream()
                .limit(NAMED)
                .flatMap(process -> process.activity().stream()
                        .map(activity -> String.format(
                                Locale.ROOT,
                                "in %.1f s %s ran for %.1f s and waited %.1f s for a processor, summed over its threads"
                                        + " (schedstat)",
                                activity.over().toMillis() / 1e3,
                                index.nameWithPod(process),
                                activity.ran().toMillis() / 1e3,
                                activity.queued().toMillis() / 1e3)))
                .collect(Collectors.toCollection(ArrayList::new));
        List<CallOutcome> late = calls.values().stream().flatMap(List::stream).toList();
        late.stream()
                .limit(NAMED)
                .forEach(answer -> evidence.add(
                        answer.call().method() + " has been waiting since " + KubeTime.format(facts.since(answer))));
        Instant since = facts.since(late);
        Culprit culprit = Culprit.of(Layer.RUNTIME, reason, summary, since, remedy)
                .shownBy(evidence)
                .sure(Confidence.LIKELY);
        return late.isEmpty() ? culprit : culprit.delays(late.getFirst().call().method());
    }

    private static boolean isStarved(ObservedProcess process) {
        return process.activity().filter(Activity::isStarved).isPresent();
    }

    private Culprit silent(CallOutcome answer) {
        Instant since = facts.since(answer);
        return Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeHung",
                        "the container runtime at " + facts.socket()
                                + " accepts connections but has answered nothing since " + KubeTime.format(since),
                        since,
                        facts.restart())
                .delays(answer.call().method())
                .shownBy(Examined.of(Subject.NODE, facts, index))
                .sure(Confidence.UNKNOWN);
    }

    /** Whether any call that was made after that one was answered. */
    private boolean answeredSince(CallOutcome first) {
        return facts.answers().stream().anyMatch(answer -> answer.answered() && answer.askedAt() - first.askedAt() > 0);
    }
}
