package io.nodekeeper.agent.pods.cpus;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves running containers to the processors that they may use now: others got some for themselves, or gave some back. A call that
 * hangs delays only its container. Confined to its loop.
 */
public final class CpuReconciler {
    private static final Logger log = LoggerFactory.getLogger(CpuReconciler.class);

    private final CpuManager manager;
    private final ContainerRuntime runtime;
    private final Duration deadline;
    /** The processors that a container was moved to last, by its id; only of containers that run. */
    private final Map<String, String> applied = new HashMap<>();
    /** Ids of containers that are being moved. */
    private final Set<String> busy = new HashSet<>();

    /**
     * A reconciler that has not looked yet.
     *
     * @param runtime whose answers come on the loop
     * @param deadline of each call
     */
    public CpuReconciler(CpuManager manager, ContainerRuntime runtime, Duration deadline) {
        this.manager = manager;
        this.runtime = runtime;
        this.deadline = deadline;
    }

    /**
     * Moves those of {@code containers} that run and are not where they should be.
     *
     * @param pods the UIDs of the pods whose containers are moved; others are left alone
     */
    public void reconcile(Collection<Container> containers, Set<String> pods) {
        Map<String, Container> running = containers.stream()
                .filter(container -> container.state() == ContainerState.RUNNING && pods.contains(container.podUid()))
                .collect(Collectors.toMap(Container::id, container -> container, (a, b) -> b));
        applied.keySet().retainAll(running.keySet());
        running.values().forEach(this::reconcile);
    }

    private void reconcile(Container container) {
        String id = container.id();
        String wanted = manager.cpus(container.podUid(), container.name());
        if (wanted.isEmpty() || wanted.equals(applied.get(id)) || !busy.add(id)) {
            return;
        }
        runtime.call(new RuntimeCall.PinContainer(id, wanted), deadline).whenComplete((done, error) -> {
            busy.remove(id);
            if (error == null) {
                applied.put(id, wanted);
            } else {
                log.warn(
                        "Container {} of pod {} cannot be moved to the processors {}: {}",
                        container.name(),
                        container.podUid(),
                        wanted,
                        Failures.text(error));
            }
        });
    }
}
