package io.nodekeeper.client;

import java.util.Optional;

/** Receives the outcomes of calls. Called on the client's loop, before the caller gets the result. */
public interface CallObserver {
    /** Ignores all calls. */
    CallObserver NONE = (call, nanos, now, error) -> {};

    /**
     * A call has ended.
     *
     * @param nanos how long it took
     * @param now the loop's monotonic clock when it ended
     * @param error why it failed, if it did
     */
    void ended(Call call, long nanos, long now, Optional<Throwable> error);
}
