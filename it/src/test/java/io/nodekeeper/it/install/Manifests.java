package io.nodekeeper.it.install;

import io.nodekeeper.it.Command;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * Objects of a YAML stream, by {@code Kind namespace/name}. Immutable, except for the objects themselves.
 *
 * @param objects each object as maps, lists and scalars
 */
record Manifests(Map<String, Map<String, Object>> objects) {
    static Manifests parse(String yaml) {
        Map<String, Map<String, Object>> objects = new TreeMap<>();
        for (Object document : new Load(LoadSettings.builder().build()).loadAllFromString(yaml)) {
            if (document != null) {
                Map<String, Object> object = map(document);
                String key = object.get("kind") + " " + at(object, "metadata", "namespace", "") + "/"
                        + at(object, "metadata", "name", "");
                if (objects.put(key, object) != null) {
                    throw new AssertionError(key + " appears twice");
                }
            }
        }
        return new Manifests(objects);
    }

    /** What kubectl makes of the folders below {@code deploy}, together. An object of two folders counts once. */
    static Manifests kustomized(String... folders) throws Exception {
        Map<String, Map<String, Object>> objects = new TreeMap<>();
        for (String folder : folders) {
            Path path = Repository.root().resolve("deploy").resolve(folder);
            objects.putAll(parse(Command.ok("kubectl", "kustomize", path.toString())).objects);
        }
        return new Manifests(objects);
    }

    /** The object of that key; fails if there is none. */
    Map<String, Object> get(String key) {
        Map<String, Object> object = objects.get(key);
        if (object == null) {
            throw new AssertionError("no " + key + " in " + objects.keySet());
        }
        return object;
    }

    /** The pod that a workload's template describes. */
    Map<String, Object> podOf(String workload) {
        return map(map(map(get(workload).get("spec")).get("template")).get("spec"));
    }

    /** The only container of a workload. */
    Map<String, Object> containerOf(String workload) {
        return map(list(podOf(workload).get("containers")).getFirst());
    }

    /** The arguments of a workload's container. */
    List<String> argumentsOf(String workload) {
        List<String> arguments = new ArrayList<>();
        list(containerOf(workload).get("args")).forEach(argument -> arguments.add((String) argument));
        return arguments;
    }

    /** {@code value} as what it is in a manifest; fails for anything else. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> map(@Nullable Object value) {
        if (!(value instanceof Map<?, ?> found)) {
            throw new AssertionError("a map was expected, but got " + value);
        }
        return (Map<String, Object>) found;
    }

    /** {@code value} as what it is in a manifest; fails for anything else. */
    @SuppressWarnings("unchecked")
    static List<Object> list(@Nullable Object value) {
        if (!(value instanceof List<?> found)) {
            throw new AssertionError("a list was expected, but got " + value);
        }
        return (List<Object>) found;
    }

    private static String at(Map<String, Object> object, String field, String inner, String absent) {
        Object value = map(object.get(field)).get(inner);
        return value == null ? absent : (String) value;
    }
}
