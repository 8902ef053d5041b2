package io.nodekeeper.apiserver.negotiation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A media type that a client accepts, with its parameters, from an Accept header. Immutable.
 *
 * @param type the type, {@code *}{@code /*} included
 * @param parameters its parameters, such as {@code as=Table}
 */
public record Accept(String type, Map<String, String> parameters) {

    /** The types in {@code header}, in order, without those that the client refuses. An empty header accepts all. */
    public static List<Accept> ranges(String header) {
        if (header.isBlank()) {
            return List.of(new Accept("*/*", Map.of()));
        }
        List<Accept> ranges = new ArrayList<>();
        for (String range : header.split(",")) {
            String[] parts = range.split(";");
            Map<String, String> parameters = new HashMap<>();
            for (int i = 1; i < parts.length; i++) {
                int equals = parts[i].indexOf('=');
                if (equals > 0) {
                    parameters.put(
                            parts[i].substring(0, equals).strip(),
                            parts[i].substring(equals + 1).strip());
                }
            }
            if (parts.length > 0 && !parameters.getOrDefault("q", "").matches("0(\\.0*)?")) {
                ranges.add(new Accept(parts[0].strip(), parameters));
            }
        }
        return ranges;
    }

    /** A parameter; empty if absent. */
    public String parameter(String name) {
        return parameters.getOrDefault(name, "");
    }

    /** Whether it accepts {@code mediaType}, by name or by a wildcard. */
    public boolean takes(String mediaType) {
        return type.equals(mediaType)
                || type.equals("*/*")
                || (type.endsWith("/*") && mediaType.startsWith(type.substring(0, type.length() - 1)));
    }
}
