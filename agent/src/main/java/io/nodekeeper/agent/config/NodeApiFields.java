package io.nodekeeper.agent.config;

import io.nodekeeper.time.GoDuration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The fields {@code authentication} and {@code authorization} of a configuration file, by their paths such as {@code
 * authentication.webhook.cacheTTL}. Used by one thread.
 */
final class NodeApiFields {
    /** As deep as the known fields, so that no file makes the reader recurse. */
    private static final int DEPTH = 3;

    private final Map<String, Object> values = new TreeMap<>();
    private final List<String> faults;

    /** Reads both fields, of which each may be empty; adds what is wrong to {@code faults}. */
    NodeApiFields(Optional<Map<?, ?>> authentication, Optional<Map<?, ?>> authorization, List<String> faults) {
        this.faults = faults;
        authentication.ifPresent(map -> flatten("authentication", map, 1));
        authorization.ifPresent(map -> flatten("authorization", map, 1));
    }

    private void flatten(String path, Map<?, ?> map, int depth) {
        map.forEach((key, value) -> {
            String below = path + "." + key;
            if (value instanceof Map<?, ?> inner && depth < DEPTH) {
                flatten(below, inner, depth + 1);
            } else if (value != null) {
                values.put(below, value);
            }
        });
    }

    boolean bool(String path, boolean usual) {
        Object value = values.getOrDefault(path, usual);
        if (value instanceof Boolean set) {
            return set;
        }
        faults.add(path + " must be true or false, got " + value);
        return usual;
    }

    /** A duration; 0 means the default, as in Kubernetes. */
    Duration duration(String path, Duration usual) {
        Object value = values.get(path);
        if (value == null) {
            return usual;
        }
        try {
            Duration set = value instanceof String text ? GoDuration.parse(text) : Duration.ofSeconds(-1);
            if (!set.isNegative()) {
                return set.isZero() ? usual : set;
            }
        } catch (IllegalArgumentException e) {
            // Reported below.
        }
        faults.add(path + " must be a duration like 2m, got " + value);
        return usual;
    }

    Optional<Path> file(String path) {
        Object value = values.getOrDefault(path, "");
        if (value instanceof String text && (text.isEmpty() || text.startsWith("/"))) {
            return text.isEmpty() ? Optional.empty() : Optional.of(Path.of(text));
        }
        faults.add(path + " must be an absolute path, got " + value);
        return Optional.empty();
    }

    /** Whether {@code authorization.mode} is Webhook, the default. */
    boolean authorizes() {
        Object mode = values.getOrDefault("authorization.mode", "Webhook");
        if (!mode.equals("Webhook") && !mode.equals("AlwaysAllow")) {
            faults.add("authorization.mode must be Webhook or AlwaysAllow, got " + mode);
        }
        return !mode.equals("AlwaysAllow");
    }
}
