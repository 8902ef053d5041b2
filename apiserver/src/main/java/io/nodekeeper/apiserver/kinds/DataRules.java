package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The rules for the data of ConfigMaps and Secrets. */
final class DataRules {
    /** The most bytes in one object (Kubernetes' limit). */
    private static final int BYTES = 1 << 20;

    private static final int KEY = 253;
    private static final Pattern KEY_FORM = Pattern.compile("[-._a-zA-Z0-9]+");

    private DataRules() {}

    /** Checks that the keys of {@code field} are valid file names. */
    static List<FieldError> keys(JsonObject object, String field) {
        List<FieldError> errors = new ArrayList<>();
        for (String key : object.object(field).fields().keySet()) {
            String path = field + "[" + key + "]";
            String shown = new JsonString(key).toString();
            if (key.length() > KEY) {
                errors.add(FieldError.invalid(path, shown, "must be no more than " + KEY + " characters"));
            }
            if (!KEY_FORM.matcher(key).matches()) {
                errors.add(FieldError.invalid(
                        path,
                        shown,
                        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name', "
                                + " or 'KEY_NAME',  or 'key-name', regex used for validation is '" + KEY_FORM.pattern()
                                + "')"));
            } else if (key.equals(".") || key.startsWith("..")) {
                errors.add(FieldError.invalid(path, shown, "must not be '.' or start with '..'"));
            }
        }
        return errors;
    }

    /** Checks the size; {@code bytes} is the total. */
    static List<FieldError> size(String field, long bytes) {
        return bytes > BYTES ? List.of(FieldError.tooLong(field, BYTES + " bytes")) : List.of();
    }

    /** The bytes of texts. */
    static long textBytes(JsonObject texts) {
        return texts.texts().values().stream()
                .mapToLong(text -> text.getBytes(StandardCharsets.UTF_8).length)
                .sum();
    }

    /** The bytes of decoded base64 texts. */
    static long decodedBytes(JsonObject texts) {
        return texts.texts().values().stream()
                .mapToLong(text -> Base64.getDecoder().decode(text).length)
                .sum();
    }

    /** Once {@code immutable} is set, neither it nor the data changes. */
    static List<FieldError> immutability(JsonObject object, JsonObject old, List<String> fields) {
        if (!old.bool("immutable")) {
            return List.of();
        }
        List<FieldError> errors = new ArrayList<>();
        String why = "field is immutable when `immutable` is set";
        if (!object.bool("immutable")) {
            errors.add(FieldError.forbidden("immutable", why));
        }
        for (String field : fields) {
            Map<String, ?> now = object.object(field).fields();
            if (!now.equals(old.object(field).fields())) {
                errors.add(FieldError.forbidden(field, why));
            }
        }
        return errors;
    }
}
