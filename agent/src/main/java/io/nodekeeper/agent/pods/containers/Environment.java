package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The environment of a container: {@code envFrom}, then {@code env}, each variable with the earlier ones expanded, and what is not
 * set of the variables of Services.
 */
final class Environment {
    private final Pod pod;
    private final ContainerSpec container;
    private final References references;
    private final DownwardFields fields;
    private final Map<String, String> variables = new LinkedHashMap<>();
    /** The length of all variables, those of Services not counted. */
    private int length;
    /** What references in values find: the variables, and those of Services that no variable replaces. */
    private final Map<String, String> known;

    private Environment(Pod pod, ContainerSpec container, References references, DownwardFields fields) {
        this.pod = pod;
        this.container = container;
        this.references = references;
        this.fields = fields;
        known = new HashMap<>(references.services());
    }

    /**
     * The variables, in order.
     *
     * @throws ContainerConfigException if a ConfigMap, Secret or key is missing that is not optional
     */
    static Map<String, String> of(Pod pod, ContainerSpec container, References references, DownwardFields fields) {
        Environment environment = new Environment(pod, container, references, fields);
        container.json().array("envFrom").objects().forEach(environment::all);
        environment.known.putAll(environment.variables);
        container.json().array("env").objects().forEach(environment::one);
        new TreeMap<>(references.services()).forEach(environment.variables::putIfAbsent);
        return environment.variables;
    }

    private void all(JsonObject source) {
        String prefix = source.text("prefix");
        if (source.has("configMapRef")) {
            found("configmap", source.object("configMapRef"), references::configMap)
                    .ifPresent(map -> new TreeMap<>(map.object("data").texts())
                            .forEach((key, value) -> put(prefix + key, value)));
        } else if (source.has("secretRef")) {
            found("secret", source.object("secretRef"), references::secret)
                    .ifPresent(secret -> new TreeMap<>(secret.object("data").texts())
                            .forEach((key, value) -> put(prefix + key, decoded(value))));
        }
    }

    private void put(String name, String value) {
        String before = variables.put(name, value);
        length += before == null ? Expansion.VARIABLE + name.length() : -before.length();
        length = Expansion.counted(length, value, "the variables");
    }

    private void one(JsonObject variable) {
        String name = variable.text("name");
        if (!variables.containsKey(name)) {
            // It replaces that of a Service, also for its own value.
            known.remove(name);
        }
        JsonObject from = variable.object("valueFrom");
        Optional<String> value =
                from.isEmpty() ? Optional.of(Expansion.expand(variable.text("value"), known)) : value(from);
        value.ifPresent(found -> {
            put(name, found);
            known.put(name, found);
        });
    }

    private Optional<String> value(JsonObject from) {
        if (from.has("configMapKeyRef")) {
            JsonObject reference = from.object("configMapKeyRef");
            return found("configmap", reference, references::configMap)
                    .flatMap(map -> key("ConfigMap", reference, map.object("data")));
        }
        if (from.has("secretKeyRef")) {
            JsonObject reference = from.object("secretKeyRef");
            return found("secret", reference, references::secret)
                    .flatMap(secret -> key("Secret", reference, secret.object("data")))
                    .map(Environment::decoded);
        }
        if (from.has("fieldRef")) {
            return Optional.of(fields.field(from.object("fieldRef").text("fieldPath")));
        }
        if (from.has("resourceFieldRef")) {
            return Optional.of(fields.resource(container, from.object("resourceFieldRef")));
        }
        throw new ContainerConfigException("env valueFrom must be one of "
                + List.of("configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef") + ", got " + from);
    }

    private Optional<JsonObject> found(
            String kind, JsonObject reference, Function<String, Optional<JsonObject>> objects) {
        String name = reference.text("name");
        Optional<JsonObject> object = objects.apply(name);
        if (object.isEmpty() && !reference.bool("optional")) {
            throw new ContainerConfigException(kind + " \"" + name + "\" not found");
        }
        return object;
    }

    private Optional<String> key(String kind, JsonObject reference, JsonObject data) {
        String key = reference.text("key");
        if (!data.has(key)) {
            if (reference.bool("optional")) {
                return Optional.empty();
            }
            throw new ContainerConfigException(
                    "couldn't find key " + key + " in " + kind + " " + pod.namespace() + "/" + reference.text("name"));
        }
        return Optional.of(data.text(key));
    }

    private static String decoded(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
    }
}
