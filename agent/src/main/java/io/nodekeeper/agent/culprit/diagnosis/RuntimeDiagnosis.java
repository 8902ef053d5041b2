package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Decides whether the runtime as a whole is the culprit: unreachable, restarting, throttled or silent. Pure. */
final class RuntimeDiagnosis {
    /** An answer from memory takes about 1 ms; 100 times that is slow. */
    private static final Duration SLOW = Duration.ofMillis(100);
    /**
     * The share of throttled periods from which a quota counts as the cause: in most periods the runtime had to wait.
     */
    private static final double THROTTLED = 0.5;
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
        this.process = index.first(ProcessRole.RUNTIME).map(ObservedProcess::info);
        this.version = facts.answers().stream()
                .filter(answer -> answer.call() instanceof RuntimeCall.GetVersion)
                .findFirst();
    }

    /** The culprit, if any; {@code diskHangs} explains a silent runtime. */
    Optional<Finding> of(boolean diskHangs) {
        Optional<Culprit> found = restarting().or(this::unreachable).or(this::throttled);
        if (found.isEmpty() && !diskHangs) {
            found = version.filter(late::contains)
                    .filter(answer -> !answeredSince(answer))
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
                                new Remedy.Advice(
                                        "look at the end of the runtime's log, e.g. journalctl -u containerd -n"
                                                + " 100, and end the cause before the next restart"))
                        .shownBy(List.of("its process was replaced " + facts.restarts() + " times in ten minutes")));
    }

    private Optional<Culprit> unreachable() {
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

    private Optional<Culprit> throttled() {
        if (version.filter(answer -> answer.took().compareTo(SLOW) >= 0).isEmpty() && late.isEmpty()) {
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

    private Culprit silent(CallOutcome answer) {
        Instant since = since(answer);
        return Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeHung",
                        "the container runtime at " + facts.socket()
                                + " accepts connections but has answered nothing since " + KubeTime.format(since),
                        since,
                        Remedy.RESTART_RUNTIME)
                .delays(answer.call().method())
                .shownBy(Examined.of(Subject.NODE, facts, index))
                .sure(Confidence.UNKNOWN);
    }

    /** Whether any call that was made after that one was answered. */
    private boolean answeredSince(CallOutcome first) {
        return facts.answers().stream().anyMatch(answer -> answer.answered() && answer.askedAt() - first.askedAt() > 0);
    }

    private Instant since(CallOutcome answer) {
        return facts.ago(Duration.ofNanos(facts.now() - answer.askedAt()));
    }
}
