package io.nodekeeper.apiserver.registry;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The rules of one kind, in addition to those of all kinds. Implementations are immutable and do no I/O. */
public interface Strategy {

    /** The fault of a name. */
    default Optional<String> nameFault(String name) {
        return Names.subdomainFault(name);
    }

    /** Sets the defaults that an object gets at its creation and at each update. */
    default JsonObject withDefaults(JsonObject object) {
        return object;
    }

    /** Completes an object that is about to be created. */
    default JsonObject prepareCreate(JsonObject object, Instant now) {
        return withDefaults(object);
    }

    /** Completes an object that is about to replace {@code old}. */
    default JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return withDefaults(object);
    }

    /** The faults of an object on its own. */
    default List<FieldError> validate(JsonObject object) {
        return List.of();
    }

    /** Further faults of an object that is about to be created. */
    default List<FieldError> validateCreate(JsonObject object) {
        return List.of();
    }

    /** The faults of immutable {@code fields} that differ from those of {@code old}; {@code path} is their prefix. */
    static List<FieldError> immutable(String path, JsonObject object, JsonObject old, List<String> fields) {
        return fields.stream()
                .filter(field -> !object.get(field).equals(old.get(field)))
                .map(field -> FieldError.invalid(
                        path + field, object.get(field).map(Object::toString).orElse("null"), "field is immutable"))
                .toList();
    }

    /** The faults of an object as an update of {@code old}. */
    default List<FieldError> validateUpdate(JsonObject object, JsonObject old) {
        return List.of();
    }

    /** The rules of writes through a subresource that has others than the resource itself. */
    default Strategy of(String subresource) {
        return this;
    }

    /**
     * What the writer of a valid {@code object} should know. Each text becomes a warning in the response. Most kinds have none and
     * need not parse the object.
     */
    default List<String> warnings(Supplier<JsonObject> object) {
        return List.of();
    }

    /** Whether an update must have a resource version. */
    default boolean needsResourceVersion() {
        return false;
    }

    /** Whether objects are updated all the time, by clients for which some milliseconds of delay under load do not matter. */
    default boolean isRenewed() {
        return false;
    }

    /** Whether an update of an absent object creates it. */
    default boolean createsOnUpdate() {
        return false;
    }

    /** Whether a garbage collector looks after the objects that these own. */
    default boolean isCollected() {
        return true;
    }

    /** The grace period of a deletion in seconds; 0 to delete immediately. */
    default long graceSeconds(JsonObject object, Optional<Long> asked) {
        return 0;
    }
}
