package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.api.json.JsonObject;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the environment of a container takes values from. Immutable.
 *
 * @param configMaps those that exist, by name
 * @param secrets those that exist, by name
 * @param services the variables of Services, see {@link ServiceEnvironment}
 */
public record References(
        Map<String, JsonObject> configMaps, Map<String, JsonObject> secrets, Map<String, String> services) {
    /** None. */
    public static final References NONE = new References(Map.of(), Map.of(), Map.of());

    /** Keeps copies. */
    public References {
        configMaps = Map.copyOf(configMaps);
        secrets = Map.copyOf(secrets);
        services = Map.copyOf(services);
    }

    /** The names of the ConfigMaps that the environment of {@code container} refers to. */
    public static Set<String> configMapsOf(ContainerSpec container) {
        return names(container, "configMapKeyRef", "configMapRef");
    }

    /** The names of the Secrets that the environment of {@code container} refers to. */
    public static Set<String> secretsOf(ContainerSpec container) {
        return names(container, "secretKeyRef", "secretRef");
    }

    /** The ConfigMap {@code name}, if it exists. */
    Optional<JsonObject> configMap(String name) {
        return Optional.ofNullable(configMaps.get(name));
    }

    /** The Secret {@code name}, if it exists. */
    Optional<JsonObject> secret(String name) {
        return Optional.ofNullable(secrets.get(name));
    }

    private static Set<String> names(ContainerSpec container, String key, String all) {
        Set<String> names = new LinkedHashSet<>();
        container
                .json()
                .array("envFrom")
                .objects()
                .filter(source -> source.has(all))
                .forEach(source -> names.add(source.object(all).text("name")));
        container
                .json()
                .array("env")
                .objects()
                .map(variable -> variable.object("valueFrom"))
                .filter(source -> source.has(key))
                .forEach(source -> names.add(source.object(key).text("name")));
        return names;
    }
}
