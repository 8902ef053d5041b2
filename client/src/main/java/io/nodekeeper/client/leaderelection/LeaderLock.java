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
 * One candidate's state of the lock, which decides what the candidate may do. Pure: reads, writes and their times, in
 * monotonic nanoseconds, are passed in.
 *
 * <p>Why there are never two leaders: a leader leads for {@code renewDeadline} from when it <em>sent</em> its last
 * successful write. Another candidate takes over {@code leaseDuration} after it <em>read</em> that write, which was
 * later, and only if there was no write since: every write names the version that it replaces. As {@code renewDeadline}
 * is shorter, the old leader has stopped leading by then, however wrong wall clocks are; only the clocks' rates must
 * differ by less than leaseDuration : renewDeadline. The values of the times in the lease are not used, only their
 * changes.
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

    /** The known holder of the lock; empty if there is none. */
    String holder() {
        return new Lease(seen).holderIdentity();
    }

    /** The UID of the Lease; empty if the Lease was not seen. */
    String uid() {
        return new Lease(seen).uid();
    }

    /** The lease that creates the lock. */
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

    /** The lease that the leader writes, from memory. */
    JsonObject renewal(Instant wallTime) {
        return seen.update(
                "spec",
                spec -> spec.with("leaseDurationSeconds", seconds()).with("renewTime", KubeTime.formatMicro(wallTime)));
    }

    /**
     * The lease was read. Returns the lease to write to acquire or keep the lock; empty while another candidate holds
     * it.
     */
    Optional<JsonObject> read(JsonObject lease, long now, Instant wallTime) {
        if (seen.isEmpty() || !lease.object("spec").equals(seen.object("spec"))) {
            seenAt = now;
        }
        seen = lease;
        if (isMine()) {
            // Kept in spite of a conflict, or acquired by a write whose response was lost.
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

    /** The write of this candidate that was sent at {@code sentAt} is stored as {@code lease}. */
    void wrote(JsonObject lease, long sentAt, long now) {
        seen = lease;
        seenAt = now;
        wroteAt = sentAt;
        wroteOnce = true;
    }

    /** The lease that releases the lock; empty if this candidate does not hold it. */
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

    /** The lease last seen or written. */
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
