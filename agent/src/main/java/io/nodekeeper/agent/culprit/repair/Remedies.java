package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.Signals;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Applies a remedy: exactly the action that it names, only to a process that is still the same, and then checks its
 * effect. Confined to its loop.
 */
final class Remedies {
    /**
     * The deadline of the removal of a sandbox: containerd waits up to 10 s for each task, and a pod has one to
     * three.
     */
    private static final Duration REMOVAL = Duration.ofSeconds(30);
    /** The deadline of a list of sandboxes, which the runtime answers from memory. */
    private static final Duration LIST = Duration.ofSeconds(5);
    /** How long an effect may take: the kernel needs up to seconds to free the memory of a large process. */
    private static final Duration EFFECT = Duration.ofSeconds(3);
    /** The time between two looks for an effect: most effects show within milliseconds. */
    private static final Duration BETWEEN = Duration.ofMillis(100);

    /** Runs an action that may block, on another thread and with a deadline; the result comes on the loop. */
    @FunctionalInterface
    interface Blocking {
        CompletableFuture<String> run(Callable<String> action);
    }

    /** What an applied remedy has changed. */
    record Applied(boolean worked, String detail) {}

    private final ContainerRuntime runtime;
    private final Host host;
    private final Blocking blocking;
    private final Loop loop;

    Remedies(ContainerRuntime runtime, Host host, Blocking blocking, Loop loop) {
        this.runtime = runtime;
        this.host = host;
        this.blocking = blocking;
        this.loop = loop;
    }

    /** Applies {@code remedy} and waits for its effect. Never fails: a failure is a result, too. */
    CompletableFuture<Applied> apply(Remedy remedy) {
        CompletableFuture<String> action = switch (remedy) {
            case Remedy.KillProcesses(List<ProcessRef> processes) ->
                blocking.run(() -> signal(processes, Signals.KILL, "sent SIGKILL to"));
            case Remedy.EndProcess end ->
                blocking.run(() -> signal(
                        List.of(end.process()),
                        end.kill() ? Signals.KILL : Signals.TERM,
                        end.kill() ? "sent SIGKILL to" : "sent SIGTERM to"));
            case Remedy.ContinueProcess(ProcessRef process) ->
                blocking.run(() -> signal(List.of(process), Signals.CONT, "sent SIGCONT to"));
            case Remedy.ThawCgroup thaw ->
                blocking.run(() -> {
                    host.write(thaw.file(), thaw.value());
                    return "wrote " + thaw.value();
                });
            case Remedy.RemoveSandbox(String id) ->
                runtime.call(new RuntimeCall.RemoveSandbox(id), REMOVAL)
                        .thenApply(done -> "the container runtime has removed it");
            case Remedy.Advice advice ->
                CompletableFuture.failedFuture(new IllegalArgumentException("only an operator can do it"));
        };
        long end = loop.clock().nanoTime() + EFFECT.toNanos();
        return action.thenCompose(done -> effect(remedy, done, end))
                .exceptionally(error -> new Applied(false, Failures.text(error)));
    }

    private String signal(List<ProcessRef> processes, int signal, String action) {
        List<String> done = new ArrayList<>();
        for (ProcessRef process : processes) {
            String name = "pid " + process.pid() + " (" + process.command() + ")";
            // Read immediately before the signal: the pid may belong to another process by now.
            Optional<String> refusal = refusal(process, signal);
            if (refusal.isPresent()) {
                done.add(name + " " + refusal.get());
                continue;
            }
            try {
                host.signal(process.pid(), signal);
                done.add(action + " " + name);
            } catch (IOException e) {
                done.add("could not signal " + name + ": " + e.getMessage());
            }
        }
        return String.join(", ", done);
    }

    private Optional<String> refusal(ProcessRef process, int signal) {
        Optional<Character> state = host.state(process);
        if (state.isEmpty()) {
            return Optional.of("is gone");
        }
        if (state.get() == 'Z' || state.get() == 'X') {
            return Optional.of("has ended already (state Z)");
        }
        if (state.get() == 'D' && signal != Signals.CONT) {
            return Optional.of("is in uninterruptible sleep (state D) and got no signal");
        }
        return host.lives(process) ? Optional.empty() : Optional.of("runs another program now and got no signal");
    }

    private CompletableFuture<Applied> effect(Remedy remedy, String done, long end) {
        return after(remedy).thenCompose(after -> {
            Optional<String> missing = Effect.missing(remedy, after);
            if (missing.isEmpty()) {
                return CompletableFuture.completedFuture(new Applied(true, done));
            }
            return loop.clock().nanoTime() >= end
                    ? CompletableFuture.completedFuture(new Applied(false, done + ", but " + missing.get()))
                    : Deadlines.sleep(loop, BETWEEN).thenCompose(slept -> effect(remedy, done, end));
        });
    }

    private CompletableFuture<Effect.After> after(Remedy remedy) {
        if (remedy instanceof Remedy.RemoveSandbox) {
            return runtime.call(new RuntimeCall.ListSandboxes(Optional.empty()), LIST)
                    .thenApply(sandboxes -> new Effect.After(
                            Map.of(),
                            Optional.empty(),
                            sandboxes.stream().map(PodSandbox::id).collect(Collectors.toSet())));
        }
        Map<ProcessRef, Character> alive = new HashMap<>();
        return blocking.run(() -> {
                    processes(remedy)
                            .forEach(process -> host.state(process).ifPresent(state -> alive.put(process, state)));
                    return remedy instanceof Remedy.ThawCgroup thaw
                            ? host.read(Effect.stateFile(thaw.file())).orElse("")
                            : "";
                })
                .thenApply(
                        text -> new Effect.After(alive, Optional.of(text).filter(some -> !some.isEmpty()), Set.of()));
    }

    private static List<ProcessRef> processes(Remedy remedy) {
        return switch (remedy) {
            case Remedy.KillProcesses(List<ProcessRef> processes) -> processes;
            case Remedy.EndProcess end -> List.of(end.process());
            case Remedy.ContinueProcess(ProcessRef process) -> List.of(process);
            case Remedy.ThawCgroup thaw -> List.of();
            case Remedy.RemoveSandbox removal -> List.of();
            case Remedy.Advice advice -> List.of();
        };
    }
}
