package io.nodekeeper.agent.metrics;

import java.time.Duration;
import java.util.Optional;

/**
 * The duration of each part of the start; empty for parts that have not ended or do not apply. Immutable.
 *
 * @param preKubelet boot of the kernel → start of the process
 * @param preRegistration start of the process → first try to register
 * @param registration first try → the Node was created
 * @param postRegistration the Node was created → it was Ready
 * @param total boot → Ready
 */
public record StartupTimes(
        Optional<Duration> preKubelet,
        Optional<Duration> preRegistration,
        Optional<Duration> registration,
        Optional<Duration> postRegistration,
        Optional<Duration> total) {
    /** Nothing is known. */
    public static final StartupTimes NONE =
            new StartupTimes(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
}
