package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/** Applies a remedy: exactly the action that it names, and only to a process that is still the same. */
public final class Remedies {
    /**
     * The deadline of the removal of a sandbox: containerd waits up to 10 s for each task, and a pod has one to
     * three.
     */
    private static final Duration REMOVAL = Duration.ofSeconds(30);

    /** Sends signals: {@link Signals#send}, except in tests. */
    @FunctionalInterface
    public interface Signaller {
        /** Sends {@code signal} to one process. */
        void send(int pid, int signal) throws IOException;
    }

    private final ContainerRuntime runtime;
    private final Predicate<ProcessRef> lives;
    private final Signaller signaller;

    /** {@code lives} returns whether exactly this process still runs; it blocks briefly at most. */
    public Remedies(ContainerRuntime runtime, Predicate<ProcessRef> lives, Signaller signaller) {
        this.runtime = runtime;
        this.lives = lives;
        this.signaller = signaller;
    }

    /** Applies {@code remedy} and returns one line for each action. Never fails: a failure is a line, too. */
    public CompletableFuture<List<String>> apply(Remedy remedy) {
        return switch (remedy) {
            case Remedy.KillProcesses(List<ProcessRef> processes) -> {
                List<String> done = new ArrayList<>();
                processes.forEach(process -> done.add(signal(process, Signals.KILL, "killed")));
                yield CompletableFuture.completedFuture(done);
            }
            case Remedy.ContinueProcess(ProcessRef process) ->
                CompletableFuture.completedFuture(List.of(signal(process, Signals.CONT, "continued")));
            case Remedy.ThawCgroup(Path file, String value) ->
                CompletableFuture.completedFuture(List.of(thaw(file, value)));
            case Remedy.RemoveSandbox(String id) ->
                runtime.call(new RuntimeCall.RemoveSandbox(id), REMOVAL)
                        .handle((done, error) -> List.of(
                                error == null
                                        ? "removed sandbox " + id
                                        : "could not remove sandbox " + id + ": " + Failures.text(error)));
            case Remedy.Advice(String text) -> CompletableFuture.completedFuture(List.of("left to you: " + text));
        };
    }

    private static String thaw(Path file, String value) {
        try {
            Files.writeString(file, value, StandardOpenOption.WRITE);
            return "thawed " + file.getParent();
        } catch (IOException e) {
            return "could not write " + value + " to " + file + ": " + Failures.text(e);
        }
    }

    private String signal(ProcessRef process, int signal, String done) {
        String who = "pid " + process.pid() + " (" + process.command() + ")";
        if (!lives.test(process)) {
            return "nothing to do: " + who + " is gone";
        }
        try {
            signaller.send(process.pid(), signal);
            return done + " " + who;
        } catch (IOException e) {
            return "could not reach " + who + ": " + e.getMessage();
        }
    }
}
