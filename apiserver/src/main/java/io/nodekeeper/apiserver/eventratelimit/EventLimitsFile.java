package io.nodekeeper.apiserver.eventratelimit;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.yaml.Yaml;

/** Parses the file of Event limits, in YAML or JSON. */
public final class EventLimitsFile {
    private EventLimitsFile() {}

    /**
     * Parses {@code content}.
     *
     * @throws IllegalArgumentException with all errors, one per line
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
