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

    /**
     * A question for the current revision.
     *
     * @param sentAt when it was sent
     * @param newest the newest revision that the watch had shown by then
     * @param restarts the number of {@linkplain #restart restarts} before it
     */
    record Question(long sentAt, long newest, int restarts) {}

    private record Answer(long revision, long sentAt) {}

    private final Deque<Answer> open = new ArrayDeque<>();
    private long provenAt;
    /** The newest revision that the watch has shown; 0 if none. */
    private long newest;

    private int restarts;

    /** Nothing was missed until {@code began}. */
    RecorderSight(long began) {
        provenAt = began;
    }

    /** The question that is sent now. */
    Question ask(long now) {
        return new Question(now, newest, restarts);
    }

    /** That question was answered with this revision; not positive if it is no number. */
    void answered(Question question, long revision) {
        // The order of versions that are no numbers is unknown: only lists prove sight. A revision below one that was
        // seen before comes from a restored store, of which the watch may show nothing.
        if (revision <= 0 || revision < question.newest || question.restarts != restarts) {
            return;
        }
        open.addLast(new Answer(revision, question.sentAt));
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

    /** All objects are listed again. The store may have been restored; then its revisions are smaller than before. */
    void restart() {
        newest = 0;
        restarts++;
        open.clear();
    }

    /** The time up to which everything has been seen. */
    long provenAt() {
        return provenAt;
    }
}
