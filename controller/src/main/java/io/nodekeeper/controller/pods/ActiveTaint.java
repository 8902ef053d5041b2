package io.nodekeeper.controller.pods;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A NoExecute taint of a node, with the time from which tolerations count.
 *
 * @param key its key
 * @param value its value, often empty
 * @param timeAdded its {@code timeAdded}, unchanged
 * @param since the latest moment at which it can have been added, by this process' monotonic clock, in nanoseconds; may
 *     lie before the process' start, or up to a second ahead
 */
record ActiveTaint(String key, String value, String timeAdded, long since) {
    /*
     * This is the one place where wall times of two machines are compared: timeAdded, from the writer of the taint, with
     * our own clock, and only once, when the taint is first seen; and in the same way the creation of a pod. From then on
     * the monotonic clock counts, so a jump of the wall clock evicts no pod.
     *
     * No pod may leave early. timeAdded has whole seconds: a taint of 12:00:00 was added before 12:00:01, so it counts
     * from 12:00:01. That is the same moment for every process and after every restart, and it is late enough for a taint
     * that was removed and set again within that second. A writer whose clock is slow cannot make it earlier than the
     * moment at which this process last saw the node without the taint.
     *
     * A time that cannot be right does not count: then the taint counts from when it was seen. It cannot be right if it
     * is absent, lies in the future, or before the node was created.
     *
     * A taint with another timeAdded is another taint, even if its key is the same: it was removed and set again.
     *
     * A node that is not ready and then unreachable, or the other way round, has failed once, not twice: if one of the two
     * taints replaces the other, both count from the earliest one (Kubernetes keeps its timers then). A writer that hands
     * timeAdded over when it swaps them makes this survive a restart.
     */
    private static final Set<String> FAILED = Set.of(Taint.NOT_READY, Taint.UNREACHABLE);

    /** Older taints count as this old: every toleration that ends has ended, and nanoseconds do not overflow. */
    private static final Duration OLDEST = Duration.ofSeconds(Patience.LONGEST_SECONDS);

    /** The most taints in a sentence: usually all of them. */
    private static final int NAMED = 5;

    /** The unit of {@code timeAdded}, nanoseconds. */
    static final long RESOLUTION = 1_000_000_000L;

    /**
     * The former state of the taints of the same node.
     *
     * @param taints the NoExecute taints that it had
     * @param seenAt when they were last seen, monotonic
     */
    record Before(List<ActiveTaint> taints, long seenAt) {
        /** The node was unknown. */
        static final Before NOTHING = new Before(List.of(), Long.MIN_VALUE);

        /** The first taint of each key and value: a node may have tens of thousands. */
        private Map<String, ActiveTaint> byIdentity() {
            Map<String, ActiveTaint> byIdentity = HashMap.newHashMap(taints.size());
            taints.forEach(taint -> byIdentity.putIfAbsent(identity(taint.key, taint.value), taint));
            return byIdentity;
        }
    }

    /** One string, and not a pair, because strings that collide on purpose are still found fast in a map. */
    private static String identity(String key, String value) {
        return key + "\n" + value;
    }

    /** The NoExecute taints of {@code node}. */
    static List<ActiveTaint> of(Node node, Before before, Instant wallTime, long now) {
        List<ActiveTaint> taints = new ArrayList<>(0);
        Map<String, ActiveTaint> known = before.byIdentity();
        boolean again = false;
        for (Taint taint : node.taints()) {
            if (taint.effect().equals(Taint.NO_EXECUTE)) {
                String timeAdded = taint.json().text("timeAdded");
                Optional<ActiveTaint> last = Optional.ofNullable(known.get(identity(taint.key(), taint.value())));
                Optional<ActiveTaint> same = last.filter(earlier -> earlier.timeAdded.equals(timeAdded));
                again |= last.isPresent() && same.isEmpty() && FAILED.contains(taint.key());
                taints.add(same.orElseGet(() -> new ActiveTaint(
                        taint.key(),
                        taint.value(),
                        timeAdded,
                        Math.max(addedBy(node, timeAdded, wallTime, now), before.seenAt))));
            }
        }
        if (taints.isEmpty()) {
            return List.of();
        }
        long failed = Math.min(failedSince(taints), again ? Long.MAX_VALUE : failedSince(before.taints));
        taints.replaceAll(taint -> taint.isOfFailure() ? taint.since(failed) : taint);
        return List.copyOf(taints);
    }

    /** The monotonic time by which a taint with that {@code timeAdded} was added. */
    private static long addedBy(Node node, String timeAdded, Instant wallTime, long now) {
        return KubeTime.parse(timeAdded)
                .filter(time -> node.creationTimestamp()
                        .map(created -> !time.isBefore(created))
                        .orElse(true))
                .map(time -> endOf(time, wallTime, now))
                .orElse(now);
    }

    /** The monotonic time at which the second {@code time} of another clock ended; {@code now} if it is in the future. */
    static long endOf(Instant time, Instant wallTime, long now) {
        if (time.isAfter(wallTime)) {
            return now;
        }
        Duration age = Duration.between(time, wallTime);
        return now - (age.compareTo(OLDEST) < 0 ? age : OLDEST).toNanos() + RESOLUTION;
    }

    /** Whether it says that the node is not ready or unreachable. */
    boolean isOfFailure() {
        return FAILED.contains(key);
    }

    private static long failedSince(List<ActiveTaint> taints) {
        return taints.stream()
                .filter(ActiveTaint::isOfFailure)
                .mapToLong(ActiveTaint::since)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private ActiveTaint since(long other) {
        return other == since ? this : new ActiveTaint(key, value, timeAdded, other);
    }

    /** The first few of {@code taints} and the number of the others, for a sentence. */
    static String text(List<ActiveTaint> taints) {
        String named = taints.stream().limit(NAMED).map(ActiveTaint::toString).collect(Collectors.joining(", "));
        return taints.size() <= NAMED ? named : named + " and " + (taints.size() - NAMED) + " more";
    }

    /** {@code key=value}, or the key alone. */
    @Override
    public String toString() {
        return value.isEmpty() ? key : key + "=" + value;
    }
}
