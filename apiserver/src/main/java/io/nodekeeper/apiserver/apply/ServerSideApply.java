package io.nodekeeper.apiserver.apply;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.apply.ManagedFields.Manager;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Performs server-side apply in three steps: merges the wanted fields into the object; removes fields that the manager
 * applied before and no longer wants, unless another manager owns them, too; then compares all changes with the fields
 * of other managers, which are conflicts unless the manager forces them. The schema says whether a list is merged by
 * key, merged as a set, or is one value, and whether an object is.
 */
public final class ServerSideApply {
    /** The most characters of a value that a message repeats. */
    private static final int SHOWN = 500;

    private ServerSideApply() {}

    /**
     * The result of an apply.
     *
     * @param object the object after the apply
     * @param owners the owners of its fields
     * @param conflicts the fields that other managers own with another value; empty if the apply was forced
     */
    public record Applied(JsonObject object, ManagedFields owners, Map<Manager, FieldSet> conflicts) {

        /** The refusal in Kubernetes' words, with the first 100 conflicts. */
        public ApiException refusal() {
            List<JsonValue> causes = new ArrayList<>();
            Map<String, List<String>> byManager = new TreeMap<>();
            conflicts.forEach((manager, fields) -> {
                for (String path : fields.paths(ApiException.ERRORS - causes.size())) {
                    byManager
                            .computeIfAbsent(manager.toString(), known -> new ArrayList<>())
                            .add(path);
                    causes.add(JsonObject.builder()
                            .put("reason", "FieldManagerConflict")
                            .put("message", "conflict with " + manager)
                            .put("field", path)
                            .build());
                }
            });
            StringBuilder text = new StringBuilder("Apply failed with "
                    + conflicts.values().stream().mapToInt(FieldSet::size).sum());
            if (causes.size() == 1) {
                byManager.forEach((manager, paths) -> text.append(" conflict: conflict with ")
                        .append(manager)
                        .append(": ")
                        .append(paths.getFirst()));
            } else {
                text.append(" conflicts: ");
                List<String> lines = new ArrayList<>();
                byManager.forEach((manager, paths) -> {
                    lines.add("conflicts with " + manager + ":");
                    paths.forEach(path -> lines.add("- " + path));
                });
                text.append(String.join("\n", lines));
            }
            return new ApiException(
                    409,
                    "Conflict",
                    text.toString(),
                    JsonObject.builder().put("causes", new JsonArray(causes)).build());
        }
    }

    /**
     * Applies {@code wanted} to {@code live} for {@code manager}.
     *
     * @param owned the fields that the manager owns afterwards: those of {@code wanted}, without fields that the server owns
     * @param force whether to take fields from other managers
     * @throws ApiException if {@code wanted} has an item of a keyed list without its key, or two items with the same key
     */
    public static Applied apply(
            JsonObject live,
            JsonObject wanted,
            FieldSet owned,
            ManagedFields owners,
            Manager manager,
            boolean force,
            Schema schema,
            String now) {
        check(Place.WHOLE, wanted, Optional.of(schema));
        JsonObject merged = (JsonObject) merge(live, wanted, Optional.of(schema));
        FieldSet before = owners.of(manager);
        ManagedFields next = owners.with(manager, owned, now);
        JsonObject result = removed(merged, before, next.all(), Optional.of(schema)) instanceof JsonObject left
                ? left
                : JsonObject.EMPTY;
        FieldComparison change = FieldComparison.of(live, result, schema);
        return new Applied(
                result, next.taken(manager, change), force ? Map.of() : next.others(manager, change.written()));
    }

    /**
     * Where a value is. Its text is made for errors only: names have no limit, and each value below a long one would copy it.
     *
     * @param step the name of a field, or {@code []} for an item of a list; empty for the whole object
     */
    private record Place(Optional<Place> above, String step) {
        private static final Place WHOLE = new Place(Optional.empty(), "");
        /** The most characters of a place in a message. */
        private static final int SHOWN = 500;

        @Override
        public String toString() {
            if (above.isEmpty()) {
                return step;
            }
            String text = above.get() + (step.equals("[]") ? "" : ".") + step;
            return text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
        }
    }

    /** Refuses lists with two items that have the same key. */
    private static void check(Place place, JsonValue value, Optional<Schema> schema) {
        if (value instanceof JsonObject object) {
            object.fields()
                    .forEach((name, field) -> check(
                            new Place(Optional.of(place), name), field, schema.flatMap(known -> known.field(name))));
        }
        if (value instanceof JsonArray array && schema.orElse(Schema.Scalar.ANY) instanceof Schema.ListOf list) {
            Set<String> seen = new HashSet<>();
            for (JsonValue item : array.items()) {
                check(new Place(Optional.of(place), "[]"), item, Optional.of(list.item()));
                if (!list.isMerged()) {
                    continue;
                }
                String element = list.set()
                        ? PathElement.value(item)
                        : PathElement.item(item, list)
                                .orElseThrow(() ->
                                        ApiException.badRequest(place + ": an item of this list must have its key \""
                                                + list.mergeKey() + "\", got " + shown(item)));
                if (!seen.add(element)) {
                    throw ApiException.badRequest(
                            place + ": duplicate entries for key " + shown(PathElement.show(element)));
                }
            }
        }
    }

    private static String shown(Object value) {
        String text = value.toString();
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }

    private static JsonValue merge(JsonValue live, JsonValue wanted, Optional<Schema> schema) {
        if (schema.isPresent() && schema.get().isAtomic()) {
            return wanted;
        }
        if (wanted instanceof JsonObject fields) {
            JsonObject base = live instanceof JsonObject object ? object : JsonObject.EMPTY;
            JsonObject.Builder merged = base.toBuilder();
            fields.fields()
                    .forEach((name, field) -> merged.put(
                            name,
                            merge(
                                    base.get(name).orElse(JsonNull.NULL),
                                    field,
                                    schema.flatMap(known -> known.field(name)))));
            return merged.build();
        }
        if (wanted instanceof JsonArray items
                && live instanceof JsonArray before
                && schema.orElse(Schema.Scalar.ANY) instanceof Schema.ListOf list
                && list.isMerged()) {
            Map<String, List<JsonValue>> merged = new LinkedHashMap<>();
            before.items()
                    .forEach(item -> merged.computeIfAbsent(PathElement.of(item, list), key -> new ArrayList<>())
                            .add(item));
            for (JsonValue item : items.items()) {
                // Older versions stored duplicates; the first item counts.
                List<JsonValue> same = merged.computeIfAbsent(
                        PathElement.of(item, list), key -> new ArrayList<>(List.of(JsonObject.EMPTY)));
                same.set(0, merge(same.getFirst(), item, Optional.of(list.item())));
            }
            return new JsonArray(merged.values().stream().flatMap(List::stream).toList());
        }
        return wanted;
    }

    /** {@code value} without the fields in {@code dropped} that have no owner in {@code owned} at or below them. */
    private static JsonValue removed(JsonValue value, FieldSet dropped, FieldSet owned, Optional<Schema> schema) {
        if (dropped.isEmpty()) {
            return value;
        }
        if (value instanceof JsonObject object) {
            JsonObject.Builder left = JsonObject.builder();
            object.fields().forEach((name, field) -> {
                String element = PathElement.field(name);
                kept(field, element, dropped, owned, schema.flatMap(known -> known.field(name)))
                        .ifPresent(rest -> left.put(name, rest));
            });
            return left.build();
        }
        if (value instanceof JsonArray array && schema.orElse(Schema.Scalar.ANY) instanceof Schema.ListOf list) {
            List<JsonValue> left = new ArrayList<>();
            for (JsonValue item : array.items()) {
                kept(item, PathElement.of(item, list), dropped, owned, Optional.of(list.item()))
                        .ifPresent(left::add);
            }
            return new JsonArray(left);
        }
        return value;
    }

    /** The rest of the value at {@code element}; empty if the removal leaves nothing. */
    private static Optional<JsonValue> kept(
            JsonValue part, String element, FieldSet dropped, FieldSet owned, Optional<Schema> schema) {
        FieldSet drop = dropped.child(element);
        FieldSet own = owned.child(element);
        if (drop.hasSelf() && own.isEmpty()) {
            return Optional.empty();
        }
        JsonValue rest = removed(part, drop, own, schema);
        boolean emptied = !rest.equals(part)
                && !own.hasSelf()
                && (rest instanceof JsonObject object && object.isEmpty()
                        || rest instanceof JsonArray array && array.isEmpty());
        return emptied ? Optional.empty() : Optional.of(rest);
    }
}
