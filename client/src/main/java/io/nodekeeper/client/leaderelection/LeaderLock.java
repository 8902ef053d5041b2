package io.nodekeeper.client.leaderelection;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What one candidate knows of the lock, and what it may do next. Pure: it is told what was read and written and when, in
 * monotonic nanoseconds.
 *
 * <p>Why there are never two leaders: a leader believes in itself for {@code renewDeadline} from when it <em>sent</em> its
 * last successful write. Another one takes over {@code leaseDuration} after it <em>read</em> that write, which was later,
 * and only if nothing was written since: every write names the version that it replaces. As {@code renewDeadline} is the
 * shorter, the old leader has given up by then, however wrong anybody's wall clock is; only the clocks' rates must agree
 * better than leaseDuration : renewDeadline. Of the times in the lease nothing is believed but that they changed.
 */
final class LeaderLock {
    private final LeaderElectionConfig config;
    private final String identity;
    private JsonObject seen = JsonObject.EMPTY;
    private long seenAt;
    private boolean wroteOnce;
    private long wroteAt;

    LeaderLock(LeaderElectionConfig config, String identity) {
        this.config = config;
        this.identity = identity;
    }

    /** Whether this candidate may act as the leader. */
    boolean isHeld(long now) {
        return wroteOnce && isMine() && now - wroteAt < config.renewDeadline().toNanos();
    }

    /** When the write was sent that last made or kept this candidate the leader. */
    long wroteAt() {
        return wroteAt;
    }

    /** Who holds the lock as far as is known; empty if nobody. */
    String holder() {
        return new Lease(seen).holderIdentity();
    }

    /** The UID of the Lease; empty if it was not seen. */
    String uid() {
        return new Lease(seen).uid();
    }

    /** The lease with which a new lock is made. */
    JsonObject first(Instant wallTime) {
        return JsonObject.builder()
                .put("apiVersion", ResourceType.LEASES.apiVersion())
                .put("kind", ResourceType.LEASES.kind())
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", config.name())
                                .put("namespace", config.namespace())
                                .build())
                .put("spec", claim(JsonObject.EMPTY, wallTime, 0))
                .build();
    }

    /** The lease as it is to be written by its leader, made from memory. */
    JsonObject renewal(Instant wallTime) {
        return seen.update(
                "spec",
                spec -> spec.with("leaseDurationSeconds", seconds()).with("renewTime", KubeTime.formatMicro(wallTime)));
    }

    /** The lease was read. The answer is what to write to get or keep the lock; empty as long as it is another's. */
    Optional<JsonObject> read(JsonObject lease, long now, Instant wallTime) {
        if (seen.isEmpty() || !lease.object("spec").equals(seen.object("spec"))) {
            seenAt = now;
        }
        seen = lease;
        if (isMine()) {
            // Kept over a conflict, or won by a write whose answer got lost.
            return Optional.of(renewal(wallTime));
        }
        Duration duration =
                Duration.ofSeconds(new Lease(lease).durationSeconds().orElse(config.leaseSeconds()));
        if (!holder().isEmpty() && now - seenAt < duration.toNanos()) {
            return Optional.empty();
        }
        long transitions = lease.object("spec").number("leaseTransitions").orElse(0L) + 1;
        return Optional.of(lease.with("spec", claim(lease.object("spec"), wallTime, transitions)));
    }

    /** What was sent at {@code sentAt} in this candidate's name is stored as {@code lease}. */
    void wrote(JsonObject lease, long sentAt, long now) {
        seen = lease;
        seenAt = now;
        wroteAt = sentAt;
        wroteOnce = true;
    }

    /** The lease with which the holder gives the lock back; empty if it is not held by this candidate. */
    Optional<JsonObject> release(JsonObject lease, Instant wallTime) {
        if (!new Lease(lease).holderIdentity().equals(identity)) {
            return Optional.empty();
        }
        String time = KubeTime.formatMicro(wallTime);
        return Optional.of(lease.update(
                "spec",
                spec -> spec.with("holderIdentity", "")
                        .with("leaseDurationSeconds", JsonNumber.of(1))
                        .with("acquireTime", time)
                        .with("renewTime", time)));
    }

    /** The lease as last seen or written. */
    JsonObject seen() {
        return seen;
    }

    private boolean isMine() {
        return holder().equals(identity);
    }

    private JsonObject claim(JsonObject before, Instant wallTime, long transitions) {
        String time = KubeTime.formatMicro(wallTime);
        return before.with("holderIdentity", identity)
                .with("leaseDurationSeconds", seconds())
                .with("acquireTime", time)
                .with("renewTime", time)
                .with("leaseTransitions", JsonNumber.of(transitions));
    }

    private JsonNumber seconds() {
        return JsonNumber.of(config.leaseSeconds());
    }
}
