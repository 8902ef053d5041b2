package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.pods.validation.RuntimeClassRules;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.List;

/** The rules of RuntimeClasses. */
public final class RuntimeClassStrategy implements Strategy {

    @Override
    public List<FieldError> validate(JsonObject runtime) {
        return RuntimeClassRules.check(runtime);
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject runtime, JsonObject old) {
        String handler = runtime.text("handler");
        return handler.equals(old.text("handler"))
                ? List.of()
                : List.of(FieldError.invalid("handler", quoted(handler), "field is immutable"));
    }

    /** As in Kubernetes: several clients write it, and none may overwrite what another has just written. */
    @Override
    public boolean needsResourceVersion() {
        return true;
    }

    private static String quoted(String text) {
        return new JsonString(text).toString();
    }
}
