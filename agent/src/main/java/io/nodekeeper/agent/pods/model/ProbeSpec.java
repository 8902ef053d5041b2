package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.Optional;

/**
 * One probe of a container, with the API's defaults. Immutable.
 *
 * @param initialDelay from the start of the container to its first probe
 * @param period from the start of one probe to that of the next
 * @param timeout after which a probe has failed
 * @param successThreshold how many successes in a row count
 * @param failureThreshold how many failures in a row count
 * @param grace the container's time to end after a failure, instead of the pod's
 */
public record ProbeSpec(
        ProbeKind kind,
        Action action,
        Duration initialDelay,
        Duration period,
        Duration timeout,
        int successThreshold,
        int failureThreshold,
        Optional<Duration> grace) {
    /** The longest of these times that counts, s: a month. */
    private static final long LONGEST = 2_592_000;

    /** The probe of that kind of {@code container}, if it has one. */
    public static Optional<ProbeSpec> of(ContainerSpec container, ProbeKind kind) {
        JsonObject json = container.json().object(kind.field());
        return Action.of(json)
                .map(action -> new ProbeSpec(
                        kind,
                        action,
                        seconds(json, "initialDelaySeconds", 0, 0),
                        seconds(json, "periodSeconds", 1, 10),
                        seconds(json, "timeoutSeconds", 1, 1),
                        threshold(json, "successThreshold", 1),
                        threshold(json, "failureThreshold", 3),
                        json.number("terminationGracePeriodSeconds")
                                .map(seconds -> Duration.ofSeconds(Math.clamp(seconds, 1, LONGEST)))));
    }

    private static Duration seconds(JsonObject json, String field, long least, long absent) {
        long seconds = json.number(field).filter(value -> value > 0).orElse(absent);
        return Duration.ofSeconds(Math.clamp(seconds, least, LONGEST));
    }

    private static int threshold(JsonObject json, String field, long absent) {
        return Math.toIntExact(
                Math.clamp(json.number(field).filter(value -> value > 0).orElse(absent), 1L, (long) Integer.MAX_VALUE));
    }
}
