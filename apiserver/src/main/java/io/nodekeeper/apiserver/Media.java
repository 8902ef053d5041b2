package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import java.util.HashMap;
import java.util.Map;

/** The form of the answer that the client asked for. */
record Media(boolean table, String include) {

    /** Chooses the first form of the Accept header that the server has. */
    static Media of(ApiRequest request) {
        String accept = request.header("accept");
        if (accept.isBlank() || accept.equals(ApiResponse.JSON)) {
            return new Media(false, "");
        }
        for (String range : accept.split(",")) {
            String[] parts = range.strip().split(";");
            String type = parts[0].strip();
            boolean json = type.equals("application/json") || type.equals("*/*") || type.equals("application/*");
            if (!json) {
                continue;
            }
            Map<String, String> parameters = new HashMap<>();
            for (int i = 1; i < parts.length; i++) {
                int equals = parts[i].indexOf('=');
                if (equals > 0) {
                    parameters.put(
                            parts[i].substring(0, equals).strip(),
                            parts[i].substring(equals + 1).strip());
                }
            }
            String as = parameters.getOrDefault("as", "");
            if (as.isEmpty()) {
                return new Media(false, "");
            }
            if (as.equals("Table") && parameters.getOrDefault("v", "").equals("v1")) {
                return new Media(true, include(request));
            }
        }
        throw new ApiException(406, "NotAcceptable", "only the following media types are accepted: application/json");
    }

    private static String include(ApiRequest request) {
        String include = request.parameter("includeObject");
        return switch (include) {
            case "", "Metadata" -> "Metadata";
            case "None", "Object" -> include;
            default ->
                throw ApiException.badRequest("includeObject: Unsupported value: \"" + include
                        + "\": supported values: \"None\", \"Metadata\", \"Object\"");
        };
    }
}
