package io.nodekeeper.api.patch;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The order of the items of a merged list, as in Kubernetes. */
final class ListOrder {
    private ListOrder() {}

    /** Items with one identity, and where the first of them was in the list before the patch; -1 if it is new. */
    private record Group(int place, List<JsonValue> items) {}

    /**
     * The items of {@code merged}: those that {@code named} names in its order, the others in the order of {@code live}.
     * Among each other they follow {@code live}; a named item that is not there comes as early as possible. The time is
     * linear.
     *
     * @param named the items of the patch, or the order that it demands
     * @param live the list before the patch
     * @param identity the identity of an item
     */
    static JsonArray arranged(
            List<JsonValue> merged,
            List<? extends JsonValue> named,
            List<JsonValue> live,
            Function<JsonValue, String> identity) {
        Map<String, Integer> places = new HashMap<>();
        for (JsonValue item : live) {
            places.putIfAbsent(identity.apply(item), places.size());
        }
        Map<String, Group> first = new LinkedHashMap<>();
        for (JsonValue item : named) {
            first.computeIfAbsent(identity.apply(item), id -> group(id, places));
        }
        Map<String, Group> others = new LinkedHashMap<>();
        for (JsonValue item : merged) {
            String id = identity.apply(item);
            Group group = first.containsKey(id) ? first.get(id) : others.computeIfAbsent(id, key -> group(key, places));
            group.items.add(item);
        }
        first.values().removeIf(group -> group.items.isEmpty());
        return woven(List.copyOf(first.values()), List.copyOf(others.values()));
    }

    private static Group group(String id, Map<String, Integer> places) {
        return new Group(places.getOrDefault(id, -1), new ArrayList<>());
    }

    private static JsonArray woven(List<Group> named, List<Group> others) {
        List<JsonValue> result = new ArrayList<>();
        int next = 0;
        for (Group group : named) {
            while (next < others.size() && isBefore(others.get(next), group)) {
                result.addAll(others.get(next).items);
                next++;
            }
            result.addAll(group.items);
        }
        others.subList(next, others.size()).forEach(group -> result.addAll(group.items));
        return new JsonArray(result);
    }

    private static boolean isBefore(Group other, Group named) {
        return other.place >= 0 && other.place < named.place;
    }
}
