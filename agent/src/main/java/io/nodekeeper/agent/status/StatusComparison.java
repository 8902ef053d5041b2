package io.nodekeeper.agent.status;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Decides whether a node's status changed in a way that must be reported immediately. Stateless. */
public final class StatusComparison {
    private static final List<String> WATCHED_LABELS = List.of("kubernetes.io/os", "kubernetes.io/arch");
    private static final Set<String> QUANTITIES = Set.of("capacity", "allocatable");

    private StatusComparison() {}

    /**
     * Whether anything but heartbeat times differs: the status by meaning (quantities by value, null as absent as empty,
     * conditions in any order) and the two platform labels. Other metadata waits for the next report.
     */
    public static boolean changed(Node before, Node after) {
        return WATCHED_LABELS.stream()
                        .anyMatch(label -> !Optional.ofNullable(before.labels().get(label))
                                .equals(Optional.ofNullable(after.labels().get(label))))
                || !conditions(before).equals(conditions(after))
                || !same(before.status().without("conditions"), after.status().without("conditions"), false);
    }

    private static List<JsonObject> conditions(Node node) {
        return node.conditions().stream()
                .sorted(Comparator.comparing(Condition::type))
                .map(condition -> withoutEmpty(condition.json().without("lastHeartbeatTime")))
                .toList();
    }

    private static JsonObject withoutEmpty(JsonObject object) {
        JsonObject.Builder full = JsonObject.builder();
        object.fields().forEach((name, value) -> {
            if (!empty(value)) {
                full.put(name, value);
            }
        });
        return full.build();
    }

    private static boolean same(JsonValue a, JsonValue b, boolean quantities) {
        if (a instanceof JsonObject one && b instanceof JsonObject other) {
            return sameFields(one, other, quantities);
        }
        if (a instanceof JsonArray one && b instanceof JsonArray other) {
            int size = one.items().size();
            if (size != other.items().size()) {
                return false;
            }
            for (int i = 0; i < size; i++) {
                if (!same(one.items().get(i), other.items().get(i), quantities)) {
                    return false;
                }
            }
            return true;
        }
        if (quantities) {
            Optional<Quantity> quantity = Quantity.from(a);
            if (quantity.isPresent() && quantity.equals(Quantity.from(b))) {
                return true;
            }
        }
        return a.equals(b);
    }

    private static boolean sameFields(JsonObject one, JsonObject other, boolean quantities) {
        Set<String> names = new HashSet<>(one.fields().keySet());
        names.addAll(other.fields().keySet());
        for (String name : names) {
            JsonValue a = one.get(name).orElse(JsonNull.NULL);
            JsonValue b = other.get(name).orElse(JsonNull.NULL);
            boolean same =
                    empty(a) || empty(b) ? empty(a) && empty(b) : same(a, b, quantities || QUANTITIES.contains(name));
            if (!same) {
                return false;
            }
        }
        return true;
    }

    private static boolean empty(JsonValue value) {
        return switch (value) {
            case JsonNull ignored -> true;
            case JsonObject object -> object.isEmpty();
            case JsonArray array -> array.isEmpty();
            case JsonString string -> string.value().isEmpty();
            default -> false;
        };
    }
}
