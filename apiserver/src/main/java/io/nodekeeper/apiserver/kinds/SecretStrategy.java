package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** The rules of Secrets. No message contains their data. */
public final class SecretStrategy implements Strategy {
    /** The keys that a Secret of a type must have (as in Kubernetes). */
    private static final Map<String, List<String>> REQUIRED = Map.of(
            "kubernetes.io/tls", List.of("tls.crt", "tls.key"),
            "kubernetes.io/dockerconfigjson", List.of(".dockerconfigjson"),
            "kubernetes.io/dockercfg", List.of(".dockercfg"),
            "kubernetes.io/ssh-auth", List.of("ssh-privatekey"));

    private static final String SERVICE_ACCOUNT = "kubernetes.io/service-account.name";

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return ObjectFields.text(encoded(object), "type", "Opaque");
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return ObjectFields.text(encoded(object), "type", old.text("type"));
    }

    /** Moves stringData to data. */
    private static JsonObject encoded(JsonObject secret) {
        if (!secret.has("stringData")) {
            return secret.without("stringData");
        }
        JsonObject.Builder data = secret.object("data").toBuilder();
        secret.object("stringData")
                .texts()
                .forEach((key, text) ->
                        data.put(key, Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8))));
        return secret.without("stringData").with("data", data.build());
    }

    @Override
    public List<FieldError> validate(JsonObject secret) {
        List<FieldError> errors = new ArrayList<>(DataRules.keys(secret, "data"));
        JsonObject data = secret.object("data");
        errors.addAll(DataRules.size("data", DataRules.decodedBytes(data)));
        String type = secret.text("type");
        for (String key : REQUIRED.getOrDefault(type, List.of())) {
            if (!data.has(key)) {
                errors.add(FieldError.required("data[" + key + "]", ""));
            }
        }
        if (type.equals("kubernetes.io/basic-auth") && !data.has("username") && !data.has("password")) {
            errors.add(FieldError.required("data[username]", ""));
            errors.add(FieldError.required("data[password]", ""));
        }
        boolean named = !secret.object("metadata")
                .object("annotations")
                .text(SERVICE_ACCOUNT)
                .isEmpty();
        if (type.equals("kubernetes.io/service-account-token") && !named) {
            errors.add(FieldError.required("metadata.annotations[" + SERVICE_ACCOUNT + "]", ""));
        }
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject secret, JsonObject old) {
        List<FieldError> errors = new ArrayList<>(DataRules.immutability(secret, old, List.of("data")));
        if (!secret.text("type").equals(old.text("type"))) {
            errors.add(
                    FieldError.invalid("type", new JsonString(secret.text("type")).toString(), "field is immutable"));
        }
        return errors;
    }
}
