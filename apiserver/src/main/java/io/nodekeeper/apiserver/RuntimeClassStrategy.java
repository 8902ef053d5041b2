package io.nodekeeper.apiserver;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonString;
import io.nodekeeper.api.Names;
import java.util.List;

/** The rules of RuntimeClasses. */
final class RuntimeClassStrategy implements Strategy {

    @Override
    public List<FieldError> validate(JsonObject runtime) {
        String handler = runtime.text("handler");
        return Names.labelFault(handler)
                .map(fault -> List.of(FieldError.invalid("handler", quoted(handler), fault)))
                .orElse(List.of());
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject runtime, JsonObject old) {
        String handler = runtime.text("handler");
        return handler.equals(old.text("handler"))
                ? List.of()
                : List.of(FieldError.invalid("handler", quoted(handler), "field is immutable"));
    }

    private static String quoted(String text) {
        return new JsonString(text).toString();
    }
}
