package io.nodekeeper.agent.devices;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which containers have which devices, and which devices are being given to one. Bounded by the devices of the node, as each
 * container has at least one. Confined to the loop of its manager.
 */
final class PodDevices {
    private final Map<Key, Allocation> allocations = new LinkedHashMap<>();
    /** Ids by resource. */
    private final Map<String, Set<String>> pending = new HashMap<>();

    private record Key(String uid, String container, String resource) {}

    void add(Allocation allocation) {
        allocations.put(new Key(allocation.uid(), allocation.container(), allocation.resource()), allocation);
    }

    Optional<Allocation> get(String uid, String container, String resource) {
        return Optional.ofNullable(allocations.get(new Key(uid, container, resource)));
    }

    /** All resources of a container. */
    List<Allocation> of(String uid, String container) {
        return allocations.values().stream()
                .filter(allocation ->
                        allocation.uid().equals(uid) && allocation.container().equals(container))
                .toList();
    }

    List<Allocation> all() {
        return new ArrayList<>(allocations.values());
    }

    boolean isEmpty() {
        return allocations.isEmpty();
    }

    /** Whether a container has devices of {@code resource}. */
    boolean has(String resource) {
        return allocations.keySet().stream().anyMatch(key -> key.resource().equals(resource));
    }

    /** Frees the devices of pods other than {@code uids}; whether there were some. */
    boolean retain(Set<String> uids) {
        return allocations.keySet().removeIf(key -> !uids.contains(key.uid()));
    }

    /** Frees the devices of one pod; whether there were some. */
    boolean release(String uid) {
        return allocations.keySet().removeIf(key -> key.uid().equals(uid));
    }

    /** Keeps {@code ids} from others until {@link #settle}. */
    void reserve(String resource, Set<String> ids) {
        pending.computeIfAbsent(resource, key -> new TreeSet<>()).addAll(ids);
    }

    void settle(String resource, Set<String> ids) {
        pending.getOrDefault(resource, new TreeSet<>()).removeAll(ids);
    }

    /** The ids that containers have, or are being given. */
    Set<String> used(String resource) {
        Set<String> used = new TreeSet<>(pending.getOrDefault(resource, Set.of()));
        allocations.values().stream()
                .filter(allocation -> allocation.resource().equals(resource))
                .forEach(allocation -> used.addAll(allocation.ids()));
        return used;
    }
}
