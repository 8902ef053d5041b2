package io.nodekeeper.apiserver.kinds.storage;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;

/** The size in the amounts of a volume or of a claim. */
public final class StorageSize {
    /** The name of the only amount. */
    static final String STORAGE = "storage";

    private StorageSize() {}

    /** The size; zero if there is none. */
    public static Quantity of(JsonObject amounts) {
        return amounts.get(STORAGE).flatMap(Quantity::from).orElse(Quantity.ZERO);
    }

    /** The fault of a size, at {@code path}, that is zero or negative; an absent size has none. */
    static Optional<FieldError> fault(String path, JsonObject amounts) {
        Quantity size = of(amounts);
        boolean isPositive = !size.isZero() && !size.isNegative();
        return isPositive || !amounts.has(STORAGE)
                ? Optional.empty()
                : Optional.of(
                        FieldError.invalid(path, AccessModes.quoted(size.toString()), "must be greater than zero"));
    }
}
