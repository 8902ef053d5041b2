package io.nodekeeper.agent.pleg;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The records of all pods: takes the results of lists and inspections, updates the cache and sends events. Confined
 * to its loop.
 */
final class PodRecords {
    private final Map<String, PodRecord> records = new LinkedHashMap<>();
    private final PodStatusCache cache;
    private final Consumer<PodEvent> sink;

    PodRecords(PodStatusCache cache, Consumer<PodEvent> sink) {
        this.cache = cache;
        this.sink = sink;
    }

    /** All records, in the order in which the pods appeared. */
    Collection<PodRecord> all() {
        return records.values();
    }

    Optional<PodRecord> get(String uid) {
        return Optional.ofNullable(records.get(uid));
    }

    int size() {
        return records.size();
    }

    /** Whether some pod must be inspected. */
    boolean anyDue() {
        return records.values().stream().anyMatch(PodRecord::isDue);
    }

    /** Processes a list of all pods that began at {@code began}; returns the UIDs of pods that are gone, which are already removed. */
    List<String> listed(Inventory inventory, long began) {
        inventory.listed().values().forEach(pod -> put(pod, began));
        if (records.size() == inventory.listed().size()) {
            return List.of();
        }
        List<String> gone = new ArrayList<>(records.keySet());
        gone.removeIf(inventory.listed()::containsKey);
        gone.forEach(this::gone);
        return gone;
    }

    /** Processes a list that began at {@code began} and shows one pod. */
    PodRecord put(ListedPod pod, long began) {
        PodRecord record = records.computeIfAbsent(pod.ref().uid(), uid -> {
            cache.appeared(uid);
            return new PodRecord(pod, began);
        });
        record.current(pod, began);
        return record;
    }

    /** A list no longer shows the pod: there is nothing to inspect. */
    void gone(String uid) {
        PodRecord record = records.remove(uid);
        if (record != null) {
            cache.remove(uid);
            record.tell(new ListedPod(record.ref())).forEach(sink);
        }
    }

    /**
     * Records a successful inspection of what {@code listed} shows.
     *
     * @param asOf when the list of its objects began: one that was made later may be missing
     */
    void inspected(PodRecord record, ListedPod listed, PodStatus status, long asOf) {
        PodStatus before = cache.get(record.uid()).status();
        cache.set(record.uid(), new PodStatusCache.Entry(status.keepingAddressesOf(before), Optional.empty()), asOf);
        record.tell(listed).forEach(sink);
    }

    /**
     * Records a failed inspection, which began at {@code began}: the cache reports the error, and no events are sent until one succeeds.
     */
    void failed(PodRecord record, Throwable error, long began) {
        PodStatus before = cache.get(record.uid()).status();
        cache.set(record.uid(), new PodStatusCache.Entry(before, Optional.of(error)), began);
        record.failed();
    }
}
