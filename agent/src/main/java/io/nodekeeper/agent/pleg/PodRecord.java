package io.nodekeeper.agent.pleg;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The states of a pod according to lists: the one up to which events were sent, and the newest. Events are sent only
 * after a successful inspection, so that their receiver finds a status at least as new in the cache.
 */
final class PodRecord {
    private PodRef ref;
    private ListedPod told;
    private ListedPod current;
    /** When the newest list began, monotonic ns. */
    private long listedAt;

    private boolean reinspect;

    /** A new pod, without events so far. The list that began at {@code began} shows it as {@code first}. */
    PodRecord(ListedPod first, long began) {
        this.ref = first.ref();
        this.told = new ListedPod(ref);
        this.current = first;
        this.listedAt = began;
    }

    PodRef ref() {
        return ref;
    }

    String uid() {
        return ref.uid();
    }

    ListedPod current() {
        return current;
    }

    /** When the list that shows {@link #current()} began. */
    long listedAt() {
        return listedAt;
    }

    /** A list that began at {@code began} shows it like that. */
    void current(ListedPod listed, long began) {
        current = listed;
        listedAt = began;
        if (!listed.ref().name().isEmpty()) {
            ref = listed.ref();
        }
    }

    /** Whether an inspection is needed. */
    boolean isDue() {
        return reinspect || !told.isSame(current);
    }

    /** An inspection failed: another one is needed, even if the pod returns to its old state. */
    void failed() {
        reinspect = true;
    }

    /** Returns the events up to {@code upTo}, the state when a successful inspection began, and records them as sent. */
    List<PodEvent> tell(ListedPod upTo) {
        Map<String, PlegState> before = told.states();
        Map<String, PlegState> after = upTo.states();
        Set<String> ids = new LinkedHashSet<>(before.keySet());
        ids.addAll(after.keySet());
        List<PodEvent> events = new ArrayList<>();
        for (String id : ids) {
            PlegState old = before.getOrDefault(id, PlegState.NON_EXISTENT);
            PlegState next = after.getOrDefault(id, PlegState.NON_EXISTENT);
            for (PodEvent.Type type : old.eventsTo(next)) {
                events.add(new PodEvent(uid(), type, id));
            }
        }
        if (reinspect && events.isEmpty() && !upTo.isGone()) {
            events.add(new PodEvent(uid(), PodEvent.Type.POD_SYNC, uid()));
        }
        told = upTo;
        reinspect = false;
        return events;
    }
}
