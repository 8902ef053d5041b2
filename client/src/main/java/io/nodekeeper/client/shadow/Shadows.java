package io.nodekeeper.client.shadow;

import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
        /** The real object's resourceVersion at the latest write; -1 if it is not a number. */
        private long version;

        private Shadow(String uid) {
            this.uid = uid;
        }
    }

    /**
     * Lists in pages that are remembered at the same time. A client lists a resource once at a time, and a controller lists
     * fewer than ten resources.
     */
    private static final int LISTS = 16;

    /** Bound: the objects that exist. A watch, a read or a list reports each deletion. */
    private final Map<String, Shadow> byPath = new HashMap<>();

    private final Map<String, Set<String>> byPlural = new HashMap<>();
    /**
     * The lists that have more pages, by the continue token of the next page: paths of shadows that no page has shown yet. At
     * most {@link #LISTS}; the oldest one is dropped.
     */
    private final Map<String, Set<String>> lists = new LinkedHashMap<>();

    /** The number of objects that have a shadow. */
    int size() {
        return byPath.size();
    }

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

    /**
     * A page of a list was received. After the last page of a list without selectors this forgets the shadows of objects that
     * the list does not contain although they are older than the list. These objects were deleted in reality, and the watch was
     * cut when that happened.
     */
    void listed(ShadowTarget collection, JsonObject page) {
        if (collection.isSelective()) {
            return;
        }
        String token = collection.parameter("continue");
        Set<String> missing = token.isEmpty() ? olderThan(collection, page) : lists.remove(token);
        if (missing == null) {
            return;
        }
        page.array("items").objects().forEach(item -> missing.remove(collection.object(item.object("metadata"))));
        String next = page.object("metadata").text("continue");
        if (next.isEmpty()) {
            missing.forEach(path -> forget(collection, path));
        } else if (!missing.isEmpty()) {
            lists.put(next, missing);
            if (lists.size() > LISTS) {
                lists.remove(lists.keySet().iterator().next());
            }
        }
    }

    /** The paths of the shadows in the collection whose objects existed before {@code list} was made. */
    private Set<String> olderThan(ShadowTarget collection, JsonObject list) {
        long made = version(list);
        Set<String> paths = byPlural.getOrDefault(collection.plural(), Set.of());
        Set<String> older = new HashSet<>();
        byPath.forEach((path, shadow) -> {
            boolean known = shadow.version >= 0 && shadow.version <= made;
            if (known && paths.contains(path) && collection.holds(path)) {
                older.add(path);
            }
        });
        return older;
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
        // The object exists now, whatever a list that began earlier shows.
        lists.values().forEach(missing -> missing.remove(path));
        Shadow shadow = byPath.computeIfAbsent(path, unused -> new Shadow(uid(real)));
        shadow.version = version(real);
        return shadow;
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

    /** The resourceVersion as a number; -1 if it is none. */
    private static long version(JsonObject object) {
        String version = object.object("metadata").text("resourceVersion");
        return version.matches("[0-9]{1,18}") ? Long.parseLong(version) : -1;
    }

    private static String uid(JsonObject object) {
        return object.object("metadata").text("uid");
    }
}
