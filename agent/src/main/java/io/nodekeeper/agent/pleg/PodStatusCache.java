package io.nodekeeper.agent.pleg;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The last known status of every pod, and the time at which it was known to be true. An inspection is as new as the list from which it
 * has the pod's objects, and each later list that shows the pod unchanged advances that time; so waiting for fresh data of one pod never
 * involves another pod. A pod that a list did not show is known not to exist as of that list. Times are by the monotonic clock in ns.
 * Confined to its loop.
 */
public final class PodStatusCache {
    private final Map<String, Slot> slots = new HashMap<>();
    private final Map<String, List<Waiter>> waiters = new HashMap<>();
    /** The pods that a list of them alone did not show since the last list of all: as many as ended within a second or two. */
    private final Map<String, Long> absent = new HashMap<>();

    private @Nullable Long listedAt;

    /**
     * The result of an inspection. Immutable.
     *
     * @param status the last known status, also if this inspection failed
     * @param error why it failed
     */
    public record Entry(PodStatus status, Optional<Throwable> error) {}

    private static final class Slot {
        private Entry entry;
        private @Nullable Long freshAt;

        private Slot(Entry entry, @Nullable Long freshAt) {
            this.entry = entry;
            this.freshAt = freshAt;
        }
    }

    private record Waiter(long minTime, CompletableFuture<Entry> answer) {}

    PodStatusCache() {}

    /** The cached status; an empty status if none is known. */
    public Entry get(String uid) {
        Slot slot = slots.get(uid);
        return slot == null ? new Entry(PodStatus.empty(uid), Optional.empty()) : slot.entry;
    }

    /**
     * The status as of a time after {@code minTime}; may be the error of a failed inspection, never fails itself.
     * It has no deadline of its own; cancel it to stop waiting.
     */
    public CompletableFuture<Entry> getNewerThan(String uid, long minTime) {
        Long fresh = fresh(uid);
        if (fresh != null && fresh - minTime > 0) {
            return CompletableFuture.completedFuture(get(uid));
        }
        Waiter waiter = new Waiter(minTime, new CompletableFuture<>());
        waiters.computeIfAbsent(uid, key -> new ArrayList<>()).add(waiter);
        waiter.answer.whenComplete((entry, cancelled) -> forget(uid, waiter));
        return waiter.answer;
    }

    /** The time as of which {@link #get} is true; empty before anything is known. */
    public OptionalLong freshAt(String uid) {
        Long fresh = fresh(uid);
        return fresh == null ? OptionalLong.empty() : OptionalLong.of(fresh);
    }

    /** A list shows a pod for the first time: the earlier knowledge that it does not exist no longer applies. */
    void appeared(String uid) {
        slots.putIfAbsent(uid, new Slot(get(uid), fresh(uid)));
        absent.remove(uid);
    }

    /** {@code entry} is true as of {@code observedAt}, whatever the time of the one before it: that of an error may be later. */
    void set(String uid, Entry entry, long observedAt) {
        Slot slot = slots.computeIfAbsent(uid, key -> new Slot(entry, null));
        slot.entry = entry;
        slot.freshAt = observedAt;
        wake(uid, observedAt);
    }

    /** A list or event at {@code observedAt} showed the pod unchanged. */
    void observed(String uid, long observedAt) {
        Slot slot = slots.get(uid);
        if (slot != null) {
            refresh(uid, slot, observedAt);
        }
    }

    void remove(String uid) {
        slots.remove(uid);
    }

    /** A list of this pod alone, which began at {@code observedAt}, did not show it. */
    void absent(String uid, long observedAt) {
        slots.remove(uid);
        absent.put(uid, observedAt);
        wake(uid, observedAt);
    }

    /** A list that began at {@code time} was processed: pods that are not in the cache did not exist as of then. */
    void listed(long time) {
        listedAt = time;
        absent.values().removeIf(earlier -> earlier - time <= 0);
        if (!waiters.isEmpty()) {
            List.copyOf(waiters.keySet()).stream()
                    .filter(uid -> !slots.containsKey(uid))
                    .forEach(uid -> wake(uid, time));
        }
    }

    private @Nullable Long fresh(String uid) {
        Slot slot = slots.get(uid);
        if (slot != null) {
            return slot.freshAt;
        }
        Long alone = absent.get(uid);
        return alone != null ? alone : listedAt;
    }

    private void refresh(String uid, Slot slot, long time) {
        if (slot.freshAt == null || time - slot.freshAt > 0) {
            slot.freshAt = time;
        }
        wake(uid, time);
    }

    private void wake(String uid, long time) {
        List<Waiter> waiting = waiters.get(uid);
        if (waiting != null) {
            Entry entry = get(uid);
            // A copy: a waiter that is completed may register again immediately.
            for (Waiter waiter : List.copyOf(waiting)) {
                if (time - waiter.minTime >= 0) {
                    waiter.answer.complete(entry);
                }
            }
        }
    }

    private void forget(String uid, Waiter waiter) {
        List<Waiter> waiting = waiters.get(uid);
        if (waiting != null) {
            waiting.remove(waiter);
            if (waiting.isEmpty()) {
                waiters.remove(uid);
            }
        }
    }
}
