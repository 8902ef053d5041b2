package io.nodekeeper.time;

import java.time.Duration;

/** An outside call that was not answered in time; the message names the call and its deadline. */
public final class DeadlineExceededException extends RuntimeException {

    /** {@code what} is the call, for example {@code GET /api/v1/nodes/n1}. */
    public DeadlineExceededException(String what, Duration deadline) {
        super(what + " did not answer within " + GoDuration.format(deadline));
    }
}
