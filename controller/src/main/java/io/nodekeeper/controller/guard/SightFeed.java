package io.nodekeeper.controller.guard;

import io.nodekeeper.controller.observer.Ages;
import java.time.Duration;

/** Carries what the controller sees from its loop to the guard's, and notices when it is out of date. Thread-safe. */
public final class SightFeed {
    /** How often the controller publishes. */
    public static final Duration PERIOD = Duration.ofSeconds(1);
    /** A report that is older says nothing: the controller's loop has missed several periods. */
    private static final Duration STALE = Duration.ofSeconds(5);

    private record Report(OwnSight sight, long at) {}

    private volatile Report last = new Report(new OwnSight.Unknown("the controller has not started"), 0);

    /** The controller sees {@code sight} at {@code now}, nanoseconds by the machine's monotonic clock. */
    public void publish(OwnSight sight, long now) {
        last = new Report(sight, now);
    }

    /** What the controller sees at {@code now}. */
    OwnSight at(long now) {
        Report report = last;
        long age = now - report.at;
        return report.sight instanceof OwnSight.Unknown || age <= STALE.toNanos()
                ? report.sight.later(Duration.ofNanos(age))
                : new OwnSight.Unknown("the controller has not reported for " + Ages.text(age));
    }
}
