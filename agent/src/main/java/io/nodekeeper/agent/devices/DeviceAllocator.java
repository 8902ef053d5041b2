package io.nodekeeper.agent.devices;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.cri.devices.DeviceGrant;
import io.nodekeeper.cri.devices.DevicePlugin;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * Gives devices to containers, one resource after another, as a kubelet without a topology policy does: first those of init
 * containers that have ended by then, then those that the plugin prefers, then any. Confined to the loop of its manager.
 */
final class DeviceAllocator {
    private final Map<String, DeviceResource> resources;
    private final PodDevices devices;

    /** Shares the state of its manager. */
    DeviceAllocator(Map<String, DeviceResource> resources, PodDevices devices) {
        this.resources = resources;
        this.devices = devices;
    }

    boolean isDevice(String resource) {
        return resources.containsKey(resource) || devices.has(resource);
    }

    boolean needsDevices(ContainerSpec container) {
        return !needs(container).isEmpty();
    }

    /** Whether the container has all devices that it needs. */
    boolean isComplete(Pod pod, ContainerSpec container) {
        return needs(container).keySet().stream()
                .allMatch(resource ->
                        devices.get(pod.uid(), container.name(), resource).isPresent());
    }

    /** How many devices of each resource {@code container} limits. */
    private Map<String, Integer> needs(ContainerSpec container) {
        Map<String, Integer> needs = new TreeMap<>();
        for (String resource : container.limited()) {
            long count = container.limit(resource).map(Quantity::toLong).orElse(0L);
            if (count > 0 && isDevice(resource)) {
                needs.put(resource, (int) Math.min(count, Integer.MAX_VALUE));
            }
        }
        return needs;
    }

    /** Gives devices to all containers of {@code pod}. */
    CompletableFuture<Void> allocate(Pod pod) {
        Map<String, SortedSet<String>> reusable = new HashMap<>();
        List<ContainerSpec> init = pod.initContainers();
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        for (ContainerSpec container : pod.allContainers()) {
            boolean ends = init.contains(container) && !container.isSidecar();
            done = done.thenCompose(before -> allocate(pod, container, reusable))
                    .thenAccept(all -> devices.of(pod.uid(), container.name()).forEach(allocation -> {
                        SortedSet<String> free =
                                reusable.computeIfAbsent(allocation.resource(), key -> new TreeSet<>());
                        if (ends) {
                            free.addAll(allocation.ids());
                        } else {
                            free.removeAll(allocation.ids());
                        }
                    }));
        }
        return done;
    }

    /** Gives devices to one container. */
    CompletableFuture<Void> allocate(Pod pod, ContainerSpec container) {
        return allocate(pod, container, Map.of());
    }

    private CompletableFuture<Void> allocate(
            Pod pod, ContainerSpec container, Map<String, SortedSet<String>> reusable) {
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        for (Map.Entry<String, Integer> need : needs(container).entrySet()) {
            done = done.thenCompose(before -> allocate(
                    pod.uid(),
                    container.name(),
                    need.getKey(),
                    need.getValue(),
                    reusable.getOrDefault(need.getKey(), new TreeSet<>())));
        }
        return done;
    }

    private CompletableFuture<Void> allocate(
            String uid, String container, String resource, int needed, SortedSet<String> reusable) {
        Set<String> before =
                devices.get(uid, container, resource).map(Allocation::ids).orElse(Set.of());
        if (!before.isEmpty() && before.size() != needed) {
            return refused("pod \"" + uid + "\" container \"" + container + "\" changed request for resource \""
                    + resource + "\" from " + before.size() + " to " + needed);
        }
        DeviceResource state = resources.get(resource);
        if (state == null) {
            return refused("cannot allocate unregistered device " + resource);
        }
        SortedSet<String> healthy = state.healthy();
        Optional<DevicePlugin> plugin = state.plugin();
        if (healthy.isEmpty() || plugin.isEmpty()) {
            return refused("no healthy devices present; cannot allocate unhealthy devices " + resource);
        }
        if (!healthy.containsAll(before)) {
            return refused("previously allocated devices are no longer healthy; cannot allocate unhealthy devices "
                    + resource);
        }
        if (!before.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        SortedSet<String> chosen = new TreeSet<>(reusable.stream().limit(needed).toList());
        SortedSet<String> available = available(state, resource);
        if (available.size() < needed - chosen.size()) {
            return unavailable(resource, needed - chosen.size(), available.size());
        }
        if (chosen.size() == needed || !state.options().preferredAllocation()) {
            return give(uid, container, resource, plugin.get(), needed, chosen, List.of());
        }
        SortedSet<String> offered = new TreeSet<>(available);
        offered.addAll(chosen);
        return plugin.get()
                .preferred(List.copyOf(offered), List.copyOf(chosen), needed)
                .exceptionallyCompose(error ->
                        refused("device plugin GetPreferredAllocation rpc failed with err: " + Failures.text(error)))
                .thenCompose(preferred -> give(uid, container, resource, plugin.get(), needed, chosen, preferred));
    }

    private SortedSet<String> available(DeviceResource state, String resource) {
        SortedSet<String> available = state.healthy();
        available.removeAll(devices.used(resource));
        return available;
    }

    /** Fills {@code chosen} up, and tells the plugin. What was free may have been given away while the plugin was asked. */
    private CompletableFuture<Void> give(
            String uid,
            String container,
            String resource,
            DevicePlugin plugin,
            int needed,
            SortedSet<String> chosen,
            List<String> preferred) {
        DeviceResource state = resources.get(resource);
        if (state == null) {
            return refused("cannot allocate unregistered device " + resource);
        }
        SortedSet<String> available = available(state, resource);
        available.removeAll(chosen);
        int missing = needed - chosen.size();
        if (available.size() < missing) {
            return unavailable(resource, missing, available.size());
        }
        List<String> order = new ArrayList<>(preferred);
        order.addAll(available);
        for (String id : order) {
            if (chosen.size() < needed && available.contains(id)) {
                chosen.add(id);
            }
        }
        devices.reserve(resource, chosen);
        return plugin.allocate(List.copyOf(chosen)).handle((grant, error) -> {
            devices.settle(resource, chosen);
            if (error != null) {
                throw new DeviceException(Failures.text(error));
            }
            devices.add(allocation(uid, container, resource, chosen, grant, state));
            return null;
        });
    }

    private static Allocation allocation(
            String uid, String container, String resource, Set<String> ids, DeviceGrant grant, DeviceResource state) {
        return new Allocation(uid, container, resource, Allocation.byNode(ids, state.devices()), grant);
    }

    /** Tells the plugins that want to know it that {@code container} is about to start. */
    CompletableFuture<Void> preStart(Pod pod, ContainerSpec container) {
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        for (Allocation allocation : devices.of(pod.uid(), container.name())) {
            DeviceResource state = resources.get(allocation.resource());
            if (state != null && state.options().preStart()) {
                calls.add(state.plugin()
                        .map(plugin -> plugin.preStart(List.copyOf(allocation.ids()))
                                .exceptionallyCompose(
                                        error -> refused("device plugin PreStartContainer rpc failed with err: "
                                                + Failures.text(error))))
                        .orElseGet(
                                () -> refused("the device plugin of " + allocation.resource() + " has been stopped")));
            }
        }
        return CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new));
    }

    private static CompletableFuture<Void> unavailable(String resource, int needed, int available) {
        return refused("requested number of devices unavailable for " + resource + ". Requested: " + needed
                + ", Available: " + available);
    }

    private static <T> CompletableFuture<T> refused(String why) {
        return CompletableFuture.failedFuture(new DeviceException(why));
    }
}
