package io.nodekeeper.agent.pods.cpus;

import io.nodekeeper.agent.checkpoint.CheckpointFile;
import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.QosClass;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives processors to containers as a kubelet does with the policy {@code static}: containers of guaranteed pods that request a
 * whole number of processors have those for themselves, from their admission until the pod has ended; all others share the rest.
 * What containers have is on disk before they start. Confined to its loop.
 */
public final class CpuManager {
    private static final Logger log = LoggerFactory.getLogger(CpuManager.class);

    private final CpuTopology topology;
    private final CpuSet reserved;
    private final CheckpointFile file;
    private CpuSet shared;
    /** By UID and container. Each container has at least one processor, so there are no more than processors. */
    private final Map<String, Map<String, CpuSet>> entries = new TreeMap<>();

    /**
     * A manager that continues from {@code state}, which fits to the machine.
     *
     * @param reserved processors that are shared always
     */
    CpuManager(CpuTopology topology, CpuSet reserved, CpuState state, Path file, BlockingCalls disk, Loop loop) {
        this.topology = topology;
        this.reserved = reserved;
        this.file = new CheckpointFile(file, () -> state().json(), disk, loop);
        shared = state.shared();
        state.entries().forEach((uid, containers) -> entries.put(uid, new TreeMap<>(containers)));
    }

    private CpuState state() {
        return new CpuState(CpuStateFile.STATIC, shared, entries);
    }

    /** The processors that a container may use now. */
    public String cpus(String uid, String container) {
        return entries.getOrDefault(uid, Map.of())
                .getOrDefault(container, shared)
                .toString();
    }

    /**
     * Gives {@code pod} the processors that it needs for itself; it keeps those that it has. Fails with a {@link CpuException} or the
     * error of the write, and then the pod has none.
     */
    public CompletableFuture<Void> allocate(Pod pod) {
        if (QosClass.of(pod.spec()) != QosClass.GUARANTEED
                || pod.allContainers().stream().allMatch(container -> exclusive(container) == 0)) {
            return CompletableFuture.completedFuture(null);
        }
        try {
            give(pod);
        } catch (CpuException e) {
            release(pod.uid());
            return CompletableFuture.failedFuture(e);
        }
        return file.save().whenComplete((done, error) -> {
            if (error != null) {
                release(pod.uid());
            }
        });
    }

    /** Containers may have those of init containers that have ended by then. */
    private void give(Pod pod) {
        Map<String, CpuSet> own = entries.computeIfAbsent(pod.uid(), uid -> new TreeMap<>());
        int init = pod.initContainers().size();
        List<ContainerSpec> all = pod.allContainers();
        CpuSet reusable = CpuSet.EMPTY;
        for (int i = 0; i < all.size(); i++) {
            ContainerSpec container = all.get(i);
            int count = exclusive(container);
            if (count > 0 && !own.containsKey(container.name())) {
                CpuSet available = shared.minus(reserved).plus(reusable);
                CpuSet taken = CpuChoice.take(topology, available, count);
                own.put(container.name(), taken);
                shared = shared.minus(taken);
            }
            CpuSet has = own.getOrDefault(container.name(), CpuSet.EMPTY);
            boolean ends = i < init && !container.isSidecar();
            reusable = ends ? reusable.plus(has) : reusable.minus(has);
        }
    }

    /** How many processors a container of a guaranteed pod has for itself; 0 if it shares. */
    private static int exclusive(ContainerSpec container) {
        long millis = container.request("cpu").map(Quantity::toMillis).orElse(0L);
        return millis % 1_000 == 0 ? (int) Math.min(millis / 1_000, Integer.MAX_VALUE) : 0;
    }

    /** Frees what pods other than {@code uids} have. */
    public void retain(Set<String> uids) {
        List.copyOf(entries.keySet()).stream()
                .filter(uid -> !uids.contains(uid))
                .forEach(this::release);
    }

    /** Frees what a pod has. */
    public void release(String uid) {
        Map<String, CpuSet> freed = entries.remove(uid);
        if (freed != null) {
            freed.values().forEach(cpus -> shared = shared.plus(cpus));
            file.save().exceptionally(error -> {
                log.warn("The processors of containers cannot be written down: {}", Failures.text(error));
                return null;
            });
        }
    }
}
