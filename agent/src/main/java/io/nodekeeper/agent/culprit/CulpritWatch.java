package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.calls.CallTracker;
import io.nodekeeper.agent.calls.OverdueCall;
import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Diagnosis;
import io.nodekeeper.agent.culprit.diagnosis.DiagnosisInput;
import io.nodekeeper.agent.culprit.diagnosis.HangThresholds;
import io.nodekeeper.agent.culprit.diagnosis.ObservedProcess;
import io.nodekeeper.agent.culprit.diagnosis.ProcessHistory;
import io.nodekeeper.agent.culprit.diagnosis.Subject;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.ProcessTable;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds continuously what makes the runtime hang, from scans of its processes, overdue calls, and probes of each
 * container. It makes no call that changes anything and applies no remedy. Confined to its loop.
 */
public final class CulpritWatch {
    /** The type of the node's condition. */
    public static final String CONDITION = "RuntimeDegraded";

    private static final Logger log = LoggerFactory.getLogger(CulpritWatch.class);
    /** The period of scans while nothing is wrong: two scans and the threshold of a hung command stay below 20 s. */
    private static final Duration PERIOD = Duration.ofSeconds(5);
    /**
     * The period while something may be wrong: containerd kills a hung runc after 10 s, which must be seen between 8
     * and 10 s.
     */
    private static final Duration ALERT_PERIOD = Duration.ofMillis(1_500);
    /** The tolerance when ages are compared: more than the precision of process ages (10 ms). */
    private static final Duration MOMENT = Duration.ofMillis(100);
    /** Ordinary commands end within a second; one older than 2 s makes scans more frequent. */
    private static final Duration UNUSUAL = Duration.ofSeconds(2);
    /**
     * The period of probes of all containers: a hung one is found within 10 s plus the probe's deadline, below the
     * bound of 20 s.
     */
    private static final Duration ROUND = Duration.ofSeconds(10);
    /**
     * The deadline of a call that the runtime answers from memory; below the period, so that calls do not accumulate.
     */
    private static final Duration VERSION_DEADLINE = Duration.ofMillis(4_500);
    /**
     * The deadline of a scan, for any implementation of the process table; above that of {@code LinuxProcesses}
     * itself.
     */
    private static final Duration SCAN_DEADLINE = Duration.ofSeconds(3);
    /** A runtime that answers its version later than this is slow; an idle one needs a few milliseconds. */
    private static final Duration SLOW_VERSION = Duration.ofSeconds(1);
    /**
     * How long an unexplained late call may be the backlog of a runtime that was slow until a moment ago: the longest
     * time for which load explains a late call.
     */
    private static final Duration BACKLOG = Duration.ofMinutes(3);

    /** The most culprits in the condition's message: enough to act on, and short enough for one line. */
    private static final int NAMED = 3;

    private static final double JITTER = 0.1;

    private final ContainerRuntime runtime;
    private final CallTracker calls;
    private final Supplier<ContainerIndex> workload;
    private final ProcessTable processes;
    private final Loop loop;
    private final RandomGenerator random;
    private final CulpritListener listener;
    private final String socket;
    private final ContainerProbes neighbours;
    private final ProcessHistory sightings = new ProcessHistory();
    private final CulpritRegistry book = new CulpritRegistry();
    private final ResolvedCalls excuses = new ResolvedCalls();
    private final FirstAnswers first;
    private final UnlistedShims shims;
    private List<ObservedProcess> seen = List.of();
    private Optional<CallOutcome> version = Optional.empty();
    private Loop.@Nullable Timer timer;
    private long lastBeat;
    private long lastRound;
    private Optional<Long> slowAt = Optional.empty();
    private String scanError = "";
    private boolean looking;
    private boolean asking;
    /** Whether the next scan is deep; the first one is, as a fault may be older than this watch. */
    private boolean alert = true;

    private boolean running;

    /**
     * A watch over one runtime.
     *
     * @param runtime for the calls of this watch; may be the tracker itself
     * @param calls tracks all calls to the runtime
     * @param workload the sandboxes and containers, from memory
     * @param socket the runtime's socket, for messages
     */
    public CulpritWatch(
            ContainerRuntime runtime,
            CallTracker calls,
            Supplier<ContainerIndex> workload,
            ProcessTable processes,
            String socket,
            Loop loop,
            RandomGenerator random,
            CulpritListener listener) {
        this.runtime = runtime;
        this.calls = calls;
        this.workload = workload;
        this.processes = processes;
        this.socket = socket;
        this.loop = loop;
        this.random = random;
        this.listener = listener;
        this.neighbours = new ContainerProbes(runtime, loop, this::lookSoon);
        this.first = new FirstAnswers(runtime, loop);
        this.shims = new UnlistedShims(runtime, loop);
        this.lastBeat = loop.clock().nanoTime();
        this.lastRound = lastBeat - ROUND.toNanos();
    }

    /** Starts scanning; idempotent. */
    public void start() {
        if (!running) {
            running = true;
            schedule(Duration.ZERO);
        }
    }

    /** Stops; the result of a scan in progress is ignored. */
    public void stop() {
        running = false;
        neighbours.stop();
        if (timer != null) {
            timer.cancel();
        }
    }

    /** The culprits of the last scans; causes before effects. */
    public List<Culprit> culprits() {
        return book.culprits();
    }

    /** The node's condition {@value #CONDITION}; its message changes only when the culprits do. */
    public ConditionReport condition() {
        List<Culprit> now = book.consistent();
        if (now.isEmpty()) {
            return first.missing()
                    .map(missing -> new ConditionReport(
                            CONDITION,
                            "Unknown",
                            "RuntimeNotLookedAt",
                            "the container runtime has not been examined completely yet: " + missing))
                    .orElseGet(() -> new ConditionReport(
                            CONDITION,
                            "False",
                            "RuntimeResponsive",
                            "the container runtime answers and none of its processes hangs"));
        }
        String more = now.size() > NAMED ? "; and " + (now.size() - NAMED) + " more" : "";
        return new ConditionReport(
                CONDITION,
                "True",
                now.getFirst().reason(),
                now.stream().limit(NAMED).map(Culprit::summary).collect(Collectors.joining("; ")) + more);
    }

    /** The time of the last scan, monotonic ns. */
    public long lastBeat() {
        return lastBeat;
    }

    private void lookSoon() {
        if (running && !looking) {
            schedule(Duration.ZERO);
        }
    }

    private void schedule(Duration delay) {
        if (timer != null) {
            timer.cancel();
        }
        timer = loop.schedule(delay, this::look);
    }

    private void look() {
        if (looking) {
            return;
        }
        looking = true;
        lastBeat = loop.clock().nanoTime();
        askVersion();
        first.ask();
        ContainerIndex now = workload.get();
        // A round without containers would delay the first one after a start.
        if (lastBeat - lastRound >= ROUND.toNanos() && !now.running().isEmpty() && !down()) {
            lastRound = lastBeat;
            neighbours.ask(now.running());
        }
        CompletableFuture<List<ProcessInfo>> scan =
                Deadlines.within(loop, SCAN_DEADLINE, "a scan of the runtime's processes", scan(now.ids()));
        scan.whenComplete((found, error) -> loop.execute(() -> {
            looking = false;
            if (error == null) {
                first.scanned();
                seen = sightings.look(found, now.ids(), loop.clock().nanoTime());
                shims.look(seen, now.ids());
                scanError = "";
            } else if (!Failures.text(error).equals(scanError)) {
                // Earlier results stay: a failed scan clears no culprit.
                scanError = Failures.text(error);
                log.warn("Cannot scan the container runtime's processes: {}", scanError);
            }
            if (running) {
                try {
                    judge(now);
                } finally {
                    // A failure in one scan must not prevent the next.
                    schedule(nextLook());
                }
            }
        }));
    }

    private CompletableFuture<List<ProcessInfo>> scan(Set<String> ids) {
        try {
            return processes.scan(ids, alert);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void askVersion() {
        if (asking) {
            return;
        }
        asking = true;
        RuntimeCall.GetVersion call = new RuntimeCall.GetVersion();
        long start = loop.clock().nanoTime();
        runtime.call(call, VERSION_DEADLINE).whenComplete((value, error) -> {
            asking = false;
            Duration took = Duration.ofNanos(loop.clock().nanoTime() - start);
            CallOutcome answer =
                    error == null ? CallOutcome.of(call, start, took) : CallOutcome.failed(call, start, took, error);
            if (error == null) {
                first.version();
            }
            // Repeated failures of the same kind count from the first one.
            version = Optional.of(version.filter(
                            before -> before.kind() == answer.kind() && answer.kind() != CallOutcome.Kind.ANSWERED)
                    .map(before -> new CallOutcome(
                            call,
                            before.askedAt(),
                            Duration.ofNanos(loop.clock().nanoTime() - before.askedAt()),
                            answer.kind(),
                            answer.error()))
                    .orElse(answer));
        });
    }

    /** Whether the runtime answers no call at all, so that probing containers is pointless. */
    private boolean down() {
        return version.filter(answer -> !answer.answered()).isPresent();
    }

    private void judge(ContainerIndex now) {
        List<CallOutcome> answers = new ArrayList<>();
        version.ifPresent(answers::add);
        long time = loop.clock().nanoTime();
        for (OverdueCall trouble : excuses.without(calls.overdue(HangThresholds.AGENT.call()), calls.open(), time)) {
            // The outcomes of this watch's own calls are known more precisely.
            if (!(trouble.call() instanceof RuntimeCall.GetVersion)
                    && !(trouble.call() instanceof RuntimeCall.GetContainerStats)) {
                answers.add(CallOutcome.of(trouble, time));
            }
        }
        calls.refused().stream()
                // A single refusal can be a race with the end of a container.
                .filter(trouble -> trouble.tries() > 1 && !(trouble.call() instanceof RuntimeCall.GetVersion))
                .forEach(trouble -> answers.add(CallOutcome.of(trouble, time)));
        List<CallOutcome> probes = neighbours.answers();
        first.statistics(
                probes.stream()
                        .filter(CallOutcome::answered)
                        .flatMap(answer -> answer.call().containerId().stream())
                        .collect(Collectors.toSet()),
                now.running(),
                now.ids());
        // The tracker knows refused probes, with their history.
        probes.stream()
                .filter(answer -> !down() && answer.kind() != CallOutcome.Kind.REFUSED)
                .forEach(answers::add);
        // An older answer does not show that the runtime answers now.
        calls.newestAnswer()
                .filter(newest -> time - newest.endedAt()
                                < HangThresholds.AGENT.call().toNanos()
                        && answers.stream().noneMatch(known -> known.call().equals(newest.call())))
                .ifPresent(newest -> answers.add(CallOutcome.of(
                        newest.call(), newest.startedAt(), Duration.ofNanos(newest.endedAt() - newest.startedAt()))));
        if (isSlow()) {
            slowAt = Optional.of(time);
        }
        DiagnosisInput facts =
                DiagnosisInput.of(seen, answers, now, sightings.restarts(), shims.confirmed(), socket, loop.clock());
        update(
                Diagnosis.of(facts, HangThresholds.AGENT).stream()
                        .filter(culprit ->
                                !culprit.toldByCalls() || first.compared() && !isBacklog(culprit, facts.wall(), time))
                        .toList(),
                now);
        alert = !book.culprits().isEmpty()
                || answers.stream().anyMatch(answer -> !answer.answered())
                || seen.stream().anyMatch(CulpritWatch::suspicious);
        first.diagnosed(alert || shims.suspects() || seen.stream().anyMatch(this::isUnreaped));
    }

    /**
     * Whether it may be one of the calls that have accumulated while the runtime was slow. A runtime that answers its
     * version in time again has not yet answered all of them; those that hang are still open after the time in which any
     * call must be answered.
     */
    private boolean isBacklog(Culprit culprit, Instant wall, long time) {
        return !isSlow()
                && slowAt.filter(at -> time - at < HangThresholds.AGENT.call().toNanos())
                        .isPresent()
                && Duration.between(culprit.since(), wall).compareTo(BACKLOG) < 0
                && book.culprits().stream().noneMatch(known -> known.key().equals(culprit.key()));
    }

    /** Whether the runtime did not answer its version, or late. */
    private boolean isSlow() {
        return version.filter(answer -> !answer.answered() || answer.took().compareTo(SLOW_VERSION) >= 0)
                .isPresent();
    }

    /** Whether it is an ended process that its shim has not reaped yet. */
    private boolean isUnreaped(ObservedProcess process) {
        return process.info().state() == 'Z'
                && process.info().role() == ProcessRole.CONTAINER
                && seen.stream()
                        .anyMatch(parent -> parent.info().role() == ProcessRole.SHIM
                                && parent.info().ref().pid() == process.info().parent());
    }

    /**
     * The delay of the next scan: earlier than the period if a running command reaches its threshold before, because
     * some commands are killed shortly after.
     */
    private Duration nextLook() {
        Duration regular = Jitter.stretch(alert ? ALERT_PERIOD : PERIOD, JITTER, random);
        return seen.stream()
                .map(ObservedProcess::info)
                .filter(info -> info.role() == ProcessRole.CNI_PLUGIN || info.role() == ProcessRole.OCI_RUNTIME)
                .map(info -> HangThresholds.AGENT.command().minus(info.age()).plus(MOMENT))
                .filter(Duration::isPositive)
                .reduce(regular, (a, b) -> a.compareTo(b) < 0 ? a : b);
    }

    private static boolean suspicious(ObservedProcess process) {
        ProcessInfo info = process.info();
        // A container may stop its own processes, and a busy disk delays all processes for a moment.
        return (info.state() == 'T' || info.state() == 't')
                        && (info.role() == ProcessRole.RUNTIME || info.role() == ProcessRole.SHIM)
                || !process.stuck().isEmpty()
                || (info.role() == ProcessRole.CNI_PLUGIN || info.role() == ProcessRole.OCI_RUNTIME)
                        && info.age().compareTo(UNUSUAL) > 0;
    }

    private static boolean isBlamed(Subject subject, List<Culprit> culprits) {
        return culprits.stream().anyMatch(culprit -> culprit.subject().samePod(subject));
    }

    private void update(List<Culprit> shown, ContainerIndex workload) {
        long now = loop.clock().nanoTime();
        Set<String> known = book.culprits().stream().map(Culprit::key).collect(Collectors.toSet());
        List<Culprit> still =
                shown.stream().filter(culprit -> known.contains(culprit.key())).toList();
        CulpritRegistry.Changes changes = book.look(shown, now);
        if (!changes.missed().isEmpty()) {
            // Calls that another culprit still delays stay overdue.
            List<OverdueCall> over = calls.overdue(HangThresholds.AGENT.call()).stream()
                    .filter(trouble -> !isBlamed(Subject.of(trouble.call(), workload), still))
                    .toList();
            excuses.excuse(over, now);
            neighbours.forgetLate(workload.running().stream()
                    .filter(id -> isBlamed(Subject.of(new RuntimeCall.GetContainerStats(id), workload), still))
                    .collect(Collectors.toSet()));
        }
        for (Culprit culprit : changes.cleared()) {
            log.info("Resolved: {}", culprit.summary());
            listener.cleared(culprit);
        }
        for (Culprit culprit : changes.found()) {
            log.warn(
                    "{} ({}; remedy: {})",
                    culprit.summary(),
                    culprit.reason(),
                    culprit.remedy().text());
            listener.found(culprit);
        }
    }
}
