package io.nodekeeper.apiserver.apply;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The owners of an object's fields: its {@code metadata.managedFields}. Immutable. */
public final class ManagedFields {
    /** No field has an owner. */
    public static final ManagedFields NONE = new ManagedFields(Map.of());

    private static final String APPLY = "Apply";
    private static final String UPDATE = "Update";

    /**
     * A client that writes an object.
     *
     * @param name the name of the field manager
     * @param applies whether it writes with apply, which also removes fields that it no longer applies
     * @param apiVersion the version of the objects that it writes
     * @param subresource the subresource that it writes; empty for the object itself
     */
    public record Manager(String name, boolean applies, String apiVersion, String subresource)
            implements Comparable<Manager> {
        private static final Comparator<Manager> ORDER = Comparator.comparing(Manager::name)
                .thenComparing(Manager::applies)
                .thenComparing(Manager::apiVersion)
                .thenComparing(Manager::subresource);

        /** Orders managers, so that hash tables stay fast even if a client chooses names with equal hash codes. */
        @Override
        public int compareTo(Manager other) {
            return ORDER.compare(this, other);
        }

        /** The manager without its version, because applies with different versions are of one manager. */
        private Manager whole() {
            return applies ? new Manager(name, true, "", subresource) : this;
        }

        /** Whether this is the same manager as {@code other}; a manager that applies may change its version. */
        boolean is(Manager other) {
            return name.equals(other.name)
                    && applies == other.applies
                    && subresource.equals(other.subresource)
                    && (applies || apiVersion.equals(other.apiVersion));
        }

        /** The description of the manager in messages about conflicts. */
        @Override
        public String toString() {
            String shown = Json.write(new JsonString(name));
            if (!subresource.isEmpty()) {
                shown += " with subresource \"" + subresource + "\"";
            }
            return applies ? shown : shown + " using " + apiVersion;
        }
    }

    /** The fields that a manager owns, and the time of their last change. */
    private record Owned(FieldSet fields, String time) {}

    private final Map<Manager, Owned> owners;

    private ManagedFields(Map<Manager, Owned> owners) {
        this.owners = owners;
    }

    /** Parses the {@code managedFields} of an object with {@code schema}; skips items that are not valid entries. */
    public static ManagedFields parse(JsonArray entries, Schema schema) {
        Map<Manager, List<FieldSet>> fieldsOf = new LinkedHashMap<>();
        Map<Manager, String> since = new HashMap<>();
        entries.objects().forEach(entry -> {
            FieldSet fields = FieldSet.parse(entry.object("fieldsV1")).fitted(schema);
            if (!fields.isEmpty()) {
                Manager manager = new Manager(
                        entry.text("manager"),
                        entry.text("operation").equals(APPLY),
                        entry.text("apiVersion"),
                        entry.text("subresource"));
                fieldsOf.computeIfAbsent(manager, known -> new ArrayList<>()).add(fields);
                since.putIfAbsent(manager, entry.text("time"));
            }
        });
        Map<Manager, Owned> owners = new LinkedHashMap<>();
        fieldsOf.forEach((manager, sets) ->
                owners.put(manager, new Owned(FieldSet.union(sets), since.getOrDefault(manager, ""))));
        return new ManagedFields(owners);
    }

    /** Writes {@code managedFields}: managers that apply come first, then the order is by time and name. */
    public JsonArray toJson() {
        Comparator<Map.Entry<Manager, Owned>> order =
                Comparator.comparing(owner -> owner.getKey().applies() ? 0 : 1);
        return new JsonArray(owners.entrySet().stream()
                .sorted(order.thenComparing(owner -> owner.getValue().time)
                        .thenComparing(owner -> owner.getKey().name()))
                .<JsonValue>map(owner -> JsonObject.builder()
                        .put("manager", owner.getKey().name())
                        .put("operation", owner.getKey().applies() ? APPLY : UPDATE)
                        .put("apiVersion", owner.getKey().apiVersion())
                        .put("time", owner.getValue().time)
                        .put("fieldsType", "FieldsV1")
                        .put("fieldsV1", owner.getValue().fields.toJson())
                        .putUnlessEmpty("subresource", owner.getKey().subresource())
                        .build())
                .toList());
    }

    /** The fields that {@code manager} owns. */
    public FieldSet of(Manager manager) {
        List<FieldSet> sets = new ArrayList<>();
        owners.forEach((owner, owned) -> {
            if (owner.is(manager)) {
                sets.add(owned.fields);
            }
        });
        return FieldSet.union(sets);
    }

    /** The fields that any manager owns. */
    FieldSet all() {
        return FieldSet.union(owners.values().stream().map(Owned::fields).toList());
    }

    /**
     * The fields among {@code fields} that managers other than {@code manager} own, by manager; without managers that
     * own none.
     */
    Map<Manager, FieldSet> others(Manager manager, FieldSet fields) {
        Map<Manager, List<FieldSet>> shared = new LinkedHashMap<>();
        Map<Manager, Manager> shown = new HashMap<>();
        owners.forEach((owner, owned) -> {
            FieldSet common = owner.is(manager) ? FieldSet.EMPTY : owned.fields.intersection(fields);
            if (!common.isEmpty()) {
                shown.putIfAbsent(owner.whole(), owner);
                shared.computeIfAbsent(owner.whole(), known -> new ArrayList<>())
                        .add(common);
            }
        });
        Map<Manager, FieldSet> others = new LinkedHashMap<>();
        shared.forEach((owner, sets) -> others.put(shown.getOrDefault(owner, owner), FieldSet.union(sets)));
        return others;
    }

    /** A copy in which {@code manager} owns exactly {@code fields}; its time changes only if its fields change. */
    public ManagedFields with(Manager manager, FieldSet fields, String now) {
        if (owners.containsKey(manager) && of(manager).equals(fields)) {
            return this;
        }
        Map<Manager, Owned> changed = new LinkedHashMap<>(owners);
        changed.keySet().removeIf(known -> known.is(manager));
        if (!fields.isEmpty()) {
            changed.put(manager, new Owned(fields, now));
        }
        return new ManagedFields(changed);
    }

    /** The owners after a write by {@code manager}: it owns the fields that it wrote; removed fields have no owner. */
    public ManagedFields written(Manager manager, FieldComparison change, String now) {
        FieldSet own = of(manager).minus(change.removed()).union(change.written());
        return taken(manager, change).with(manager, own, now);
    }

    /** The fields that the other managers still own after {@code manager} made {@code change}. */
    ManagedFields taken(Manager manager, FieldComparison change) {
        FieldSet lost = change.written().union(change.removed());
        Map<Manager, Owned> left = new LinkedHashMap<>();
        owners.forEach((owner, owned) -> {
            FieldSet kept = owner.is(manager) ? owned.fields : owned.fields.minus(lost);
            if (!kept.isEmpty()) {
                left.put(owner, new Owned(kept, owned.time));
            }
        });
        return new ManagedFields(left);
    }
}
