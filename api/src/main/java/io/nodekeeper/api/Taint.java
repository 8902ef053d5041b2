package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;

/**
 * An entry of a node's {@code spec.taints}, identified by key and effect.
 * @param json the entry
 */
public record Taint(JsonObject json) {
    /** The effects. */
    public static final String NO_SCHEDULE = "NoSchedule";
    /** See {@link #NO_SCHEDULE}. */
    public static final String PREFER_NO_SCHEDULE = "PreferNoSchedule";
    /** See {@link #NO_SCHEDULE}: pods that do not tolerate it are evicted. */
    public static final String NO_EXECUTE = "NoExecute";

    /** The well-known keys. */
    public static final String NOT_READY = "node.kubernetes.io/not-ready";
    /** See {@link #NOT_READY}. */
    public static final String UNREACHABLE = "node.kubernetes.io/unreachable";
    /** See {@link #NOT_READY}. */
    public static final String UNSCHEDULABLE = "node.kubernetes.io/unschedulable";
    /** See {@link #NOT_READY}. */
    public static final String MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure";
    /** See {@link #NOT_READY}. */
    public static final String DISK_PRESSURE = "node.kubernetes.io/disk-pressure";
    /** See {@link #NOT_READY}. */
    public static final String PID_PRESSURE = "node.kubernetes.io/pid-pressure";
    /** See {@link #NOT_READY}. */
    public static final String NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable";

    /** A taint with an empty value, added at {@code timeAdded}. */
    public static Taint of(String key, String effect, Instant timeAdded) {
        return new Taint(JsonObject.builder()
                .put("key", key)
                .put("effect", effect)
                .put("timeAdded", KubeTime.format(timeAdded))
                .build());
    }

    /** {@code key}. */
    public String key() {
        return json.text("key");
    }

    /** {@code value}, often empty. */
    public String value() {
        return json.text("value");
    }

    /** {@code effect}. */
    public String effect() {
        return json.text("effect");
    }
}
