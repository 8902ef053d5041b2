package io.nodekeeper.agent.culprit.load;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Compares the work of processes over successive scans. A process that a scan does not show is forgotten. Not
 * thread-safe.
 */
public final class ActivityHistory {
    /** The shortest interval that says something: 200 times the work of a call that is answered from memory. */
    private static final Duration SHORTEST = Duration.ofSeconds(1);

    /** The work at the last scan that read it, and the newest busy interval, whose end is {@code busyUntil}. */
    private record Seen(Work work, long at, Optional<Activity> busy, long busyUntil) {}

    /** By process; as many entries as one scan has processes. */
    private Map<String, Seen> seen = new HashMap<>();

    private Map<String, Seen> next = new HashMap<>();

    /**
     * Adds what the scan at {@code now}, monotonic ns, shows of a process.
     *
     * @param work empty if the scan did not read it
     * @return the newest interval in which it was busy; empty if it never was, as far as the scans show
     */
    public Optional<Activity> look(String process, Optional<Work> work, long now) {
        Optional<Seen> before = Optional.ofNullable(seen.get(process));
        Optional<Seen> after = work.map(newest -> before.map(old -> after(old, newest, now))
                        .orElseGet(() -> new Seen(newest, now, Optional.empty(), now)))
                .or(() -> before);
        after.ifPresent(entry -> next.put(process, entry));
        return after.flatMap(entry -> entry.busy.map(busy -> busy.later(Duration.ofNanos(now - entry.busyUntil))));
    }

    /** Ends a scan. */
    public void finish() {
        seen = next;
        next = new HashMap<>();
    }

    private static Seen after(Seen old, Work work, long now) {
        if (now - old.at < SHORTEST.toNanos()) {
            return old;
        }
        Optional<Duration> starved =
                old.busy.flatMap(Activity::starved).map(time -> time.plusNanos(now - old.busyUntil));
        Activity interval = new Activity(
                Duration.ofNanos(now - old.at),
                // The work of a thread that has ended is no longer counted.
                positive(work.ran().minus(old.work.ran())),
                positive(work.queued().minus(old.work.queued())),
                Duration.ZERO,
                starved);
        return interval.isBusy()
                ? new Seen(work, now, Optional.of(interval.isStarved() ? interval.starvedUntilNow() : interval), now)
                : new Seen(work, now, old.busy, old.busyUntil);
    }

    private static Duration positive(Duration duration) {
        return duration.isNegative() ? Duration.ZERO : duration;
    }
}
