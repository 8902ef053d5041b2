package io.nodekeeper.agent.logs;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Which part of a log a client wants, as {@code PodLogOptions} of Kubernetes. Immutable.
 *
 * @param follow whether the answer continues until the container ends
 * @param timestamps whether each line begins with its time
 * @param tailLines how many lines of the file's end are looked at; empty for all
 * @param since lines before this time are left out
 * @param limitBytes the answer ends after as many bytes
 */
public record LogOptions(
        boolean follow, boolean timestamps, OptionalLong tailLines, Optional<Instant> since, OptionalLong limitBytes) {
    /** The whole log up to now. */
    public static final LogOptions ALL =
            new LogOptions(false, false, OptionalLong.empty(), Optional.empty(), OptionalLong.empty());
}
