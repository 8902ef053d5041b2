package io.nodekeeper.agent.config.file;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The fields of one file, or of several that were merged, and where they are set. Immutable.
 *
 * @param fields name → value as YAML has it: maps, lists, strings, numbers, booleans
 * @param places path such as {@code authorization.mode} → where its name is; also of the objects, not of items of lists
 */
public record ConfigTree(Map<String, Object> fields, Map<String, Place> places) {
    private static final Pattern WORD = Pattern.compile("[A-Za-z][\\w.-]*\\w");

    /** Without a field. */
    public static final ConfigTree EMPTY = new ConfigTree(Map.of(), Map.of());

    /**
     * This with {@code over} on top, as Kubernetes merges drop-in files (RFC 7386): objects and maps are merged, lists
     * and other values replaced, and a null removes what was set before.
     */
    public ConfigTree with(ConfigTree over) {
        Map<String, Place> all = new TreeMap<>(places);
        Map<String, Object> merged = merge(fields, over.fields, "", all);
        all.putAll(over.places);
        return new ConfigTree(merged, all);
    }

    private static Map<String, Object> merge(
            Map<String, Object> under, Map<String, Object> over, String prefix, Map<String, Place> places) {
        Map<String, Object> merged = new LinkedHashMap<>(under);
        over.forEach((name, value) -> {
            String path = prefix + name;
            if (value instanceof Map<?, ?> inner && merged.get(name) instanceof Map<?, ?> before) {
                merged.put(name, merge(named(before), named(inner), path + ".", places));
                return;
            }
            places.keySet().removeIf(place -> place.equals(path) || place.startsWith(path + "."));
            if (value == null) {
                merged.remove(name);
            } else {
                merged.put(name, value);
            }
        });
        return merged;
    }

    /** A map with its keys as texts. */
    static Map<String, Object> named(Map<?, ?> map) {
        Map<String, Object> named = new LinkedHashMap<>();
        map.forEach((key, value) -> named.put(String.valueOf(key), value));
        return named;
    }

    /** {@code faults} in the order of the files, each with the place of the field that it is about, where it has one. */
    public List<String> located(List<String> faults) {
        Map<Place, StringBuilder> byPlace = new TreeMap<>();
        StringBuilder others = new StringBuilder();
        for (String fault : faults) {
            Optional<Place> place = place(fault);
            place.map(at -> byPlace.computeIfAbsent(at, key -> new StringBuilder()))
                    .orElse(others)
                    .append(place.map(at -> at + ": ").orElse(""))
                    .append(fault)
                    .append('\n');
        }
        return (String.join("", byPlace.values()) + others).lines().toList();
    }

    /**
     * The place of the first field that {@code fault} names; of an entry of it, if that is named too. Of an entry alone,
     * such as the signal of a threshold, if no field is named.
     */
    private Optional<Place> place(String fault) {
        List<String> words =
                WORD.matcher(fault).results().map(MatchResult::group).toList();
        Optional<String> field = words.stream().filter(places::containsKey).findFirst();
        if (field.isPresent()) {
            return words.stream()
                    .map(word -> field.get() + "." + word)
                    .filter(places::containsKey)
                    .findFirst()
                    .or(() -> field)
                    .map(places::get);
        }
        return words.stream()
                .filter(word -> word.contains("."))
                .flatMap(word -> places.entrySet().stream()
                        .filter(entry -> entry.getKey().endsWith("." + word))
                        .map(Map.Entry::getValue))
                .findFirst();
    }
}
