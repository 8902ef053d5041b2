package io.nodekeeper.apiserver.pods;

import static io.nodekeeper.apiserver.fields.ObjectFields.inside;
import static io.nodekeeper.apiserver.fields.ObjectFields.text;
import static io.nodekeeper.apiserver.fields.ObjectFields.value;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;

/** Kubernetes' defaults that apply to containers and to volumes. */
final class SharedDefaults {
    private SharedDefaults() {}

    /** The defaults of a reference to a field of the pod, for an environment variable or a file. */
    static JsonObject fieldSource(JsonObject source) {
        JsonObject field = inside(source, "fieldRef", reference -> text(reference, "apiVersion", "v1"));
        return inside(field, "resourceFieldRef", reference -> value(reference, "divisor", new JsonString("0")));
    }

    /** The default pull policy of {@code image}: Always for the tag {@code latest}, explicit or implied. */
    static String pullPolicy(String image) {
        String last = image.substring(image.lastIndexOf('/') + 1);
        int digest = last.indexOf('@');
        String named = digest < 0 ? last : last.substring(0, digest);
        int colon = named.indexOf(':');
        boolean latest = colon < 0 ? digest < 0 && !named.isEmpty() : named.endsWith(":latest");
        return latest ? "Always" : "IfNotPresent";
    }
}
