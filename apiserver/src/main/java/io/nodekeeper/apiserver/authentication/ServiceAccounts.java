package io.nodekeeper.apiserver.authentication;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Authenticates service accounts by their tokens. A token is valid until it expires, and while its account and its
 * bound object exist with the same UIDs, which is checked each time. The signature of a repeated token is checked only
 * once. Thread-safe.
 */
public final class ServiceAccounts {
    /** The most tokens whose signature is remembered: more than the pods that call at the same time, in about 10 MB. */
    private static final int REMEMBERED = 10_000;

    /** How long the tokens of a deleted object stay valid (as in Kubernetes), so that its pod can report its end. */
    private static final Duration AFTER_DELETION = Duration.ofSeconds(60);

    private final Store store;
    private final Clock clock;
    private final ServiceAccountTokens tokens;
    /** The claims of tokens with a verified signature, by their hash; guarded by itself. */
    private final Map<TokenHash, TokenClaims> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<TokenHash, TokenClaims> eldest) {
            return size() > REMEMBERED;
        }
    };

    public ServiceAccounts(Store store, Clock clock, ServiceAccountTokens tokens) {
        this.store = store;
        this.clock = clock;
        this.tokens = tokens;
    }

    /** The owner of a valid token, with the matching ones of the requested audiences. */
    public record Known(User user, List<String> audiences) {}

    /** The owner of a token that is valid for one of {@code audiences}; for the server's own if that is empty. */
    Optional<Known> authenticate(TokenHash hash, String token, List<String> audiences) {
        Optional<TokenClaims> read = read(hash, token);
        if (read.isEmpty()) {
            return Optional.empty();
        }
        TokenClaims claims = read.get();
        List<String> wanted = audiences.isEmpty() ? tokens.audiences() : audiences;
        List<String> common =
                wanted.stream().filter(claims.audiences()::contains).toList();
        Instant now = clock.wallTime();
        if (common.isEmpty() || !ServiceAccountTokens.isValid(claims, now) || !isAlive(claims, now)) {
            return Optional.empty();
        }
        return Optional.of(new Known(user(claims), common));
    }

    private Optional<TokenClaims> read(TokenHash hash, String token) {
        Optional<TokenClaims> before;
        synchronized (known) {
            before = Optional.ofNullable(known.get(hash));
        }
        if (before.isPresent()) {
            return before;
        }
        Optional<TokenClaims> claims = tokens.read(token);
        claims.ifPresent(read -> {
            synchronized (known) {
                known.put(hash, read);
            }
        });
        return claims;
    }

    private boolean isAlive(TokenClaims claims, Instant now) {
        return isThere(ClusterResources.SERVICE_ACCOUNTS, claims, claims.account(), claims.accountUid(), now)
                && claims.bound()
                        .map(object -> isThere(
                                object.kind().equals("Pod") ? Resources.PODS : ClusterResources.SECRETS,
                                claims,
                                object.name(),
                                object.uid(),
                                now))
                        .orElse(true);
    }

    private boolean isThere(Resource resource, TokenClaims claims, String name, String uid, Instant now) {
        Optional<Entry> entry = store.get(resource.key(claims.namespace(), name));
        if (entry.isEmpty()) {
            return false;
        }
        JsonObject metadata = resource.codec().decode(entry.get()).object("metadata");
        boolean gone = KubeTime.parse(metadata.text("deletionTimestamp"))
                .map(deleted -> deleted.plus(AFTER_DELETION).isBefore(now))
                .orElse(false);
        return metadata.text("uid").equals(uid) && !gone;
    }

    private static User user(TokenClaims claims) {
        Map<String, List<String>> extra = new LinkedHashMap<>();
        extra.put("authentication.kubernetes.io/credential-id", List.of("JTI=" + claims.id()));
        claims.bound().filter(object -> object.kind().equals("Pod")).ifPresent(pod -> {
            extra.put("authentication.kubernetes.io/pod-name", List.of(pod.name()));
            extra.put("authentication.kubernetes.io/pod-uid", List.of(pod.uid()));
        });
        return User.authenticated(claims.user(), claims.accountUid(), claims.groups(), extra);
    }
}
