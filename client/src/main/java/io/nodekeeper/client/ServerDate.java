package io.nodekeeper.client;

import java.time.Duration;
import java.time.Instant;

/**
 * A reading of the API server's clock.
 *
 * @param date the server's time in the response, cut to whole seconds
 * @param sentAt this machine's wall time when the request was sent
 * @param roundTrip from then until the response, by the monotonic clock
 */
public record ServerDate(Instant date, Instant sentAt, Duration roundTrip) {}
