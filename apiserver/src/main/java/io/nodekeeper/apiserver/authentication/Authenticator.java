package io.nodekeeper.apiserver.authentication;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.request.User;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Authenticates requests: by client certificate, else by bearer token, else as the anonymous user. An unknown token is
 * refused everywhere, also where the anonymous user has access. Immutable.
 */
public final class Authenticator {
    private final Map<TokenHash, User> users = new HashMap<>();
    private final Optional<ServiceAccountTokens> serviceAccountTokens;

    /** An authenticator of the users in {@code tokens}, by token. */
    public Authenticator(Map<String, User> tokens) {
        this(tokens, Optional.empty());
    }

    /**
     * An authenticator of the users in {@code tokens}, by token, and of service accounts by the tokens that the server
     * issues.
     */
    public Authenticator(Map<String, User> tokens, ServiceAccountTokens serviceAccountTokens) {
        this(tokens, Optional.of(serviceAccountTokens));
    }

    private Authenticator(Map<String, User> tokens, Optional<ServiceAccountTokens> serviceAccountTokens) {
        tokens.forEach((token, user) -> users.put(TokenHash.of(token), user));
        this.serviceAccountTokens = serviceAccountTokens;
    }

    /**
     * Reads Kubernetes' static token file: one {@code token,user,uid[,"group1,group2"]} per line.
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

    /** The tokens of service accounts, if the server has any. */
    public Optional<ServiceAccountTokens> serviceAccountTokens() {
        return serviceAccountTokens;
    }

    /**
     * The user of {@code request}; {@code accounts} finds the service accounts of {@link #serviceAccountTokens}. Reads the disk unless
     * {@link #load} has. A certificate counts until its end, however long its connection lasts.
     */
    public User authenticate(ApiRequest request, Optional<ServiceAccounts> accounts, Instant now) {
        if (request.certificate().isPresent()) {
            ClientCertificate certificate = request.certificate().get();
            if (now.isAfter(certificate.end())) {
                throw unauthorized();
            }
            return certificate.user();
        }
        if (request.header("authorization").isEmpty()) {
            return User.ANONYMOUS;
        }
        return bearer(request)
                .flatMap(token -> token(token, List.of(), accounts))
                .map(ServiceAccounts.Known::user)
                .orElseThrow(Authenticator::unauthorized);
    }

    private static ApiException unauthorized() {
        return new ApiException(401, "Unauthorized", "Unauthorized");
    }

    /** Reads from disk what {@link #authenticate} would have to read; complete if that is nothing. */
    public CompletableFuture<Void> load(ApiRequest request, Optional<ServiceAccounts> accounts) {
        return unlisted(request)
                .flatMap(token -> accounts.map(known -> known.load(TokenHash.of(token), token)))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    /** The service account that the token of {@code request} claims, which may be deleted. Reads no disk. */
    public Optional<User> claimed(ApiRequest request, Optional<ServiceAccounts> accounts) {
        return unlisted(request).flatMap(token -> accounts.flatMap(known -> known.claimed(TokenHash.of(token), token)));
    }

    /** The token of a request that has neither a certificate nor a token of the file. */
    private Optional<String> unlisted(ApiRequest request) {
        return request.certificate().isPresent()
                ? Optional.empty()
                : bearer(request).filter(token -> !users.containsKey(TokenHash.of(token)));
    }

    private static Optional<String> bearer(ApiRequest request) {
        String header = request.header("authorization");
        return header.regionMatches(true, 0, "Bearer ", 0, 7)
                ? Optional.of(header.substring(7).strip())
                : Optional.empty();
    }

    /** The owner of a token that is valid for one of {@code audiences}, or for this server if that is empty. */
    public Optional<ServiceAccounts.Known> token(
            String token, List<String> audiences, Optional<ServiceAccounts> accounts) {
        TokenHash hash = TokenHash.of(token);
        User user = users.get(hash);
        return user == null
                ? accounts.flatMap(known -> known.authenticate(hash, token, audiences))
                : listed(user, audiences);
    }

    /**
     * The owner of a token from the file. The file names no audiences, so such a token is meant for this server: another audience that
     * accepted it could use it here.
     */
    private Optional<ServiceAccounts.Known> listed(User user, List<String> audiences) {
        List<String> own =
                serviceAccountTokens.map(ServiceAccountTokens::audiences).orElse(List.of());
        List<String> common = audiences.stream().filter(own::contains).toList();
        return audiences.isEmpty() || !common.isEmpty()
                ? Optional.of(new ServiceAccounts.Known(user, common))
                : Optional.empty();
    }
}
