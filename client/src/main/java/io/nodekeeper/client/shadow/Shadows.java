package io.nodekeeper.client.shadow;

import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Computes objects with the withheld writes applied. A write covers one part of its object (its spec, its status, its
 * metadata's labels or deletion) until that part changes in reality: the last writer wins, as on a server. Not
 * thread-safe.
 */
final class Shadows {
    private static final List<String> PARTS = List.of("spec", "status");
    private static final List<String> METADATA = List.of("labels", "annotations", "deletionTimestamp");

    /** A part's real value and its shadow value; null if absent. */
    private record Cover(JsonValue real, JsonValue shadow) {}

    private static final class Shadow {
        private final String uid;
        private final Map<String, Cover> covers = new HashMap<>();
        private boolean deleted;

        private Shadow(String uid) {
            this.uid = uid;
        }
    }

    private final Map<String, Shadow> byPath = new HashMap<>();
    private final Map<String, Set<String>> byPlural = new HashMap<>();

    /** Whether any object of that resource has a shadow. */
    boolean cover(String plural) {
        return byPlural.containsKey(plural);
    }

    /** The object at {@code path} with the writes applied; empty if a write deleted it. */
    Optional<JsonObject> apply(ShadowTarget target, String path, JsonObject real) {
        Shadow shadow = byPath.get(path);
        if (shadow == null) {
            return Optional.of(real);
        }
        if (!shadow.uid.equals(uid(real))) {
            forget(target, path);
            return Optional.of(real);
        }
        if (shadow.deleted) {
            return Optional.empty();
        }
        JsonObject object = real;
        for (String part : List.copyOf(shadow.covers.keySet())) {
            Cover cover = shadow.covers.getOrDefault(part, new Cover(JsonNull.NULL, JsonNull.NULL));
            if (part(real, part).equals(cover.real)) {
                object = withPart(object, part, cover.shadow);
            } else {
                shadow.covers.remove(part);
            }
        }
        if (shadow.covers.isEmpty()) {
            forget(target, path);
        }
        return Optional.of(object);
    }

    /** Makes {@code real} at the target appear as {@code wanted}. */
    void put(ShadowTarget target, JsonObject real, JsonObject wanted) {
        Shadow shadow = shadow(target, real);
        PARTS.forEach(part -> cover(shadow, part, real, wanted));
        METADATA.forEach(part -> cover(shadow, part, real, wanted));
        if (shadow.covers.isEmpty()) {
            forget(target, target.object());
        }
    }

    /** Makes {@code real} at the target appear deleted. */
    void delete(ShadowTarget target, JsonObject real) {
        shadow(target, real).deleted = true;
    }

    /** The object at {@code path} was deleted in reality. */
    void forget(ShadowTarget target, String path) {
        byPath.remove(path);
        byPlural.computeIfPresent(target.plural(), (plural, paths) -> {
            paths.remove(path);
            return paths.isEmpty() ? null : paths;
        });
    }

    private Shadow shadow(ShadowTarget target, JsonObject real) {
        String path = target.object();
        byPlural.computeIfAbsent(target.plural(), plural -> new HashSet<>()).add(path);
        return byPath.computeIfAbsent(path, unused -> new Shadow(uid(real)));
    }

    private static void cover(Shadow shadow, String part, JsonObject real, JsonObject wanted) {
        JsonValue is = part(real, part);
        JsonValue shall = part(wanted, part);
        if (is.equals(shall)) {
            shadow.covers.remove(part);
        } else {
            shadow.covers.put(part, new Cover(is, shall));
        }
    }

    private static JsonValue part(JsonObject object, String part) {
        JsonObject holder = METADATA.contains(part) ? object.object("metadata") : object;
        return holder.get(part).orElse(JsonNull.NULL);
    }

    private static JsonObject withPart(JsonObject object, String part, JsonValue value) {
        return METADATA.contains(part)
                ? object.update("metadata", metadata -> with(metadata, part, value))
                : with(object, part, value);
    }

    private static JsonObject with(JsonObject object, String name, JsonValue value) {
        return value == JsonNull.NULL ? object.without(name) : object.with(name, value);
    }

    private static String uid(JsonObject object) {
        return object.object("metadata").text("uid");
    }
}
