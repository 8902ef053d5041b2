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
 * Knows service accounts by their tokens. A token is good while its time runs and its account, and the object that it is
 * bound to, are those for which it was made: that is looked up each time. What a signature costs is paid once for a token
 * that comes again. Thread-safe.
 */
public final class ServiceAccounts {
    /** Tokens whose signature is remembered. Chosen: more than the pods that call at one time. */
    private static final int REMEMBERED = 10_000;

    /** How long a deleted object's tokens go on (Kubernetes): its pod may still have to tell how it ended. */
    private static final Duration AFTER_DELETION = Duration.ofSeconds(60);

    private final Store store;
    private final Clock clock;
    private final ServiceAccountTokens tokens;
    /** What tokens say that were found to be signed by us, by their hash; guarded by itself. */
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

    /** A token that is good, and for which of the audiences that were asked for. */
    public record Known(User user, List<String> audiences) {}

    /** Whose token this is, if it is good for one of {@code audiences}; of the server's own if that is empty. */
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
