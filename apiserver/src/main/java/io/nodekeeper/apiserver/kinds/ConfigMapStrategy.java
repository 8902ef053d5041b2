package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;

/** The rules of ConfigMaps. */
public final class ConfigMapStrategy implements Strategy {

    @Override
    public List<FieldError> validate(JsonObject map) {
        List<FieldError> errors = new ArrayList<>(DataRules.keys(map, "data"));
        errors.addAll(DataRules.keys(map, "binaryData"));
        JsonObject data = map.object("data");
        JsonObject binary = map.object("binaryData");
        for (String key : data.fields().keySet()) {
            if (binary.has(key)) {
                errors.add(FieldError.invalid(
                        "data[" + key + "]", "\"" + key + "\"", "duplicate of key present in binaryData"));
            }
        }
        errors.addAll(DataRules.size("", DataRules.textBytes(data) + DataRules.decodedBytes(binary)));
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject map, JsonObject old) {
        return DataRules.immutability(map, old, List.of("data", "binaryData"));
    }
}
