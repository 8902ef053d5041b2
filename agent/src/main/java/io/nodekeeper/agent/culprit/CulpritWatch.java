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
import io.nodekeeper.agent.culprit.diagnosis.Subject;
import io.nodekeeper.agent.culprit.history.ProcessHistory;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.ProcessTable;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
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
import org.slf4j.event.Level;

/**
 * Finds continuously what makes the runtime hang, from scans of its processes, overdue calls, and probes of each
 * container. It makes no call that changes anything and applies no remedy. Confined to its loop.
 */
public final class CulpritWatch {
    private static final Logger log = LoggerFactory.getLogger(CulpritWatch.class);
    /** The tolerance when ages are compared: more than the precision of process ages (10 ms). */
    private static final Duration MOMENT = Duration.ofMillis(100);
    /**
     * The period of probes of all containers: a hung one is found within 10 s plus the probe's deadline, below the
     * bound of 20 s.
     */
    private static final Duration ROUND = Duration.ofSeconds(10);
    /**
     * The deadline of a scan, for any implementation of the process table; above that of {@code LinuxProcesses}
     * itself.
     */
    private static final Duration SCAN_DEADLINE = Duration.ofSeconds(3);
    /** The scans in a row that look deep before a call is called unexplained: what lasts shows in two of them. */
    private static final int DEEP = 2;
    /** After so long without a scan, a late call is told all the same: the bound within which a culprit is reported. */
    private static final Duration BLIND = Duration.ofSeconds(20);

    /** The most processes that are looked at between two scans: more culprits than an operator reads. */
    private static final int FOLLOWED = 32;
    /** Longer than every pause between scans. */
    private static final Duration NEVER = Duration.ofDays(1);

    private final CallTracker calls;
    private final Supplier<ContainerIndex> workload;
    private final ProcessTable processes;
    private final Loop loop;
    private final ScanPace pace;
    private final CulpritListener listener;
    private final String socket;
    private final ContainerProbes neighbours;
    private final VersionProbe version;
    private final ProcessHistory sightings = new ProcessHistory();
    private final CulpritRegistry book = new CulpritRegistry();
    private final ResolvedCalls excuses = new ResolvedCalls();
    private final FirstAnswers first;
    private final UnlistedShims shims;
    private List<ObservedProcess> seen = List.of();
    private Loop.@Nullable Timer timer;
    private long lastBeat;
    private long lastRound;
    /** The end of the last scan that succeeded, and how many deep ones in a row it ends. */
    private long scannedAt;

    private int deepScans;
    private String scanError = "";
    /** Why the last diagnosis failed; empty if it did not. */
    private String failure = "";

    private boolean looking;
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
        this.calls = calls;
        this.workload = workload;
        this.processes = processes;
        this.socket = socket;
        this.loop = loop;
        this.listener = listener;
        this.neighbours = new ContainerProbes(runtime, loop, this::lookSoon);
        this.version = new VersionProbe(runtime, loop, this::hurry);
        this.first = new FirstAnswers(runtime, loop);
        this.shims = new UnlistedShims(runtime, loop);
        this.lastBeat = loop.clock().nanoTime();
        this.lastRound = lastBeat - ROUND.toNanos();
        this.scannedAt = lastBeat;
        this.pace = new ScanPace(random, lastBeat);
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
        version.closely(false);
        if (timer != null) {
            timer.cancel();
        }
    }

    /** The culprits of the last scans; causes before effects. */
    public List<Culprit> culprits() {
        return book.culprits().stream().filter(culprit -> !culprit.isLoad()).toList();
    }

    /** The loads that may explain late calls now; they accuse nothing. */
    public List<Culprit> loads() {
        return book.loads();
    }

    /** The node's condition {@value DegradedCondition#TYPE}. */
    public ConditionReport condition() {
        return DegradedCondition.of(book.accusations(), book.loads(), first.missing(), failure);
    }

    /** When it last looked whether something is late, monotonic ns. */
    public long lastBeat() {
        return lastBeat;
    }

    /** Something is late: if that was not known, the next scan is deep and comes at once. */
    private void hurry() {
        pace.compare(lateCalls(), loop.clock().nanoTime());
        wake();
    }

    private void lookSoon() {
        pace.hurry(loop.clock().nanoTime());
        wake();
    }

    /** Scans now if a scan is due. */
    private void wake() {
        if (running && !looking && pace.isDue(loop.clock().nanoTime())) {
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
        lastBeat = loop.clock().nanoTime();
        ContainerIndex now = workload.get();
        ask(now);
        if (pace.isDeep()) {
            pace.compare(lateCalls(), lastBeat);
        }
        if (pace.isDue(lastBeat)) {
            scan(now);
        } else {
            follow();
            schedule(pace.pause(lastBeat));
        }
    }

    /** Asks the runtime what shows whether it answers. */
    private void ask(ContainerIndex now) {
        version.closely(pace.isDeep());
        version.ask();
        first.ask();
        // A round without containers would delay the first one after a start.
        if (lastBeat - lastRound >= ROUND.toNanos() && !now.running().isEmpty() && !version.isDown()) {
            lastRound = lastBeat;
            neighbours.ask(now.running());
            loop.schedule(Signs.UNUSUAL, () -> {
                if (neighbours.isLate(Signs.UNUSUAL)) {
                    hurry();
                }
            });
        }
    }

    /** Between two scans: a scan is due as soon as the process of a culprit has ended or is continued. */
    private void follow() {
        Set<String> culprits = book.culprits().stream()
                .flatMap(culprit -> culprit.process().stream())
                .map(ProcessRef::identity)
                .collect(Collectors.toSet());
        List<ProcessInfo> known = seen.stream()
                .map(ObservedProcess::info)
                .filter(info -> culprits.contains(info.ref().identity()))
                .limit(FOLLOWED)
                .toList();
        if (!known.isEmpty()) {
            processes
                    .changed(known)
                    .whenComplete((changed, error) -> loop.execute(() -> {
                        // Without an answer the next scan comes when it is due.
                        if (error == null && changed && !looking) {
                            lookSoon();
                        }
                    }));
        }
    }

    private Set<String> lateCalls() {
        return Signs.ofCalls(calls, version.newest(), loop.clock().nanoTime());
    }

    private void scan(ContainerIndex now) {
        looking = true;
        pace.begun(lastBeat);
        boolean deep = pace.isDeep();
        CompletableFuture<List<ProcessInfo>> scan = Deadlines.within(
                loop,
                SCAN_DEADLINE,
                "a scan of the runtime's processes",
                Futures.start(() -> processes.scan(now.ids(), deep)));
        scan.whenComplete((found, error) -> loop.execute(() -> {
            looking = false;
            try {
                if (error == null) {
                    note(found, now, deep);
                } else if (!Failures.text(error).equals(scanError)) {
                    // Earlier results stay: a failed scan clears no culprit.
                    scanError = Failures.text(error);
                    log.warn("Cannot scan the container runtime's processes: {}", scanError);
                }
                if (running) {
                    judge(now);
                }
                failure = "";
            } catch (RuntimeException e) {
                fails(e);
            }
            if (running) {
                // A failure in one scan must not prevent the next.
                schedule(pace.pause(loop.clock().nanoTime()));
            }
        }));
    }

    private void note(List<ProcessInfo> found, ContainerIndex now, boolean deep) {
        first.scanned();
        scannedAt = loop.clock().nanoTime();
        deepScans = deep ? deepScans + 1 : 0;
        seen = sightings.look(found, now.ids(), loop.clock().nanoTime());
        shims.look(seen, now.ids());
        scanError = "";
    }

    /** Nothing is known then: earlier culprits may be gone, and there may be others. */
    private void fails(RuntimeException error) {
        String text = Failures.text(error);
        if (!text.equals(failure)) {
            log.error("The container runtime cannot be diagnosed", error);
        }
        failure = text;
    }

    private void judge(ContainerIndex now) {
        List<CallOutcome> answers = new ArrayList<>();
        version.newest().ifPresent(answers::add);
        if (version.wasAnswered()) {
            first.version();
        }
        long time = loop.clock().nanoTime();
        for (OverdueCall trouble : excuses.without(calls.overdue(HangThresholds.AGENT.call()), calls.open(), time)) {
            // The outcomes of this watch's own calls are known more precisely.
            if (!(trouble.call() instanceof RuntimeCall.GetVersion)
                    && !(trouble.call() instanceof RuntimeCall.GetContainerStats)) {
                answers.add(CallOutcome.of(trouble, time).proven(isProven(trouble, time, now)));
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
                .filter(answer -> !version.isDown() && answer.kind() != CallOutcome.Kind.REFUSED)
                .forEach(answer -> answers.add(answer.proven(isProven(answer, now))));
        // An older answer does not show that the runtime answers now.
        calls.newestAnswer()
                .filter(newest -> time - newest.endedAt()
                                < HangThresholds.AGENT.call().toNanos()
                        && answers.stream().noneMatch(known -> known.call().equals(newest.call())))
                .ifPresent(newest -> answers.add(CallOutcome.of(
                        newest.call(), newest.startedAt(), Duration.ofNanos(newest.endedAt() - newest.startedAt()))));
        DiagnosisInput facts =
                DiagnosisInput.of(seen, answers, now, sightings.restarts(), shims.confirmed(), socket, loop.clock());
        List<Culprit> shown = Diagnosis.of(facts, HangThresholds.AGENT).stream()
                .filter(culprit -> first.isSeen())
                .filter(culprit -> !culprit.toldByCalls() || isKnown(culprit) || first.compared() && isExamined(time))
                .toList();
        update(shown, now);
        boolean suspicious = !book.culprits().isEmpty()
                || answers.stream().anyMatch(answer -> !answer.answered())
                || seen.stream().anyMatch(Signs::isSuspicious);
        boolean alert = suspicious
                || calls.open().stream().anyMatch(open -> Signs.isLate(open, time))
                || neighbours.isLate(Signs.UNUSUAL);
        pace.scanned(
                new ScanPace.Picture(
                        alert ? trouble(shown) : ScanPace.Trouble.NONE,
                        lateCalls(),
                        Signs.ofProcesses(shown, seen),
                        soonest()),
                time);
        first.diagnosed(suspicious || shims.suspects() || seen.stream().anyMatch(this::isUnreaped));
    }

    /** What the last scan leaves open; load is a cause that ends without another change. */
    private static ScanPace.Trouble trouble(List<Culprit> shown) {
        return shown.isEmpty() || shown.stream().anyMatch(Culprit::isLoad)
                ? ScanPace.Trouble.OPEN
                : ScanPace.Trouble.KNOWN;
    }

    /** Whether the last scans looked deep, so that what explains a late call would have been seen; or none succeeds. */
    private boolean isExamined(long time) {
        return deepScans >= DEEP || time - scannedAt >= BLIND.toNanos();
    }

    private boolean isKnown(Culprit culprit) {
        return book.culprits().stream().anyMatch(known -> known.key().equals(culprit.key()));
    }

    /** Whether an overdue call waited long enough while the runtime answered others, in its last or its open attempt. */
    private boolean isProven(OverdueCall trouble, long time, ContainerIndex workload) {
        return version.proves(trouble.attemptAt(), trouble.attemptEnd(), trouble.tries() > 0)
                || calls.open().stream()
                        .anyMatch(open ->
                                open.call().equals(trouble.call()) && version.proves(open.startedAt(), time, false))
                || isTold(trouble.call(), workload);
    }

    /** The same for the probe of a container. */
    private boolean isProven(CallOutcome probe, ContainerIndex workload) {
        long end = probe.askedAt() + probe.took().toNanos();
        return version.proves(end - ContainerProbes.DEADLINE.toNanos(), end, true) || isTold(probe.call(), workload);
    }

    /** Whether a call is already told as hung: the proof was seen earlier. */
    private boolean isTold(RuntimeCall<?> call, ContainerIndex workload) {
        Subject subject = Subject.of(call, workload);
        return book.culprits().stream()
                .filter(Culprit::isUnanswered)
                .anyMatch(told -> subject.isNode()
                        ? told.method().equals(Optional.of(call.method()))
                        : told.subject().samePod(subject));
    }

    /** Whether it is an ended process that its shim has not reaped yet. */
    private boolean isUnreaped(ObservedProcess process) {
        return process.info().state() == 'Z'
                && process.info().role() == ProcessRole.CONTAINER
                && seen.stream()
                        .anyMatch(parent -> parent.info().role() == ProcessRole.SHIM
                                && parent.info().ref().pid() == process.info().parent());
    }

    /** The time until a running command reaches its threshold: some commands are killed shortly after. */
    private Duration soonest() {
        return seen.stream()
                .map(ObservedProcess::info)
                .filter(info -> info.role() == ProcessRole.CNI_PLUGIN || info.role() == ProcessRole.OCI_RUNTIME)
                .map(info -> HangThresholds.AGENT.command().minus(info.age()).plus(MOMENT))
                .filter(Duration::isPositive)
                .reduce(NEVER, (a, b) -> a.compareTo(b) < 0 ? a : b);
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
            log.atLevel(culprit.isLoad() ? Level.INFO : Level.WARN)
                    .log(
                            "{} ({}; remedy: {})",
                            culprit.summary(),
                            culprit.reason(),
                            culprit.remedy().text());
            listener.found(culprit);
        }
    }
}
