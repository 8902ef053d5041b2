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
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Authenticates service accounts by their tokens. A token is valid until it expires, and while its account and its
 * bound object exist with the same UIDs, which is checked each time. The signature of a repeated token, good or bad, is
 * checked only once (if it is not unusually long), and an account or object is read only once after each change. Thread-safe.
 */
public final class ServiceAccounts {
    /** The most tokens whose signature is remembered: more than the pods that call at the same time. Usual ones take about 10 MB. */
    private static final int REMEMBERED = 10_000;

    /** The most characters of a remembered token: about 1.5 times those with the longest names. So even these take 100 MB at most. */
    private static final int LONGEST = 4_096;

    /** From so many on audiences are compared by their hash; most tokens have one. */
    private static final int MANY = 10;

    /** The most refused tokens that are remembered: more than clients that repeat one at the same time. */
    private static final int REFUSED = 1_000;

    /** The most owners of tokens that are remembered: a pod and its account for each token, in about 5 MB. */
    private static final int OWNERS = 2 * REMEMBERED;

    /** How long the tokens of a deleted object stay valid (as in Kubernetes), so that its pod can report its end. */
    private static final Duration AFTER_DELETION = Duration.ofSeconds(60);

    private final Store store;
    private final Clock clock;
    private final ServiceAccountTokens tokens;
    /** The claims of tokens with a verified signature, by their hash; guarded by itself. */
    private final Map<TokenHash, TokenClaims> known = recentlyUsed(REMEMBERED);
    /**
     * Tokens that no key of this server signed, which never changes; guarded by itself. Apart, so that they displace no valid one.
     * A map, because the search of a set would not count as its use.
     */
    private final Map<TokenHash, Boolean> refused = recentlyUsed(REFUSED);
    /** What decides about the tokens of an account or a bound object, by its key; guarded by itself. */
    private final Map<String, Owner> owners = recentlyUsed(OWNERS);

    /** An object whose tokens are valid while it exists, as of the revision of its last change. */
    private record Owner(long revision, String uid, Optional<Instant> deleted) {}

    public ServiceAccounts(Store store, Clock clock, ServiceAccountTokens tokens) {
        this.store = store;
        this.clock = clock;
        this.tokens = tokens;
    }

    private static <K, V> Map<K, V> recentlyUsed(int most) {
        return new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > most;
            }
        };
    }

    /** The owner of a valid token, with the matching ones of the requested audiences. */
    public record Known(User user, List<String> audiences) {}

    /**
     * The owner of a token that is valid for one of {@code audiences}; for the server's own if that is empty. Reads the disk
     * unless {@link #load} has.
     */
    Optional<Known> authenticate(TokenHash hash, String token, List<String> audiences) {
        Instant now = clock.wallTime();
        return valid(hash, token, audiences, now)
                .filter(claims -> isAlive(claims, now))
                .map(claims -> new Known(user(claims), common(claims, audiences)));
    }

    /** The owner that a token for this server claims, signed and not expired; the owner may be deleted. Reads no disk. */
    Optional<User> claimed(TokenHash hash, String token) {
        return valid(hash, token, List.of(), clock.wallTime()).map(ServiceAccounts::user);
    }

    /**
     * Reads from disk what {@link #authenticate} would have to read, on the store's threads for that. Is complete if that is nothing;
     * fails if it cannot be read.
     */
    CompletableFuture<Void> load(TokenHash hash, String token) {
        List<CompletableFuture<?>> reads = new ArrayList<>();
        valid(hash, token, List.of(), clock.wallTime()).ifPresent(claims -> {
            load(ClusterResources.SERVICE_ACCOUNTS, claims, claims.account(), reads);
            claims.bound().ifPresent(object -> load(resource(object), claims, object.name(), reads));
        });
        return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new));
    }

    private void load(Resource resource, TokenClaims claims, String name, List<CompletableFuture<?>> reads) {
        store.get(resource.key(claims.namespace(), name))
                .filter(entry -> remembered(entry).isEmpty() && !entry.atHand())
                .ifPresent(entry -> reads.add(store.load(entry).thenAccept(loaded -> remember(resource, loaded))));
    }

    private Optional<TokenClaims> valid(TokenHash hash, String token, List<String> audiences, Instant now) {
        return read(hash, token)
                .filter(claims -> !common(claims, audiences).isEmpty() && ServiceAccountTokens.isValid(claims, now));
    }

    private List<String> common(TokenClaims claims, List<String> audiences) {
        List<String> wanted = audiences.isEmpty() ? tokens.audiences() : audiences;
        Collection<String> has =
                claims.audiences().size() >= MANY ? new HashSet<>(claims.audiences()) : claims.audiences();
        return wanted.stream().filter(has::contains).toList();
    }

    private Optional<TokenClaims> read(TokenHash hash, String token) {
        Optional<TokenClaims> before;
        synchronized (known) {
            before = Optional.ofNullable(known.get(hash));
        }
        if (before.isPresent()) {
            return before;
        }
        synchronized (refused) {
            if (refused.get(hash) != null) {
                return Optional.empty();
            }
        }
        Optional<TokenClaims> claims = tokens.read(token);
        if (claims.isEmpty()) {
            synchronized (refused) {
                refused.put(hash, true);
            }
        }
        claims.filter(read -> isSmall(token, read)).ifPresent(read -> {
            synchronized (known) {
                known.put(hash, read);
            }
        });
        return claims;
    }

    /** The number of tokens whose signature is remembered. */
    int remembered() {
        synchronized (known) {
            return known.size();
        }
    }

    private static boolean isSmall(String token, TokenClaims claims) {
        return token.length() <= LONGEST && claims.audiences().size() <= TokenClaims.MOST_AUDIENCES;
    }

    private boolean isAlive(TokenClaims claims, Instant now) {
        return isThere(ClusterResources.SERVICE_ACCOUNTS, claims, claims.account(), claims.accountUid(), now)
                && claims.bound()
                        .map(object -> isThere(resource(object), claims, object.name(), object.uid(), now))
                        .orElse(true);
    }

    private static Resource resource(TokenClaims.Bound object) {
        return object.kind().equals("Pod") ? Resources.PODS : ClusterResources.SECRETS;
    }

    private boolean isThere(Resource resource, TokenClaims claims, String name, String uid, Instant now) {
        return store.get(resource.key(claims.namespace(), name))
                .map(entry -> remembered(entry).orElseGet(() -> remember(resource, entry)))
                .filter(owner -> owner.uid.equals(uid))
                .filter(owner -> owner.deleted
                        .map(deleted -> !deleted.plus(AFTER_DELETION).isBefore(now))
                        .orElse(true))
                .isPresent();
    }

    private Optional<Owner> remembered(Entry entry) {
        synchronized (owners) {
            return Optional.ofNullable(owners.get(entry.key())).filter(owner -> owner.revision == entry.modRevision());
        }
    }

    private Owner remember(Resource resource, Entry entry) {
        JsonObject metadata = resource.codec().decode(entry).object("metadata");
        Owner owner = new Owner(
                entry.modRevision(), metadata.text("uid"), KubeTime.parse(metadata.text("deletionTimestamp")));
        synchronized (owners) {
            owners.put(entry.key(), owner);
        }
        return owner;
    }

    private static User user(TokenClaims claims) {
        Map<String, List<String>> extra = new LinkedHashMap<>();
        extra.put("authentication.kubernetes.io/credential-id", List.of("JTI=" + claims.id()));
        claims.bound().filter(object -> object.kind().equals("Pod")).ifPresent(pod -> {
            extra.put("authentication.kubernetes.io/pod-name", List.of(pod.name()));
            extra.put("authentication.kubernetes.io/pod-uid", List.of(pod.uid()));
            pod.node().ifPresent(node -> {
                extra.put("authentication.kubernetes.io/node-name", List.of(node.name()));
                if (!node.uid().isEmpty()) {
                    extra.put("authentication.kubernetes.io/node-uid", List.of(node.uid()));
                }
            });
        });
        return User.authenticated(claims.user(), claims.accountUid(), claims.groups(), extra);
    }
}
