package io.nodekeeper.agent.culprit.load;

import java.time.Duration;

/**
 * What the threads of a process have got from the processors since they were started, from {@code schedstat} in proc(5).
 * Immutable.
 *
 * @param ran the time on a processor, summed over the threads
 * @param queued the time in which a thread was ready to run and waited for a processor, summed over the threads
 */
public record Work(Duration ran, Duration queued) {
    /** Nothing yet. */
    public static final Work NONE = new Work(Duration.ZERO, Duration.ZERO);

    /** Both together. */
    public Work plus(Work other) {
        return new Work(ran.plus(other.ran), queued.plus(other.queued));
    }
}
