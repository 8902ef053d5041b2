package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Backoff;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pods whose inspection ran out of time. Each further try has to wait longer, until one is answered, be it with an
 * error, or the pod or what did not answer is gone. Times are by the monotonic clock in ns.
 */
final class Quarantine {
    private final Map<String, Held> pods = new LinkedHashMap<>();
    private final Backoff backoff;

    private record Held(StuckPod pod, long retryAt) {}

    Quarantine(Backoff backoff) {
        this.backoff = backoff;
    }

    /** A try that began at {@code began} ran out of time just now, for want of an answer to {@code call}. */
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

    /** Whether the pod may be tried: it is not here, or has waited long enough. */
    boolean mayTry(String uid, long now) {
        Held held = pods.get(uid);
        return held == null || now - held.retryAt >= 0;
    }

    /** Requests this pod: its next attempt starts without a pause. */
    void hasten(String uid, long now) {
        pods.computeIfPresent(uid, (key, held) -> new Held(held.pod, now));
    }

    /** One of them was answered, so the others may be, too: their next tries need not wait. */
    void hastenAll(long now) {
        pods.replaceAll((uid, held) -> new Held(held.pod, now));
    }

    /** If what did not answer is no longer {@code listed}, the question is moot: the pod is free. */
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

    /** Those in here, the longest first. */
    List<StuckPod> stuck() {
        return pods.values().stream().map(Held::pod).toList();
    }
}
