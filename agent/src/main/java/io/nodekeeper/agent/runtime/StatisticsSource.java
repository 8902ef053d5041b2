package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.pleg.Inventory;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.stats.RunningPod;
import io.nodekeeper.agent.stats.RuntimeSource;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.ImageFilesystem;
import io.nodekeeper.cri.PodSandbox;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Gives the statistics what the agent already knows about the runtime. Confined to the agent's loop. */
final class StatisticsSource implements RuntimeSource {
    private final Supplier<Fact<ImageFilesystem>> images;
    private final ContainerRuntime calls;
    private final Pleg pleg;

    StatisticsSource(Supplier<Fact<ImageFilesystem>> images, ContainerRuntime calls, Pleg pleg) {
        this.images = images;
        this.calls = calls;
        this.pleg = pleg;
    }

    /** A pod whose sandbox was replaced appears once, with the sandbox that is ready. */
    @Override
    public List<RunningPod> pods() {
        Inventory inventory = pleg.inventory();
        Map<String, List<Container>> running = new HashMap<>();
        // By pod: they may be in an earlier sandbox of it.
        Map<String, List<RunningPod.EndedContainer>> ended = new HashMap<>();
        for (Container container : inventory.containers()) {
            if (container.podUid().isEmpty()) {
                continue;
            }
            if (container.state() == ContainerState.RUNNING) {
                running.computeIfAbsent(container.sandboxId(), sandbox -> new ArrayList<>())
                        .add(container);
            } else {
                ended.computeIfAbsent(container.podUid(), uid -> new ArrayList<>())
                        .add(new RunningPod.EndedContainer(container.id(), container.name()));
            }
        }
        return inventory.sandboxes().stream()
                .filter(sandbox -> sandbox.ready() && !sandbox.podUid().isEmpty())
                .map(sandbox -> pod(
                        sandbox,
                        running.getOrDefault(sandbox.id(), List.of()),
                        ended.getOrDefault(sandbox.podUid(), List.of())))
                .toList();
    }

    @Override
    public Fact<ImageFilesystem> images() {
        return images.get();
    }

    @Override
    public ContainerRuntime calls() {
        return calls;
    }

    private RunningPod pod(PodSandbox sandbox, List<Container> containers, List<RunningPod.EndedContainer> ended) {
        Map<String, Long> started = new HashMap<>();
        for (ContainerStatus status :
                pleg.cache().get(sandbox.podUid()).status().containers()) {
            started.put(status.id(), status.startedAtNanos());
        }
        return new RunningPod(
                sandbox.podUid(),
                sandbox.podName(),
                sandbox.podNamespace(),
                sandbox.id(),
                time(sandbox.createdAtNanos()),
                containers.stream()
                        .map(container -> new RunningPod.RunningContainer(
                                container.id(),
                                container.name(),
                                time(started.getOrDefault(container.id(), container.createdAtNanos()))))
                        .toList(),
                ended);
    }

    private static Optional<Instant> time(long nanos) {
        return nanos > 0 ? Optional.of(Instant.ofEpochSecond(0, nanos)) : Optional.empty();
    }
}
