package io.nodekeeper.apiserver.negotiation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a client accepts, with its parameters: a media type from an Accept header, or a coding from Accept-Encoding. Immutable.
 *
 * @param type the type, {@code *}{@code /*} included
 * @param parameters its parameters, such as {@code as=Table}
 */
public record Accept(String type, Map<String, String> parameters) {

    /** The first types in {@code header}, in order, without those that the client refuses. An empty header accepts all. */
    public static List<Accept> ranges(String header) {
        if (header.isBlank()) {
            return List.of(new Accept("*/*", Map.of()));
        }
        List<Accept> ranges = new ArrayList<>();
        for (String range : HeaderList.elements(header)) {
            List<String> parts = HeaderList.split(range, ';');
            Map<String, String> parameters = new HashMap<>();
            for (String part : parts) {
                int equals = part.indexOf('=');
                if (equals > 0) {
                    parameters.put(
                            part.substring(0, equals).strip(),
                            part.substring(equals + 1).strip());
                }
            }
            if (!parts.isEmpty() && !HeaderList.isZero(parameters.getOrDefault("q", ""))) {
                ranges.add(new Accept(parts.getFirst(), parameters));
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
