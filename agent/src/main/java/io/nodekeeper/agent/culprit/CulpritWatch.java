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
import io.nodekeeper.client.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Jitter;
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

/**
 * Looks for what hangs, all the time: at the runtime's processes, at the questions in the ledger that wait, and at how the
 * runtime answers for each container. It makes no call that changes anything, and applies no remedy. Confined to its loop.
 */
public final class CulpritWatch {
    /** The type of the node's condition. */
    public static final String CONDITION = "RuntimeDegraded";

    private static final Logger log = LoggerFactory.getLogger(CulpritWatch.class);
    /** Between two looks while nothing is wrong. Chosen: two of them and the patience stay below 20 s. */
    private static final Duration PERIOD = Duration.ofSeconds(5);
    /** And while something may be. Chosen: containerd gives a runc up after 10 s, which is to be seen between 8 and 10. */
    private static final Duration ALERT_PERIOD = Duration.ofMillis(1_500);
    /** What the ages of processes are rounded to, and more. */
    private static final Duration MOMENT = Duration.ofMillis(100);
    /** A command that lives longer may be one that hangs. Chosen. */
    private static final Duration UNUSUAL = Duration.ofSeconds(2);
    /** Between two rounds of questions about all containers. Chosen. */
    private static final Duration ROUND = Duration.ofSeconds(10);
    /** For a question that the runtime answers from memory. Chosen; below a period, so that questions do not pile up. */
    private static final Duration VERSION_DEADLINE = Duration.ofMillis(4_500);
    /** For a look at the processes, whoever looks. Chosen. */
    private static final Duration SCAN_DEADLINE = Duration.ofSeconds(3);
    /** Culprits that the condition's message names. Chosen. */
    private static final int NAMED = 3;

    private static final double JITTER = 0.1;

    private final ContainerRuntime runtime;
    private final CallTracker ledger;
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
    private List<ObservedProcess> seen = List.of();
    private Optional<CallOutcome> version = Optional.empty();
    private Loop.@Nullable Timer timer;
    private long lastBeat;
    private long lastRound;
    private String scanError = "";
    private boolean looked;
    private boolean looking;
    private boolean asking;
    private boolean alert;
    private boolean running;

    /**
     * A watch over one runtime.
     *
     * @param runtime where the watch asks its own questions; may be the ledger itself
     * @param ledger the calls of everybody else
     * @param workload what the runtime runs, from memory
     * @param socket where the runtime is, for people
     */
    public CulpritWatch(
            ContainerRuntime runtime,
            CallTracker ledger,
            Supplier<ContainerIndex> workload,
            ProcessTable processes,
            String socket,
            Loop loop,
            RandomGenerator random,
            CulpritListener listener) {
        this.runtime = runtime;
        this.ledger = ledger;
        this.workload = workload;
        this.processes = processes;
        this.socket = socket;
        this.loop = loop;
        this.random = random;
        this.listener = listener;
        this.neighbours = new ContainerProbes(runtime, loop, this::lookSoon);
        this.lastBeat = loop.clock().nanoTime();
        this.lastRound = lastBeat - ROUND.toNanos();
    }

    /** Begins; idempotent. */
    public void start() {
        if (!running) {
            running = true;
            schedule(Duration.ZERO);
        }
    }

    /** Ends; a look that is under way finds nothing more. */
    public void stop() {
        running = false;
        neighbours.stop();
        if (timer != null) {
            timer.cancel();
        }
    }

    /** What hangs now, or did a look ago; causes before effects. */
    public List<Culprit> culprits() {
        return book.culprits();
    }

    /** The node's condition {@value #CONDITION}; its message changes only when the culprits do. */
    public ConditionReport condition() {
        List<Culprit> now = culprits();
        if (now.isEmpty()) {
            return looked
                    ? new ConditionReport(
                            CONDITION,
                            "False",
                            "RuntimeResponsive",
                            "the container runtime answers and none of its processes hangs")
                    : new ConditionReport(
                            CONDITION, "Unknown", "RuntimeNotLookedAt", "the container runtime was not looked at yet");
        }
        String more = now.size() > NAMED ? "; and " + (now.size() - NAMED) + " more" : "";
        return new ConditionReport(
                CONDITION,
                "True",
                now.getFirst().reason(),
                now.stream().limit(NAMED).map(Culprit::summary).collect(Collectors.joining("; ")) + more);
    }

    /** When the watch was last seen to work, by the monotonic clock in ns. */
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
        ContainerIndex now = workload.get();
        if (lastBeat - lastRound >= ROUND.toNanos() && !down()) {
            lastRound = lastBeat;
            neighbours.ask(now.running());
        }
        CompletableFuture<List<ProcessInfo>> scan =
                Deadlines.within(loop, SCAN_DEADLINE, "a look at the runtime's processes", scan(now.ids()));
        scan.whenComplete((found, error) -> loop.execute(() -> {
            looking = false;
            if (error == null) {
                seen = sightings.look(found, now.ids(), loop.clock().nanoTime());
                scanError = "";
            } else if (!Failures.text(error).equals(scanError)) {
                // What was seen before stays: a look that failed clears nobody.
                scanError = Failures.text(error);
                log.warn("cannot look at the container runtime's processes: {}", scanError);
            }
            if (running) {
                try {
                    judge(now);
                } finally {
                    // Whatever goes wrong with one look, there is another.
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
            CallOutcome answer = error == null ? CallOutcome.of(call, start, took) : CallOutcome.failed(call, start, took, error);
            // One that fails in the same way as before has failed since then.
            version = Optional.of(version.filter(before -> before.kind() == answer.kind() && !answer.answered())
                    .map(before -> new CallOutcome(
                            call,
                            before.askedAt(),
                            Duration.ofNanos(loop.clock().nanoTime() - before.askedAt()),
                            answer.kind(),
                            answer.error()))
                    .orElse(answer));
        });
    }

    /** Whether the runtime answers nobody, so that asking for each container tells nothing. */
    private boolean down() {
        return version.filter(answer -> !answer.answered()).isPresent();
    }

    private void judge(ContainerIndex now) {
        looked = true;
        List<CallOutcome> answers = new ArrayList<>();
        version.ifPresent(answers::add);
        long time = loop.clock().nanoTime();
        for (OverdueCall trouble : excuses.without(ledger.troubles(HangThresholds.PATROL.call()), ledger.open(), time)) {
            // The watch's own questions are known better already.
            if (!(trouble.call() instanceof RuntimeCall.GetVersion)
                    && !(trouble.call() instanceof RuntimeCall.GetContainerStats)) {
                answers.add(CallOutcome.of(trouble, time));
            }
        }
        answers.addAll(down() ? List.of() : neighbours.answers());
        DiagnosisInput facts = DiagnosisInput.of(seen, answers, now, socket, loop.clock());
        update(Diagnosis.of(facts, HangThresholds.PATROL), now);
        alert = !book.culprits().isEmpty()
                || answers.stream().anyMatch(answer -> !answer.answered())
                || seen.stream().anyMatch(CulpritWatch::suspicious);
    }

    /** As soon as a command that runs now will have run for too long, if that comes first: some are given up shortly after. */
    private Duration nextLook() {
        Duration regular = Jitter.stretch(alert ? ALERT_PERIOD : PERIOD, JITTER, random);
        return seen.stream()
                .map(ObservedProcess::info)
                .filter(info -> info.role() == ProcessRole.CNI_PLUGIN || info.role() == ProcessRole.OCI_RUNTIME)
                .map(info -> HangThresholds.PATROL.command().minus(info.age()).plus(MOMENT))
                .filter(Duration::isPositive)
                .reduce(regular, (a, b) -> a.compareTo(b) < 0 ? a : b);
    }

    private static boolean suspicious(ObservedProcess process) {
        ProcessInfo info = process.info();
        // A container may stop its own processes, and a busy disk keeps everybody waiting for a moment.
        return info.state() == 'T' && (info.role() == ProcessRole.RUNTIME || info.role() == ProcessRole.SHIM)
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
            // What one of the others is still to blame for waits on.
            List<OverdueCall> over = ledger.troubles(HangThresholds.PATROL.call()).stream()
                    .filter(trouble -> !isBlamed(Subject.of(trouble.call(), workload), still))
                    .toList();
            excuses.excuse(over, now);
            neighbours.forgetLate(workload.running().stream()
                    .filter(id -> isBlamed(Subject.of(new RuntimeCall.GetContainerStats(id), workload), still))
                    .collect(Collectors.toSet()));
        }
        for (Culprit culprit : changes.cleared()) {
            log.info("no longer: {}", culprit.summary());
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
