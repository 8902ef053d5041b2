package io.nodekeeper.agent.nodeapi;

import java.util.List;
import java.util.Map;

/**
 * The decoded parameters of a request. Immutable.
 *
 * @param values name → its values
 */
public record Query(Map<String, List<String>> values) {
    /** No parameters. */
    public static final Query NONE = new Query(Map.of());

    /** Keeps a copy. */
    public Query {
        values = Map.copyOf(values);
    }

    /** The first value; empty if there is none. */
    String text(String name) {
        List<String> all = all(name);
        return all.isEmpty() ? "" : all.getFirst();
    }

    /** All values, in their order. */
    List<String> all(String name) {
        return values.getOrDefault(name, List.of());
    }

    /** Whether it is there with another value than false, as Kubernetes reads parameters. */
    boolean flag(String name) {
        String value = text(name);
        return values.containsKey(name) && !value.equals("0") && !value.equalsIgnoreCase("false");
    }
}
