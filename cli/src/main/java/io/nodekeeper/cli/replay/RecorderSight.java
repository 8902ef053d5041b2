package io.nodekeeper.cli.replay;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * Proves that a recorder sees all changes of leases. The recorder asks now and then for the store's current revision: a
 * watch sends changes in their order, so one of that revision or a later one proves that everything stored before the
 * question has been seen. A list without anything new proves it, too. Without a proof for {@link #LIMIT} the recorder has
 * lost sight. Time is nanoseconds of a monotonic clock, passed in. Not thread-safe.
 */
final class RecorderSight {
    /** How old the latest proof may be: some questions, of which there is one each second. */
    static final Duration LIMIT = Duration.ofSeconds(5);

    /** The most questions that wait for a change; of more, the oldest is forgotten. */
    private static final int MOST = 64;

    private record Question(long revision, long sentAt) {}

    private final Deque<Question> open = new ArrayDeque<>();
    private long provenAt;
    private boolean lost;

    /** Sight begins with a list of all leases, which was requested at {@code sentAt}. */
    RecorderSight(long sentAt) {
        provenAt = sentAt;
    }

    /** A question that was sent at {@code sentAt} was answered with this revision; not positive if it is no number. */
    void asked(long revision, long sentAt) {
        if (revision <= 0) {
            // Its order is unknown: only lists prove sight.
            return;
        }
        open.addLast(new Question(revision, sentAt));
        if (open.size() > MOST) {
            open.removeFirst();
        }
    }

    /** The watch showed a change of this revision. */
    void seen(long revision) {
        while (!open.isEmpty() && open.peek().revision <= revision) {
            provenAt = Math.max(provenAt, open.remove().sentAt);
        }
    }

    /** A list that was requested at {@code sentAt} has nothing that was not seen. */
    void listed(long sentAt) {
        provenAt = Math.max(provenAt, sentAt);
    }

    /** The age of the latest proof, nanoseconds. */
    long age(long now) {
        return now - provenAt;
    }

    /** If sight is lost from now on: since when there is no proof. */
    Optional<Long> lost(long now) {
        if (lost || age(now) <= LIMIT.toNanos()) {
            return Optional.empty();
        }
        lost = true;
        return Optional.of(provenAt);
    }

    /** Whether sight was lost and is found again. */
    boolean found(long now) {
        boolean found = lost && age(now) <= LIMIT.toNanos();
        lost &= !found;
        return found;
    }
}
