package io.nodekeeper.controller.pods;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A NoExecute taint of a node, and since when it counts.
 *
 * @param key its key
 * @param value its value, often empty
 * @param timeAdded its {@code timeAdded}, as it stands
 * @param since the same by this process' monotonic clock, in nanoseconds; may lie before the process' start
 */
record ActiveTaint(String key, String value, String timeAdded, long since) {
    /*
     * This is the one place where wall times of two machines are compared: timeAdded, written by whoever tainted the
     * node, with our own clock, and only once, when the taint is first seen. From then on the monotonic clock counts, so
     * that a jump of the wall clock evicts nobody.
     *
     * A time that cannot be right does not count: then the taint counts from when it was seen. It cannot be right if it
     * is absent, lies in the future, or before the node was created.
     *
     * A node that is not ready and then unreachable, or the other way round, has failed once, not twice: as long as it
     * bears one of the two taints, both count from the earliest one. A writer that hands timeAdded over when it swaps
     * them makes this survive a restart.
     */
    private static final Set<String> FAILED = Set.of(Taint.NOT_READY, Taint.UNREACHABLE);

    /**
     * The NoExecute taints of {@code node}.
     *
     * @param before those that it had when it was last seen; none for another node of that name
     */
    static List<ActiveTaint> of(Node node, List<ActiveTaint> before, Instant wallTime, long now) {
        List<ActiveTaint> taints = new ArrayList<>(0);
        for (Taint taint : node.taints()) {
            if (taint.effect().equals(Taint.NO_EXECUTE)) {
                taints.add(of(node, taint, before, wallTime, now));
            }
        }
        if (taints.isEmpty()) {
            return List.of();
        }
        long failed = Math.min(failedSince(taints), failedSince(before));
        taints.replaceAll(taint -> FAILED.contains(taint.key) ? taint.since(failed) : taint);
        return List.copyOf(taints);
    }

    private static ActiveTaint of(Node node, Taint taint, List<ActiveTaint> before, Instant wallTime, long now) {
        String timeAdded = taint.json().text("timeAdded");
        for (ActiveTaint known : before) {
            if (known.key.equals(taint.key())
                    && known.value.equals(taint.value())
                    && known.timeAdded.equals(timeAdded)) {
                return known;
            }
        }
        long age = KubeTime.parse(timeAdded)
                .filter(time -> !time.isAfter(wallTime))
                .filter(time -> node.creationTimestamp()
                        .map(created -> !time.isBefore(created))
                        .orElse(true))
                .map(time -> Duration.between(time, wallTime).toNanos())
                .orElse(0L);
        return new ActiveTaint(taint.key(), taint.value(), timeAdded, now - age);
    }

    private static long failedSince(List<ActiveTaint> taints) {
        return taints.stream()
                .filter(taint -> FAILED.contains(taint.key))
                .mapToLong(ActiveTaint::since)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private ActiveTaint since(long other) {
        return other == since ? this : new ActiveTaint(key, value, timeAdded, other);
    }

    /** {@code key=value}, or the key alone. */
    @Override
    public String toString() {
        return value.isEmpty() ? key : key + "=" + value;
    }
}
