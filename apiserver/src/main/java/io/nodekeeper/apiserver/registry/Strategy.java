package io.nodekeeper.apiserver.registry;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The rules of one kind, where they differ from those of all. Implementations are immutable and do no I/O. */
public interface Strategy {

    /** The name's form. */
    default Optional<String> nameFault(String name) {
        return Names.subdomainFault(name);
    }

    /** Completes an object that is about to be created. */
    default JsonObject prepareCreate(JsonObject object, Instant now) {
        return object;
    }

    /** Completes an object that is about to replace {@code old}. */
    default JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return object;
    }

    /** What is wrong with an object on its own. */
    default List<FieldError> validate(JsonObject object) {
        return List.of();
    }

    /** What is wrong with an object that is about to be created, besides. */
    default List<FieldError> validateCreate(JsonObject object) {
        return List.of();
    }

    /** Which of {@code fields} are not those of {@code old}, as they must be; {@code path} stands before each. */
    static List<FieldError> immutable(String path, JsonObject object, JsonObject old, List<String> fields) {
        return fields.stream()
                .filter(field -> !object.get(field).equals(old.get(field)))
                .map(field -> FieldError.invalid(
                        path + field, object.get(field).map(Object::toString).orElse("null"), "field is immutable"))
                .toList();
    }

    /** What is wrong with an object as the successor of {@code old}. */
    default List<FieldError> validateUpdate(JsonObject object, JsonObject old) {
        return List.of();
    }

    /** Whether an update must say which version it was made for. */
    default boolean needsResourceVersion() {
        return false;
    }

    /** Whether an update of an absent object creates it. */
    default boolean createsOnUpdate() {
        return false;
    }

    /** Seconds that a deleted object stays so that its work can end; 0 to remove it at once. */
    default long graceSeconds(JsonObject object, Optional<Long> asked) {
        return 0;
    }
}
