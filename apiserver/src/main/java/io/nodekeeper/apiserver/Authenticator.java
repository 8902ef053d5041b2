package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds out who makes a request: by client certificate, else by bearer token, else nobody in particular. A token that is
 * not known is refused everywhere, even where nobody in particular may go. Immutable.
 */
public final class Authenticator {
    private final Map<String, User> tokens;

    /** Knows the users of {@code tokens}, by token. */
    public Authenticator(Map<String, User> tokens) {
        this.tokens = Map.copyOf(tokens);
    }

    /**
     * Reads Kubernetes' static token file: one {@code token,user,uid[,"group1,group2"]} a line.
     *
     * @throws IllegalArgumentException that names every faulty line
     */
    public static Map<String, User> readTokens(List<String> lines) {
        Map<String, User> tokens = new LinkedHashMap<>();
        List<String> faults = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String[] parts = line.split(",", 4);
            if (parts.length < 3 || parts[0].isBlank() || parts[1].isBlank()) {
                faults.add("line " + (i + 1) + ": expected token,user,uid[,\"group1,group2\"]");
                continue;
            }
            List<String> groups = parts.length < 4
                    ? List.of()
                    : List.of(parts[3].replace("\"", "").split(",")).stream()
                            .map(String::strip)
                            .filter(group -> !group.isEmpty())
                            .toList();
            tokens.put(parts[0].strip(), User.authenticated(parts[1].strip(), parts[2].strip(), groups, Map.of()));
        }
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults));
        }
        return tokens;
    }

    User authenticate(ApiRequest request) {
        if (request.certificate().isPresent()) {
            return request.certificate().get();
        }
        String header = request.header("authorization");
        if (header.isEmpty()) {
            return User.ANONYMOUS;
        }
        if (header.regionMatches(true, 0, "Bearer ", 0, 7)) {
            byte[] given = header.substring(7).strip().getBytes(StandardCharsets.UTF_8);
            for (Map.Entry<String, User> token : tokens.entrySet()) {
                // Compared in constant time, so that answers do not tell how much of a guess was right.
                if (MessageDigest.isEqual(given, token.getKey().getBytes(StandardCharsets.UTF_8))) {
                    return token.getValue();
                }
            }
        }
        throw new ApiException(401, "Unauthorized", "Unauthorized");
    }
}
