package io.nodekeeper.client;

import java.util.Optional;

/** Hears how calls went. Called on the client's loop, before whoever made the call. */
public interface CallObserver {
    /** Hears nothing. */
    CallObserver NONE = (call, nanos, now, error) -> {};

    /**
     * A call is over.
     *
     * @param nanos how long it took
     * @param now the loop's monotonic clock when it ended
     * @param error why it failed, if it did
     */
    void ended(Call call, long nanos, long now, Optional<Throwable> error);
}
