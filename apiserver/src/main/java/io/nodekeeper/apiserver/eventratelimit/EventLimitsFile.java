package io.nodekeeper.apiserver.eventratelimit;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.apiserver.yaml.Yaml;

/** Reads limits for Events from a file, in YAML or JSON. */
public final class EventLimitsFile {
    private EventLimitsFile() {}

    /**
     * The limits in {@code content}.
     *
     * @throws IllegalArgumentException with all faults, one per line
     */
    public static EventLimits read(byte[] content) {
        try {
            // JSON is also YAML.
            return EventLimits.parse(Yaml.parse(content, fault -> {}));
        } catch (ApiException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }
}
