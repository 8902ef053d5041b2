package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.Optional;
import java.util.regex.Pattern;

/** Amounts of pods, which are numbers or percentages, such as {@code 2} and {@code 25%}. */
public final class PodAmounts {
    private static final Pattern PERCENTAGE = Pattern.compile("[0-9]+%");

    private PodAmounts() {}

    /** Adds the fault of the amount in {@code field}, which must not be negative; it may be absent. */
    public static void check(FieldCheck holder, String field) {
        holder.value().get(field).flatMap(PodAmounts::fault).ifPresent(fault -> holder.invalid(field, fault));
    }

    /** As {@link #check}, and a percentage must be at most 100. */
    public static void checkShare(FieldCheck holder, String field) {
        holder.value()
                .get(field)
                .flatMap(amount -> fault(amount).or(() -> excess(amount)))
                .ifPresent(fault -> holder.invalid(field, fault));
    }

    private static Optional<String> fault(JsonValue amount) {
        if (amount instanceof JsonNumber number) {
            return number.longValue() < 0 ? Optional.of("must be greater than or equal to 0") : Optional.empty();
        }
        String text = amount instanceof JsonString string ? string.value() : "";
        if (!PERCENTAGE.matcher(text).matches()) {
            return Optional.of("a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', "
                    + " or '93%', regex used for validation is '" + PERCENTAGE.pattern() + "')");
        }
        return Optional.empty();
    }

    private static Optional<String> excess(JsonValue amount) {
        String text = amount instanceof JsonString string ? string.value() : "0%";
        boolean more = text.length() > 4 || Integer.parseInt(text.substring(0, text.length() - 1)) > 100;
        return more ? Optional.of("must not be greater than 100%") : Optional.empty();
    }
}
