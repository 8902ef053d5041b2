package io.nodekeeper.cli.replay;

import io.nodekeeper.controller.heartbeats.Versions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * Proves that a recorder sees all changes of leases: it reads a lease now and then, and what was read must have come
 * through the watch, too. A watch sends changes in their order, so that proves that everything stored before the read was
 * sent has been seen. Without a proof for {@link #LIMIT} the recorder has lost sight. Time is nanoseconds of a monotonic
 * clock, passed in. Not thread-safe.
 */
final class RecorderSight {
    /** How old the latest proof may be: some reads, of which each takes a second at most. */
    static final Duration LIMIT = Duration.ofSeconds(5);

    /** The most reads that wait for their change; of more, the oldest is forgotten. */
    private static final int MOST = 64;

    private record Read(String lease, long version, long sentAt) {}

    private final Deque<Read> unseen = new ArrayDeque<>();
    private long provenAt;
    private boolean lost;

    /** Sight begins with a list of all leases, which was requested at {@code sentAt}. */
    RecorderSight(long sentAt) {
        provenAt = sentAt;
    }

    /** All leases were listed; the list was requested at {@code sentAt}. */
    void listed(long sentAt) {
        proven(sentAt);
    }

    /** A read that was sent at {@code sentAt} found this version, and {@code seen} is the one that the watch showed last. */
    void read(String lease, long version, long seen, long sentAt) {
        if (!Versions.isNewer(version, seen)) {
            proven(sentAt);
            return;
        }
        unseen.addLast(new Read(lease, version, sentAt));
        if (unseen.size() > MOST) {
            unseen.removeFirst();
        }
    }

    /** The watch showed this version of a lease. */
    void seen(String lease, long version) {
        long proof = Long.MIN_VALUE;
        for (Read read : unseen) {
            if (read.lease.equals(lease) && !Versions.isNewer(read.version, version)) {
                proof = Math.max(proof, read.sentAt);
            }
        }
        if (proof != Long.MIN_VALUE) {
            proven(proof);
        }
    }

    private void proven(long sentAt) {
        provenAt = Math.max(provenAt, sentAt);
        // What was sent earlier proves nothing more.
        unseen.removeIf(read -> read.sentAt <= provenAt);
    }

    /** If sight is lost from now on: since when there is no proof. */
    Optional<Long> lost(long now) {
        if (lost || now - provenAt <= LIMIT.toNanos()) {
            return Optional.empty();
        }
        lost = true;
        return Optional.of(provenAt);
    }

    /** Whether sight was lost and is found again. */
    boolean found(long now) {
        boolean found = lost && now - provenAt <= LIMIT.toNanos();
        lost &= !found;
        return found;
    }
}
