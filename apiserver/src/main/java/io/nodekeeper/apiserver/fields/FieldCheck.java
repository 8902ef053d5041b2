package io.nodekeeper.apiserver.fields;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An object under validation: its value, its path, and the list of errors, which all nested objects share. In each method
 * {@code field} is a field of the object, or empty for the object itself. Paths are built only for errors. Confined to
 * one thread.
 */
public final class FieldCheck {
    /** The most errors that are kept: one more than a response lists, so that the response says that there are more. */
    private static final int MOST_ERRORS = ApiException.ERRORS + 1;

    private final JsonObject value;
    private final @Nullable FieldCheck parent;
    private final String step;
    private final List<FieldError> errors;

    private FieldCheck(JsonObject value, @Nullable FieldCheck parent, String step, List<FieldError> errors) {
        this.value = value;
        this.parent = parent;
        this.step = step;
        this.errors = errors;
    }

    /** The object at {@code path}, such as {@code spec}. */
    public static FieldCheck of(JsonObject value, String path) {
        return new FieldCheck(value, null, path, new ArrayList<>());
    }

    /** All errors so far. */
    public List<FieldError> errors() {
        return errors;
    }

    public JsonObject value() {
        return value;
    }

    String path() {
        return parent == null ? step : parent.path(step);
    }

    private String path(String field) {
        String here = path();
        return here.isEmpty() || field.isEmpty() ? here + field : here + "." + field;
    }

    public boolean has(String field) {
        return value.has(field);
    }

    public String text(String field) {
        return value.text(field);
    }

    public boolean bool(String field) {
        return value.bool(field);
    }

    public Optional<Long> number(String field) {
        return value.number(field);
    }

    public List<String> texts(String field) {
        return value.array(field).strings().toList();
    }

    /** The object in {@code field}; empty if it is absent. */
    public FieldCheck object(String field) {
        return new FieldCheck(value.object(field), this, field, errors);
    }

    /** The objects in the list {@code field}. */
    public List<FieldCheck> items(String field) {
        JsonArray array = value.array(field);
        List<FieldCheck> items = new ArrayList<>(array.items().size());
        for (int i = 0; i < array.items().size(); i++) {
            if (array.items().get(i) instanceof JsonObject object) {
                items.add(new FieldCheck(object, this, field + "[" + i + "]", errors));
            }
        }
        return items;
    }

    private void add(FieldError error) {
        if (errors.size() < MOST_ERRORS) {
            errors.add(error);
        }
    }

    public void required(String field, String why) {
        add(FieldError.required(path(field), why));
    }

    /** Adds an error unless {@code field} is a non-empty string. Returns whether it is one. */
    public boolean require(String field) {
        boolean there = !text(field).isEmpty();
        if (!there) {
            required(field, "");
        }
        return there;
    }

    public void forbidden(String field, String why) {
        add(FieldError.forbidden(path(field), why));
    }

    /** Adds an error about the value of {@code field}; shows an absent value as an empty string. */
    public void invalid(String field, String why) {
        Optional<JsonValue> shown = field.isEmpty() ? Optional.of(value) : value.get(field);
        add(FieldError.invalid(path(field), shown.map(Object::toString).orElse("\"\""), why));
    }

    /** Adds an error about {@code field} with the value {@code text}. */
    public void invalid(String field, String text, String why) {
        add(FieldError.invalid(path(field), quoted(text), why));
    }

    public void invalidNumber(String field, long number, String why) {
        add(FieldError.invalid(path(field), Long.toString(number), why));
    }

    public void duplicate(String field, String text) {
        add(FieldError.duplicate(path(field), quoted(text)));
    }

    /** Adds the error that {@code field} has more than {@code most} bytes. */
    public void tooLong(String field, int most) {
        add(FieldError.tooLong(path(field), most + " bytes"));
    }

    /** Adds the error that the list already has an equal object. */
    public void repeated() {
        add(FieldError.duplicate(path(""), value.toString()));
    }

    public void notFound(String field, String text) {
        add(FieldError.notFound(path(field), quoted(text)));
    }

    private void notSupported(String field, String text, List<String> supported) {
        add(FieldError.notSupported(
                path(field),
                quoted(text),
                String.join(", ", supported.stream().map(FieldCheck::quoted).toList())));
    }

    /** Adds an error unless {@code field} is one of {@code supported}; an empty field is missing. */
    public void oneOf(String field, List<String> supported) {
        if (require(field)) {
            oneOfIfSet(field, supported);
        }
    }

    /** Adds an error unless {@code text}, the value of {@code field}, is one of {@code supported}. */
    public void oneOf(String field, String text, List<String> supported) {
        if (!supported.contains(text)) {
            notSupported(field, text, supported);
        }
    }

    /** As {@link #oneOf}, for a field that may be absent or empty. */
    public void oneOfIfSet(String field, List<String> supported) {
        String text = text(field);
        if (!text.isEmpty() && !supported.contains(text)) {
            notSupported(field, text, supported);
        }
    }

    /** Adds an error if {@code field} is a number out of the range, which includes both ends. */
    public void range(String field, long least, long most) {
        number(field)
                .filter(number -> number < least || number > most)
                .ifPresent(number ->
                        invalidNumber(field, number, "must be between " + least + " and " + most + ", inclusive"));
    }

    /** Adds an error if {@code field} is a negative number. */
    public void notNegative(String field) {
        number(field)
                .filter(number -> number < 0)
                .ifPresent(number -> invalidNumber(field, number, "must be greater than or equal to 0"));
    }

    /** Adds the error that {@code rule} finds in the string {@code field}, if any. */
    public void form(String field, Function<String, Optional<String>> rule) {
        form(field, text(field), rule);
    }

    /** Adds the error that {@code rule} finds in {@code text}, if any. */
    public void form(String field, String text, Function<String, Optional<String>> rule) {
        rule.apply(text).ifPresent(why -> invalid(field, text, why));
    }

    /** As {@link #form}, unless the string is empty. */
    public void formIfSet(String field, Function<String, Optional<String>> rule) {
        if (!text(field).isEmpty()) {
            form(field, rule);
        }
    }

    /** Checks a required DNS label. */
    public void requiredLabel(String field) {
        if (require(field)) {
            form(field, Names::labelFault);
        }
    }

    /** Checks each string of the list {@code field}. */
    public void eachForm(String field, Function<String, Optional<String>> rule) {
        List<String> texts = texts(field);
        for (int i = 0; i < texts.size(); i++) {
            form(field + "[" + i + "]", texts.get(i), rule);
        }
    }

    /** Checks the keys and values of a map of labels. */
    public void labels(String field) {
        value.object(field).texts().forEach((key, text) -> {
            form(field, key, Names::qualifiedFault);
            form(field, text, Names::labelValueFault);
        });
    }

    public static String quoted(String text) {
        return new JsonString(text).toString();
    }
}
