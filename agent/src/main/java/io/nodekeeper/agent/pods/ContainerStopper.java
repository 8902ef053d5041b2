package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.PodCommand;
import io.nodekeeper.agent.pods.turns.PodTurns;
import io.nodekeeper.agent.pods.turns.StopTurns;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Ends containers: first the hook of each, then, for a sidecar, a wait for the containers that need it, then the runtime's stop
 * with what is left of the grace period. Commands of hooks, and stops, wait for their turn ({@link StopTurns}), and the grace period goes on
 * meanwhile. Confined to the loop of its ports.
 */
final class ContainerStopper {
    /** The reason of a stop that was given up, because the containers have less time than it would take. */
    static final String SHORTENED = "Shortened";

    /** The kubelet's least time between the signal to end and the kill. */
    private static final Duration LEAST = Duration.ofSeconds(2);

    private final PodPorts ports;
    private final PodEvents events;
    private final Hooks hooks;
    /** A pod has one stop under way at a time. */
    private Optional<Stop> newest = Optional.empty();

    /**
     * A stop of containers.
     *
     * @param until when they should have ended, monotonic ns
     * @param end completes with the stop; what waits for the containers ends with it
     */
    private record Stop(long until, CompletableFuture<Void> end) {}

    ContainerStopper(PodPorts ports, Hooks hooks) {
        this.ports = ports;
        this.hooks = hooks;
        this.events = new PodEvents(ports.events());
    }

    /** Ends all containers of {@code kill}; completes when all have ended, or one could not be ended. */
    CompletableFuture<Void> stop(Pod pod, PodCommand.KillContainers kill, String podIp) {
        Map<String, PodCommand.Kill> kills = new HashMap<>();
        kill.containers().forEach(each -> kills.put(each.name(), each));
        CompletableFuture<Void> end = new CompletableFuture<>();
        newest = Optional.of(
                new Stop(ports.loop().clock().nanoTime() + kill.grace().toNanos(), end));
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        Map<String, ContainerSpec> specs = pod.containersByName();
        List<ContainerSpec> sidecars =
                pod.initContainers().stream().filter(ContainerSpec::isSidecar).toList();
        Set<String> late = sidecars.stream().map(ContainerSpec::name).collect(Collectors.toSet());
        for (PodCommand.Kill each : kill.containers()) {
            if (!late.contains(each.name())) {
                Optional<ContainerSpec> spec = Optional.ofNullable(specs.get(each.name()));
                ends.add(stop(pod, spec, each, kill.grace(), podIp, CompletableFuture.completedFuture(null), end));
            }
        }
        // A container that could not be ended keeps no sidecar alive.
        CompletableFuture<Void> turn = all(ends).exceptionally(error -> null);
        for (ContainerSpec sidecar : sidecars.reversed()) {
            PodCommand.Kill each = kills.get(sidecar.name());
            if (each != null) {
                CompletableFuture<Void> own = stop(pod, Optional.of(sidecar), each, kill.grace(), podIp, turn, end);
                ends.add(own);
                turn = all(List.of(turn, own)).exceptionally(error -> null);
            }
        }
        all(ends).whenComplete((done, error) -> {
            if (error == null) {
                end.complete(null);
            } else {
                end.completeExceptionally(error);
            }
        });
        return end;
    }

    /** Gives up the stop under way if it would take longer than {@code grace}. Its next one begins with the hooks, as a kubelet's. */
    void shorten(Duration grace) {
        long now = ports.loop().clock().nanoTime();
        newest.filter(stop -> stop.until() - now > grace.toNanos())
                .ifPresent(stop -> stop.end()
                        .completeExceptionally(new CommandFailure(SHORTENED, "the pod has less time to end")));
    }

    private static CompletableFuture<Void> all(List<CompletableFuture<Void>> ends) {
        return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<Void> stop(
            Pod pod,
            Optional<ContainerSpec> container,
            PodCommand.Kill kill,
            Duration grace,
            String podIp,
            CompletableFuture<Void> turn,
            CompletableFuture<Void> end) {
        events.normal(pod, "Killing", kill.message());
        Clock clock = ports.loop().clock();
        long start = clock.nanoTime();
        CompletableFuture<Void> hook = container
                .map(spec -> hook(pod, spec, kill.id(), podIp, grace, start))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
        end.whenComplete((done, error) -> hook.cancel(true));
        return hook.thenCompose(done -> turn.isDone()
                        ? turn
                        : Deadlines.within(
                                        ports.loop(),
                                        left(grace, start, clock, Duration.ZERO),
                                        "the end of other containers",
                                        turn.copy())
                                .exceptionally(late -> null))
                .thenCompose(done -> {
                    if (end.isDone()) {
                        return end;
                    }
                    CompletableFuture<RuntimeCall.Done> call = ports.stops()
                            .stops()
                            .run(pod.uid(), () -> {
                                Duration left = left(grace, start, clock, LEAST);
                                return ports.runtime()
                                        .call(
                                                new RuntimeCall.StopContainer(kill.id(), left),
                                                left.plus(ports.callDeadline()));
                            });
                    end.whenComplete((ended, error) -> call.cancel(true));
                    return ignoringAbsence(call).thenAccept(ended -> {});
                });
    }

    /** The hook of a container. A command whose turn has not come when the grace period is over is not run. Fails only if it is cancelled. */
    private CompletableFuture<Void> hook(
            Pod pod, ContainerSpec container, String id, String podIp, Duration grace, long start) {
        if (container.preStop().filter(Action.Exec.class::isInstance).isEmpty()) {
            return hooks.preStop(pod, container, id, podIp, grace);
        }
        Clock clock = ports.loop().clock();
        PodTurns.Turn<Void> turn = ports.stops()
                .hooks()
                .take(
                        pod.uid(),
                        () -> hooks.preStop(pod, container, id, podIp, left(grace, start, clock, Duration.ZERO)));
        CommandFailure late = new CommandFailure(
                "FailedPreStopHook", "PreStopHook failed: no time was left after those of other containers");
        Loop.Timer over = ports.loop().schedule(grace, () -> turn.abandon(late));
        CompletableFuture<Void> ended = turn.answer().exceptionallyCompose(error -> {
            if (error == late) {
                events.warning(pod, late.reason(), Failures.text(late));
                return CompletableFuture.completedFuture(null);
            }
            return CompletableFuture.failedFuture(error);
        });
        ended.whenComplete((done, error) -> {
            over.cancel();
            turn.answer().cancel(true);
        });
        return ended;
    }

    private static Duration left(Duration grace, long start, Clock clock, Duration least) {
        Duration left = grace.minusNanos(clock.nanoTime() - start);
        return left.compareTo(least) < 0 ? least : left;
    }

    /** The same answer; that there is no such thing any more is as good as its end. */
    static CompletableFuture<RuntimeCall.Done> ignoringAbsence(CompletableFuture<RuntimeCall.Done> answer) {
        return answer.exceptionallyCompose(
                error -> RuntimeCallException.isCode(Failures.cause(error), RuntimeCallException.Code.NOT_FOUND)
                        ? CompletableFuture.completedFuture(RuntimeCall.Done.DONE)
                        : CompletableFuture.failedFuture(error));
    }
}
