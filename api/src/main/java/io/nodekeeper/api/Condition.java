package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.Optional;

/**
 * One entry of {@code status.conditions}.
 *
 * @param json the entry as it stands
 */
public record Condition(JsonObject json) {
    /** The values of a condition's status. */
    public static final String TRUE = "True";
    /** See {@link #TRUE}. */
    public static final String FALSE = "False";
    /** See {@link #TRUE}: the state is unknown, because the reporter stopped reporting. */
    public static final String UNKNOWN = "Unknown";

    /** The node condition types, as Kubernetes names them. */
    public static final String READY = "Ready";
    /** See {@link #READY}. */
    public static final String MEMORY_PRESSURE = "MemoryPressure";
    /** See {@link #READY}. */
    public static final String DISK_PRESSURE = "DiskPressure";
    /** See {@link #READY}. */
    public static final String PID_PRESSURE = "PIDPressure";
    /** See {@link #READY}: set by the network plugin, never by agent or controller. */
    public static final String NETWORK_UNAVAILABLE = "NetworkUnavailable";

    /** A condition with all of its fields. */
    public static Condition of(
            String type, String status, String reason, String message, Instant heartbeat, Instant transition) {
        return new Condition(JsonObject.builder()
                .put("type", type)
                .put("status", status)
                .put("lastHeartbeatTime", KubeTime.format(heartbeat))
                .put("lastTransitionTime", KubeTime.format(transition))
                .put("reason", reason)
                .put("message", message)
                .build());
    }

    /** {@code type}. */
    public String type() {
        return json.text("type");
    }

    /** {@code status}: True, False or Unknown. */
    public String status() {
        return json.text("status");
    }

    /** {@code reason}, one word in CamelCase. */
    public String reason() {
        return json.text("reason");
    }

    /** {@code message}, for people. */
    public String message() {
        return json.text("message");
    }

    /** {@code lastHeartbeatTime}: when the reporter last said so, by its own clock. */
    public Optional<Instant> lastHeartbeatTime() {
        return KubeTime.parse(json.text("lastHeartbeatTime"));
    }

    /** {@code lastTransitionTime}: when {@code status} last changed. */
    public Optional<Instant> lastTransitionTime() {
        return KubeTime.parse(json.text("lastTransitionTime"));
    }
}
