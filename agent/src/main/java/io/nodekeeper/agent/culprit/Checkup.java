package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Diagnosis;
import io.nodekeeper.agent.culprit.diagnosis.DiagnosisInput;
import io.nodekeeper.agent.culprit.diagnosis.HangThresholds;
import io.nodekeeper.agent.culprit.diagnosis.ObservedProcess;
import io.nodekeeper.agent.culprit.history.ProcessHistory;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessTable;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeStatus;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Examines a runtime once, for {@code nodekeeper doctor}: makes every read call, scans its processes twice, and
 * diagnoses what hangs. It changes nothing. One instance serves one run, on its loop.
 */
public final class Checkup {
    /**
     * The times of a checkup.
     *
     * @param between the time between the two process scans
     * @param thresholds how long a state may last; those of stopped and stuck processes are below {@code between}
     */
    public record Times(Duration between, HangThresholds thresholds) {
        /** A pause of a healthy process is shorter than 4 s, and an operator waits this long. */
        public static final Times DOCTOR = new Times(Duration.ofSeconds(4), HangThresholds.DOCTOR);
    }

    /**
     * Calls in progress at once: few enough that they do not slow a healthy runtime, enough that hung ones leave room
     * for others.
     */
    private static final int PARALLEL = 8;

    /** The attempts of each scan: on a busy machine the first one can exceed its deadline. */
    private static final int SCAN_ATTEMPTS = 3;

    private final ContainerRuntime runtime;
    private final ProcessTable processes;
    private final String socket;
    private final Loop loop;
    private final Duration timeout;
    private final Times times;
    private final Consumer<String> progress;
    private final ProcessHistory sightings = new ProcessHistory();
    private final List<CallOutcome> answers = new ArrayList<>();
    private List<PodSandbox> sandboxes = List.of();
    private List<Container> containers = List.of();
    private ContainerIndex workload = ContainerIndex.NONE;
    private Optional<RuntimeVersion> version = Optional.empty();
    private Optional<RuntimeStatus> status = Optional.empty();
    private List<ProcessInfo> last = List.of();
    private List<ObservedProcess> seen = List.of();
    private DiagnosisInput.Unlisted unlisted = DiagnosisInput.Unlisted.NONE;
    private String processError = "";

    /**
     * A checkup.
     *
     * @param socket the runtime's socket, for messages
     * @param timeout the deadline of each call
     * @param progress receives progress messages
     */
    public Checkup(
            ContainerRuntime runtime,
            ProcessTable processes,
            String socket,
            Loop loop,
            Duration timeout,
            Times times,
            Consumer<String> progress) {
        this.runtime = runtime;
        this.processes = processes;
        this.socket = socket;
        this.loop = loop;
        this.timeout = timeout;
        this.times = times;
        this.progress = progress;
    }

    /** Runs the examination; never fails, because a failure is a finding. To be called on the loop. */
    public CompletableFuture<Findings> run() {
        progress.accept("querying the container runtime at " + socket);
        return CompletableFuture.allOf(
                        ask(new RuntimeCall.GetVersion(), value -> version = Optional.of(value)),
                        ask(new RuntimeCall.GetStatus(), value -> status = Optional.of(value)),
                        ask(new RuntimeCall.ListSandboxes(Optional.empty()), value -> sandboxes = value),
                        ask(new RuntimeCall.ListContainers(Optional.empty()), value -> containers = value))
                .thenCompose(done -> each());
    }

    /** Scans the processes once more and diagnoses with the answers of {@link #run}. To be called on the loop, after it. */
    public CompletableFuture<Findings> rescan() {
        processError = "";
        return look(workload.ids()).thenApply(done -> findings());
    }

    private CompletableFuture<Findings> each() {
        long sandboxesAt = loop.clock().nanoTime();
        workload = ContainerIndex.of(sandboxes, containers);
        progress.accept("querying each of " + sandboxes.size() + " sandboxes and " + containers.size()
                + " containers, and scanning the processes");
        List<RuntimeCall<?>> calls = new ArrayList<>();
        sandboxes.forEach(sandbox -> calls.add(new RuntimeCall.GetSandbox(sandbox.id())));
        containers.forEach(container -> calls.add(new RuntimeCall.GetContainer(container.id())));
        workload.running().forEach(id -> calls.add(new RuntimeCall.GetContainerStats(id)));
        // The pause begins after the first scan, which takes long on a busy machine.
        CompletableFuture<Void> looked =
                look(workload.ids()).thenCompose(done -> Deadlines.sleep(loop, times.between()));
        CompletableFuture<Void> asked = askAll(calls).thenCompose(done -> askFailedAgain());
        return CompletableFuture.allOf(looked, asked)
                .thenCompose(done -> {
                    progress.accept("scanning the processes a second time");
                    return CompletableFuture.allOf(
                            look(workload.ids()),
                            ask(new RuntimeCall.GetVersion(), value -> version = Optional.of(value)));
                })
                .thenCompose(done -> forgetEnded())
                .thenCompose(done -> compareLists(sandboxesAt))
                .thenApply(done -> findings());
    }

    private CompletableFuture<Void> askAll(List<RuntimeCall<?>> calls) {
        Queue<RuntimeCall<?>> waiting = new ArrayDeque<>(calls);
        return CompletableFuture.allOf(
                IntStream.range(0, PARALLEL).mapToObj(i -> askNext(waiting)).toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<Void> askNext(Queue<RuntimeCall<?>> waiting) {
        RuntimeCall<?> call = waiting.poll();
        return call == null
                ? CompletableFuture.completedFuture(null)
                : ask(call, value -> {}).thenCompose(done -> askNext(waiting));
    }

    /** Repeats calls about single objects that failed: one late answer may only be slow, and a remedy can cost a pod. */
    private CompletableFuture<Void> askFailedAgain() {
        List<RuntimeCall<?>> failed = failed().map(CallOutcome::call).collect(Collectors.toList());
        if (!failed.isEmpty()) {
            progress.accept("repeating calls that were not answered or failed: " + failed.size());
        }
        return askAll(failed);
    }

    /** Forgets failures about sandboxes and containers that have ended since the lists were read: these are no faults. */
    private CompletableFuture<Void> forgetEnded() {
        if (failed().allMatch(answer -> answer.kind() == CallOutcome.Kind.LATE)) {
            return CompletableFuture.completedFuture(null);
        }
        return CompletableFuture.allOf(
                        ask(new RuntimeCall.ListSandboxes(Optional.empty()), value -> sandboxes = value),
                        ask(new RuntimeCall.ListContainers(Optional.empty()), value -> containers = value))
                .thenRun(() -> {
                    ContainerIndex now = ContainerIndex.of(sandboxes, containers);
                    Set<String> running = Set.copyOf(now.running());
                    answers.removeAll(failed().filter(answer -> answer.kind() == CallOutcome.Kind.REFUSED)
                            .filter(answer -> answer.call() instanceof RuntimeCall.GetContainerStats(String id)
                                    ? !running.contains(id)
                                    : answer.call().containerId().or(answer.call()::sandboxId).stream()
                                            .noneMatch(now.ids()::contains))
                            .toList());
                });
    }

    /** The failed calls about single sandboxes and containers. */
    private Stream<CallOutcome> failed() {
        return answers.stream()
                .filter(answer -> answer.kind() != CallOutcome.Kind.ANSWERED
                        && (answer.call().sandboxId().isPresent()
                                || answer.call().containerId().isPresent()));
    }

    private <T> CompletableFuture<Void> ask(RuntimeCall<T> call, Consumer<T> use) {
        long start = loop.clock().nanoTime();
        CompletableFuture<Void> settled = new CompletableFuture<>();
        runtime.call(call, timeout).whenComplete((value, error) -> {
            Duration took = Duration.ofNanos(loop.clock().nanoTime() - start);
            if (error == null) {
                use.accept(value);
                note(CallOutcome.of(call, start, took));
            } else {
                note(CallOutcome.failed(call, start, took, error));
            }
            settled.complete(null);
        });
        return settled;
    }

    /** Records an outcome. A call that fails twice in the same way has failed since its first attempt. */
    private void note(CallOutcome answer) {
        Optional<CallOutcome> before =
                answers.stream().filter(old -> old.call().equals(answer.call())).findFirst();
        if (before.isEmpty()) {
            answers.add(answer);
            return;
        }
        boolean again = !answer.answered() && before.get().kind() == answer.kind();
        answers.set(
                answers.indexOf(before.get()),
                again
                        ? new CallOutcome(
                                answer.call(),
                                before.get().askedAt(),
                                Duration.ofNanos(
                                        loop.clock().nanoTime() - before.get().askedAt()),
                                answer.kind(),
                                answer.error())
                        : answer);
    }

    private CompletableFuture<Void> look(Set<String> ids) {
        return look(ids, SCAN_ATTEMPTS);
    }

    /** Repeats a scan that fails: a stopped process is found only by two scans, so a missing one must not look well. */
    private CompletableFuture<Void> look(Set<String> ids, int attempts) {
        CompletableFuture<Void> settled = new CompletableFuture<>();
        processes
                .scan(ids, true)
                .whenComplete((found, error) -> loop.execute(() -> {
                    if (error == null) {
                        last = found;
                        seen = sightings.look(found, ids, loop.clock().nanoTime());
                        settled.complete(null);
                    } else if (attempts > 1) {
                        look(ids, attempts - 1).whenComplete((done, failure) -> settled.complete(null));
                    } else {
                        processError = Failures.text(error);
                        settled.complete(null);
                    }
                }));
        return settled;
    }

    /** Asks for the sandboxes once more if shims serve sandboxes that the first list lacks. */
    private CompletableFuture<Void> compareLists(long firstAt) {
        Set<String> unknown = seen.stream()
                .filter(ObservedProcess::isPodShim)
                .flatMap(process -> process.info().ids().stream())
                .filter(id -> !workload.ids().contains(id))
                .collect(Collectors.toSet());
        if (unknown.isEmpty() || !answeredLists()) {
            return CompletableFuture.completedFuture(null);
        }
        return ask(new RuntimeCall.ListSandboxes(Optional.empty()), value -> {
            Duration apart = Duration.ofNanos(loop.clock().nanoTime() - firstAt);
            Set<String> listed = value.stream().map(PodSandbox::id).collect(Collectors.toSet());
            unlisted = new DiagnosisInput.Unlisted(
                    unknown.stream()
                            .filter(id -> !listed.contains(id))
                            .collect(Collectors.toMap(Function.identity(), id -> apart)),
                    workload.ids().isEmpty() && value.isEmpty() ? Optional.of(apart) : Optional.empty());
        });
    }

    private boolean answeredLists() {
        return answers.stream()
                        .filter(answer -> answer.kind() == CallOutcome.Kind.ANSWERED
                                && (answer.call() instanceof RuntimeCall.ListSandboxes
                                        || answer.call() instanceof RuntimeCall.ListContainers))
                        .count()
                == 2;
    }

    private Findings findings() {
        Map<Boolean, List<Culprit>> byLoad = diagnosed().stream().collect(Collectors.partitioningBy(Culprit::isLoad));
        return new Findings(
                socket,
                version,
                status,
                workload,
                List.copyOf(answers),
                last.stream()
                        .filter(info -> seen.stream().anyMatch(own -> own.info() == info))
                        .toList(),
                processError,
                byLoad.getOrDefault(false, List.of()),
                byLoad.getOrDefault(true, List.of()));
    }

    /** What hangs. A diagnosis that fails is a finding: what was asked and seen is shown all the same. */
    private List<Culprit> diagnosed() {
        try {
            return Diagnosis.of(
                    DiagnosisInput.of(seen, answers, workload, sightings.restarts(), unlisted, socket, loop.clock()),
                    times.thresholds());
        } catch (RuntimeException e) {
            processError = "the diagnosis failed: " + Failures.text(e);
            return List.of();
        }
    }
}
