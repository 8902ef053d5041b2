package io.nodekeeper.api;

/**
 * The fault of one field of an object, with Kubernetes' texts.
 * @param reason the machine-readable reason, such as {@code FieldValueInvalid}
 * @param field the path, as {@code metadata.name}
 * @param detail the sentence for people, without the path
 */
public record FieldError(String reason, String field, String detail) {

    /** The value is not of the form that the field has. */
    public static FieldError invalid(String field, String value, String why) {
        return new FieldError("FieldValueInvalid", field, "Invalid value: " + value + ": " + why);
    }

    /** The field must not be empty. */
    public static FieldError required(String field, String why) {
        return new FieldError("FieldValueRequired", field, why.isEmpty() ? "Required value" : "Required value: " + why);
    }

    /** The field must not be set, or not to this value. */
    public static FieldError forbidden(String field, String why) {
        return new FieldError("FieldValueForbidden", field, "Forbidden: " + why);
    }

    /** The value is a duplicate. */
    public static FieldError duplicate(String field, String value) {
        return new FieldError("FieldValueDuplicate", field, "Duplicate value: " + value);
    }

    /** The value names something that does not exist. */
    public static FieldError notFound(String field, String value) {
        return new FieldError("FieldValueNotFound", field, "Not found: " + value);
    }

    /** The value is not one of the supported ones; {@code supported} lists them, quoted. */
    public static FieldError notSupported(String field, String value, String supported) {
        return new FieldError(
                "FieldValueNotSupported", field, "Unsupported value: " + value + ": supported values: " + supported);
    }

    /** The value is too long. */
    public static FieldError tooLong(String field, String limit) {
        return new FieldError("FieldValueTooLong", field, "Too long: must have at most " + limit);
    }

    /** The list has {@code items} items, which are more than {@code most}. */
    public static FieldError tooMany(String field, int items, int most) {
        return new FieldError(
                "FieldValueTooMany", field, "Too many: " + items + ": must have at most " + most + " items");
    }

    @Override
    public String toString() {
        return field + ": " + detail;
    }
}
