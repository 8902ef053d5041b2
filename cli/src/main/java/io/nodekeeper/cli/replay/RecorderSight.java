package io.nodekeeper.cli.replay;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Proves that a watch of a recorder has shown all changes. The recorder asks now and then for the store's current revision: a
 * watch sends changes in their order, so one of that revision or a later one proves that everything stored before the
 * question has been seen. A list without anything new proves it, too. Time is nanoseconds of a monotonic clock, passed in. Not thread-safe.
 */
final class RecorderSight {
    /** The most questions that wait for a change; of more, the oldest is forgotten. */
    private static final int MOST = 64;

    private record Question(long revision, long sentAt) {}

    private final Deque<Question> open = new ArrayDeque<>();
    private long provenAt;
    /** The newest revision that the watch has shown; 0 if none. */
    private long newest;

    /** Nothing was missed until {@code began}. */
    RecorderSight(long began) {
        provenAt = began;
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
        prove();
    }

    /** The watch, or a list, showed a change of this revision. */
    void seen(long revision) {
        newest = Math.max(newest, revision);
        prove();
    }

    private void prove() {
        while (!open.isEmpty() && open.peek().revision <= newest) {
            provenAt = Math.max(provenAt, open.remove().sentAt);
        }
    }

    /** A list that was requested at {@code sentAt} has nothing that was not seen. */
    void listed(long sentAt) {
        provenAt = Math.max(provenAt, sentAt);
    }

    /** Everything is listed anew: the store may have been restored, so that its revisions are smaller than before. */
    void restart() {
        newest = 0;
        open.clear();
    }

    /** The time up to which everything has been seen. */
    long provenAt() {
        return provenAt;
    }
}
