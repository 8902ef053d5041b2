package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Backoff;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pods whose inspection timed out. The pause before each further attempt grows, until an attempt is answered, even
 * with an error, or until the pod or the object that did not answer is gone. Times are by the monotonic clock in ns.
 */
final class Quarantine {
    private final Map<String, Held> pods = new LinkedHashMap<>();
    private final Backoff backoff;

    private record Held(StuckPod pod, long retryAt) {}

    Quarantine(Backoff backoff) {
        this.backoff = backoff;
    }

    /** Records that an attempt that began at {@code began} timed out because {@code call} was not answered. */
    StuckPod timedOut(PodRef pod, RuntimeCall<?> call, long began, long now) {
        Held before = pods.get(pod.uid());
        StuckPod stuck = before == null
                ? new StuckPod(pod, call, began, 1)
                : new StuckPod(pod, call, before.pod.since(), before.pod.tries() + 1);
        pods.put(
                pod.uid(),
                new Held(stuck, now + backoff.delay(stuck.tries() - 1).toNanos()));
        return stuck;
    }

    boolean holds(String uid) {
        return pods.containsKey(uid);
    }

    /** Whether the pod may be inspected: it is not quarantined, or its pause is over. */
    boolean mayTry(String uid, long now) {
        Held held = pods.get(uid);
        return held == null || now - held.retryAt >= 0;
    }

    /** Requests this pod: its next attempt starts without a pause. */
    void hasten(String uid, long now) {
        pods.computeIfPresent(uid, (key, held) -> new Held(held.pod, now));
    }

    /** Ends all pauses: one of the pods was answered, so the others may be answered, too. */
    void hastenAll(long now) {
        pods.replaceAll((uid, held) -> new Held(held.pod, now));
    }

    /** Releases the pod if the object that did not answer is no longer {@code listed}. */
    void reconsider(String uid, ListedPod listed) {
        Held held = pods.get(uid);
        if (held != null) {
            RuntimeCall<?> call = held.pod.call();
            call.containerId().or(call::sandboxId).filter(id -> !listed.has(id)).ifPresent(id -> pods.remove(uid));
        }
    }

    void release(String uid) {
        pods.remove(uid);
    }

    int size() {
        return pods.size();
    }

    /** The quarantined pods, the longest first. */
    List<StuckPod> stuck() {
        return pods.values().stream().map(Held::pod).toList();
    }
}
