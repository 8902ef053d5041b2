package io.nodekeeper.agent.facts;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * How many devices of plugins the node has, by the name of their resource. A resource whose plugin is gone for long is there with
 * 0. Immutable.
 */
public record DeviceCapacity(Map<String, Amount> amounts) {
    /** No devices. */
    public static final DeviceCapacity NONE = new DeviceCapacity(Map.of());

    /** Keeps a copy, sorted. */
    public DeviceCapacity {
        amounts = Collections.unmodifiableMap(new TreeMap<>(amounts));
    }

    /**
     * The devices of one resource.
     *
     * @param capacity all of them
     * @param allocatable the healthy ones
     */
    public record Amount(long capacity, long allocatable) {
        /** None. */
        public static final Amount ZERO = new Amount(0, 0);
    }
}
