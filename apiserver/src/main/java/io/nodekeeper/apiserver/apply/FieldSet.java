package io.nodekeeper.apiserver.apply;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A set of fields of an object: a tree of {@link PathElement}s in which each node can be a member of the set. In
 * Kubernetes' form {@code fieldsV1}, a node without children is a member, and a node with children is one if it has a
 * {@code .}. Immutable.
 */
public final class FieldSet {
    /** The empty set. */
    public static final FieldSet EMPTY = new FieldSet(false, new TreeMap<>());

    /** The set with only the node itself. */
    static final FieldSet HERE = new FieldSet(true, new TreeMap<>());

    private static final String SELF = ".";

    /** The most characters of a path in a message. Otherwise many fields below a long name would make a huge response. */
    private static final int PATH = 500;

    private final boolean self;
    /** No child is an empty set. */
    private final SortedMap<String, FieldSet> children;

    private FieldSet(boolean self, SortedMap<String, FieldSet> children) {
        this.self = self;
        this.children = children;
    }

    /**
     * The fields that {@code value} sets: scalars, atomic lists and objects, items of other lists, and empty objects.
     */
    public static FieldSet of(JsonValue value, Schema schema) {
        return of(value, Optional.of(schema));
    }

    public static FieldSet of(JsonValue value, Optional<Schema> schema) {
        if (schema.isPresent() && schema.get().isAtomic()) {
            return HERE;
        }
        return switch (value) {
            case JsonObject object
            when !object.isEmpty() -> {
                SortedMap<String, FieldSet> children = new TreeMap<>();
                boolean map = schema.orElse(Schema.Scalar.ANY) instanceof Schema.MapOf;
                object.fields().forEach((name, field) -> {
                    FieldSet content = of(field, schema.flatMap(known -> known.field(name)));
                    children.put(PathElement.field(name), map ? content.withSelf() : content);
                });
                yield new FieldSet(false, children);
            }
            case JsonArray array
            when schema.orElse(Schema.Scalar.ANY) instanceof Schema.ListOf list && list.isMerged() -> {
                SortedMap<String, List<FieldSet>> children = new TreeMap<>();
                for (JsonValue item : array.items()) {
                    String element = PathElement.of(item, list);
                    FieldSet content = element.startsWith("k:")
                            ? of(item, Optional.of(list.item())).withSelf()
                            : HERE;
                    children.computeIfAbsent(element, key -> new ArrayList<>()).add(content);
                }
                yield children.isEmpty() ? HERE : new FieldSet(false, unions(children));
            }
            default -> HERE;
        };
    }

    /** The set with these children, by element, without the empty ones. Takes ownership of the map. */
    static FieldSet above(SortedMap<String, FieldSet> children) {
        children.values().removeIf(FieldSet::isEmpty);
        return new FieldSet(false, children);
    }

    /** Parses a {@code fieldsV1}. */
    public static FieldSet parse(JsonObject fields) {
        FieldSet set = parseNode(fields);
        return fields.isEmpty() ? EMPTY : set;
    }

    private static FieldSet parseNode(JsonObject node) {
        SortedMap<String, FieldSet> children = new TreeMap<>();
        node.fields().forEach((element, child) -> {
            boolean known = element.startsWith("f:") || element.startsWith("k:{") || element.startsWith("v:");
            if (known && child instanceof JsonObject object) {
                children.put(element, parseNode(object));
            }
        });
        return new FieldSet(children.isEmpty() || node.has(SELF), children);
    }

    /**
     * The set for {@code schema}: the owner of a part of an atomic value owns the value. A set may have such parts if an
     * older version of the server or a client wrote it.
     */
    FieldSet fitted(Schema schema) {
        if (children.isEmpty()) {
            return this;
        }
        if (schema.isAtomic()) {
            return HERE;
        }
        SortedMap<String, FieldSet> fitted = new TreeMap<>();
        children.forEach((element, child) -> fitted.put(
                element, PathElement.schema(element, schema).map(child::fitted).orElse(child)));
        return new FieldSet(self, fitted);
    }

    /** The set as {@code fieldsV1}. */
    public JsonObject toJson() {
        JsonObject.Builder json = JsonObject.builder();
        if (self && !children.isEmpty()) {
            json.put(SELF, JsonObject.EMPTY);
        }
        children.forEach((element, child) -> json.put(element, child.toJson()));
        return json.build();
    }

    /** Whether the set has no members. */
    public boolean isEmpty() {
        return !self && children.isEmpty();
    }

    boolean hasSelf() {
        return self;
    }

    /** The members at and below {@code element}. */
    FieldSet child(String element) {
        return children.getOrDefault(element, EMPTY);
    }

    /** This set without the members at and below {@code element}. */
    public FieldSet without(String element) {
        SortedMap<String, FieldSet> rest = new TreeMap<>(children);
        rest.remove(element);
        return new FieldSet(self, rest);
    }

    FieldSet withSelf() {
        return self ? this : new FieldSet(true, children);
    }

    /** The union of this set and {@code other}. */
    public FieldSet union(FieldSet other) {
        SortedMap<String, FieldSet> all = new TreeMap<>(children);
        other.children.forEach((element, child) -> all.merge(element, child, FieldSet::union));
        return new FieldSet(self || other.self, all);
    }

    /** The union of {@code sets}. The time is linear in their total size. */
    public static FieldSet union(List<FieldSet> sets) {
        if (sets.size() == 1) {
            return sets.getFirst();
        }
        boolean self = false;
        SortedMap<String, List<FieldSet>> children = new TreeMap<>();
        for (FieldSet set : sets) {
            self |= set.self;
            set.children.forEach((element, child) ->
                    children.computeIfAbsent(element, key -> new ArrayList<>()).add(child));
        }
        return new FieldSet(self, unions(children));
    }

    private static SortedMap<String, FieldSet> unions(SortedMap<String, List<FieldSet>> sets) {
        SortedMap<String, FieldSet> unions = new TreeMap<>();
        sets.forEach((element, several) -> unions.put(element, union(several)));
        return unions;
    }

    /** The members of this set that are not members of {@code other}. */
    public FieldSet minus(FieldSet other) {
        SortedMap<String, FieldSet> rest = new TreeMap<>();
        children.forEach((element, child) -> {
            FieldSet left = child.minus(other.child(element));
            if (!left.isEmpty()) {
                rest.put(element, left);
            }
        });
        return new FieldSet(self && !other.self, rest);
    }

    /** The members of both sets. */
    FieldSet intersection(FieldSet other) {
        SortedMap<String, FieldSet> both = new TreeMap<>();
        children.forEach((element, child) -> {
            FieldSet common = child.intersection(other.child(element));
            if (!common.isEmpty()) {
                both.put(element, common);
            }
        });
        return new FieldSet(self && other.self, both);
    }

    /** The paths of the first {@code most} members, such as {@code .metadata.labels.a}, each at most 500 characters long. */
    public List<String> paths(int most) {
        List<String> paths = new ArrayList<>();
        collect("", paths, most);
        return paths;
    }

    private void collect(String path, List<String> paths, int most) {
        if (self && paths.size() < most) {
            paths.add(path);
        }
        for (var child : children.entrySet()) {
            if (paths.size() >= most) {
                return;
            }
            String longer = path + PathElement.show(child.getKey());
            child.getValue().collect(longer.substring(0, Math.min(longer.length(), PATH)), paths, most);
        }
    }

    /** The number of members. */
    int size() {
        int size = self ? 1 : 0;
        for (FieldSet child : children.values()) {
            size += child.size();
        }
        return size;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FieldSet set && self == set.self && children.equals(set.children);
    }

    @Override
    public int hashCode() {
        return 31 * children.hashCode() + Boolean.hashCode(self);
    }

    @Override
    public String toString() {
        return toJson().toString();
    }
}
