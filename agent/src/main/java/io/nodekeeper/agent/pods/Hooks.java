package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.probes.ProbeResult;
import io.nodekeeper.agent.pods.probes.Prober;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Runs the hooks of one pod's containers. Confined to the loop of its ports. */
final class Hooks {
    /** Kubernetes has no limit for a hook after the start; this one is as long as that of a pull. */
    static final Duration LONGEST = Duration.ofMinutes(15);

    private final PodPorts ports;
    private final PodEvents events;
    /** The pod starts one container at a time. */
    private Optional<CompletableFuture<ProbeResult>> starting = Optional.empty();

    private final PodStarts starts;

    Hooks(PodPorts ports, PodStarts starts) {
        this.ports = ports;
        this.starts = starts;
        this.events = new PodEvents(ports.events());
    }

    /** Runs the hook after the start of a container, if it has one; false if it failed. Never fails. */
    CompletableFuture<Boolean> postStart(Pod pod, ContainerSpec container, String id, String podIp) {
        Optional<Action> action =
                container.postStart().map(hook -> hook instanceof Action.Exec command ? command.atStart() : hook);
        // A container that was started while its pod must end needs no hook but that before its end.
        if (action.isEmpty() || starts.isOver()) {
            return CompletableFuture.completedFuture(true);
        }
        CompletableFuture<ProbeResult> run =
                ports.probes().actions().run(new Prober.Target(id, container, podIp), action.get(), LONGEST);
        starting = Optional.of(run);
        return run.handle((result, cancelled) -> {
            starting = Optional.empty();
            boolean succeeded = cancelled != null || isSuccess(action.get(), result);
            if (!succeeded) {
                events.warning(pod, "FailedPostStartHook", "PostStartHook failed" + detail(result));
            }
            return succeeded;
        });
    }

    /** Gives up the hook after a start, because the pod must end. */
    void abandonPostStart() {
        starting.ifPresent(run -> run.cancel(true));
    }

    /** Runs the hook before the end of a container, if it has one, for {@code grace} at most. Fails only if it is cancelled. */
    CompletableFuture<Void> preStop(Pod pod, ContainerSpec container, String id, String podIp, Duration grace) {
        Optional<Action> action = container.preStop();
        if (action.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<ProbeResult> run =
                ports.probes().actions().run(new Prober.Target(id, container, podIp), action.get(), grace);
        CompletableFuture<Void> ended = run.handle((result, cancelled) -> {
            if (cancelled == null && !isSuccess(action.get(), result)) {
                events.warning(pod, "FailedPreStopHook", "PreStopHook failed" + detail(result));
            }
            return null;
        });
        ended.whenComplete((done, error) -> run.cancel(true));
        return ended;
    }

    /** As in Kubernetes, any answer to a request will do. */
    private static boolean isSuccess(Action action, ProbeResult result) {
        return result.isSuccess() || action instanceof Action.Http && result.answered();
    }

    private static String detail(ProbeResult result) {
        String text = result.output().strip();
        return text.isEmpty() ? "" : ": " + text.substring(0, Math.min(text.length(), 900));
    }
}
