package io.nodekeeper.client.access;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the cluster decide who may read the pages of this process, as Kubernetes' components do: a bearer token is
 * authenticated by a TokenReview, and every user is authorized by a SubjectAccessReview for the verb get of what the page
 * requires. A caller without credentials is {@code system:anonymous}. Without an answer from the cluster every caller is
 * refused. Reviews of callers who are known have places of their own, so clients with bad tokens cannot take them. Thread-safe.
 */
public final class DelegatedAccess {
    /** As the kubelet's. A token that is revoked is accepted for this time. */
    static final Duration AUTHENTICATED = Duration.ofMinutes(2);
    /** Short, so that a new token works soon, and long enough that a bad one costs no review for each request. */
    static final Duration NOT_AUTHENTICATED = Duration.ofSeconds(10);
    /** As the kubelet's. A right that is taken away lasts for this time. */
    static final Duration ALLOWED = Duration.ofMinutes(5);
    /** As the kubelet's. */
    static final Duration DENIED = Duration.ofSeconds(30);
    /** The most results of each kind: far more than there are users of pages. About 200 bytes each. */
    static final int MOST_RESULTS = 1_024;
    /** The deadline of a review: scrapers give up after 10 s, and one request needs two reviews. */
    static final Duration REVIEW_LIMIT = Duration.ofSeconds(4);

    private static final Logger log = LoggerFactory.getLogger(DelegatedAccess.class);
    private static final ResourceType TOKEN_REVIEWS =
            new ResourceType("authentication.k8s.io", "v1", "tokenreviews", "TokenReview", false);
    private static final ResourceType ACCESS_REVIEWS =
            new ResourceType("authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", false);

    private final KubeClient client;
    private final Loop loop;
    /** Tokens that were valid once; no number of others can push them out. */
    private final ReviewCache<Optional<Caller>> valid;
    /** Other tokens. */
    private final ReviewCache<Optional<Caller>> tokens;

    private final ReviewCache<Boolean> rights;
    /** For tokens that were valid before, and rights of callers who are not anonymous. */
    private final ReviewPlaces known = new ReviewPlaces();
    /** For other tokens, and rights of anonymous callers. */
    private final ReviewPlaces strangers = new ReviewPlaces();

    /**
     * How long results are kept.
     *
     * @param authenticated a valid token; one that is revoked is accepted for this time
     * @param allowed a right; one that is taken away lasts for this time
     * @param denied the lack of a right
     */
    public record Times(Duration authenticated, Duration allowed, Duration denied) {
        /** As the kubelet's. */
        public static final Times DEFAULT = new Times(AUTHENTICATED, ALLOWED, DENIED);
    }

    /** {@code client} needs the right to create TokenReviews and SubjectAccessReviews; its loop does all work. */
    public DelegatedAccess(KubeClient client) {
        this(client, Times.DEFAULT);
    }

    /** The same, with other times. */
    public DelegatedAccess(KubeClient client, Times times) {
        this.client = client.withTimeout(REVIEW_LIMIT);
        this.loop = client.loop();
        this.valid = new ReviewCache<>(
                loop.clock(), MOST_RESULTS, user -> user.isPresent() ? times.authenticated() : NOT_AUTHENTICATED);
        this.tokens = new ReviewCache<>(loop.clock(), MOST_RESULTS, user -> NOT_AUTHENTICATED);
        this.rights =
                new ReviewCache<>(loop.clock(), MOST_RESULTS, allowed -> allowed ? times.allowed() : times.denied());
    }

    /** The reason to refuse a page that requires {@code right}; empty if the caller has it. The result never fails. */
    public CompletableFuture<Optional<Refusal>> check(Credentials credentials, PageRight right) {
        return settled(credentials, () -> decide(credentials, right));
    }

    private CompletableFuture<Optional<Refusal>> settled(
            Credentials credentials, Supplier<CompletableFuture<Optional<Refusal>>> decision) {
        return Futures.startOn(loop, decision).exceptionally(error -> {
            if (Failures.cause(error) instanceof Refused refused) {
                return Optional.of(refused.refusal);
            }
            log.error("a request with {} cannot be checked", credentials, error);
            return Optional.of(Refusal.forbidden("the request could not be checked"));
        });
    }

    /** The reason to refuse a caller who may do everything once he is known; empty if he is. The result never fails. */
    public CompletableFuture<Optional<Refusal>> check(Credentials credentials) {
        return settled(credentials, () -> authenticate(credentials).thenApply(caller -> Optional.empty()));
    }

    private CompletableFuture<Optional<Refusal>> decide(Credentials credentials, PageRight right) {
        return authenticate(credentials).thenCompose(caller -> authorize(caller, right, credentials.source()));
    }

    private CompletableFuture<Caller> authenticate(Credentials credentials) {
        if (credentials.certificate().isPresent()) {
            return CompletableFuture.completedFuture(credentials.certificate().get());
        }
        if (credentials.authorization().isEmpty()) {
            return CompletableFuture.completedFuture(Caller.ANONYMOUS);
        }
        Optional<String> token = credentials.token();
        if (token.isEmpty()) {
            return refused(Refusal.unauthorized("expected a bearer token or a client certificate"));
        }
        return reviewed(token.get(), credentials.source())
                .exceptionallyCompose(error -> failed(error, "the token could not be reviewed", true))
                .thenCompose(caller -> caller.map(CompletableFuture::completedFuture)
                        .orElseGet(() -> refused(Refusal.unauthorized("the token is not valid for this cluster"))));
    }

    /** The user of {@code token}; empty if it is not valid. */
    private CompletableFuture<Optional<Caller>> reviewed(String token, String source) {
        String key = digest(token);
        JsonObject spec = JsonObject.EMPTY.with("token", token);
        if (valid.has(key)) {
            return valid.get(
                    key, () -> review(known, source, TOKEN_REVIEWS, spec).thenApply(Caller::reviewed));
        }
        return tokens.get(
                key,
                () -> review(strangers, source, TOKEN_REVIEWS, spec)
                        .thenApply(Caller::reviewed)
                        .thenApply(user -> {
                            if (user.isPresent()) {
                                valid.keep(key, user);
                            }
                            return user;
                        }));
    }

    private CompletableFuture<Optional<Refusal>> authorize(Caller caller, PageRight right, String source) {
        JsonObject spec = caller.may(right);
        ReviewPlaces places = caller.equals(Caller.ANONYMOUS) ? strangers : known;
        return rights.get(
                        digest(Json.write(spec)),
                        () -> review(places, source, ACCESS_REVIEWS, spec)
                                .thenApply(review -> review.object("status").bool("allowed")))
                .exceptionallyCompose(error -> failed(error, "the right to read it could not be reviewed", false))
                .thenApply(allowed -> allowed ? Optional.empty() : Optional.of(denied(caller, right)));
    }

    /** Credentials may help a caller who has none, so that is what the answer asks for. */
    private static Refusal denied(Caller caller, PageRight right) {
        return caller.equals(Caller.ANONYMOUS)
                ? Refusal.unauthorized("expected a bearer token or a client certificate")
                : Refusal.forbidden(right.denied(caller.name()));
    }

    private CompletableFuture<JsonObject> review(
            ReviewPlaces places, String source, ResourceType type, JsonObject spec) {
        if (!places.take(source)) {
            return refused(Refusal.tooMany());
        }
        return client.create(
                        type,
                        "",
                        JsonObject.builder()
                                .put("apiVersion", type.apiVersion())
                                .put("kind", type.kind())
                                .put("metadata", JsonObject.EMPTY)
                                .put("spec", spec)
                                .build())
                .whenComplete((answer, error) -> places.giveBack(source));
    }

    private static <T> CompletableFuture<T> failed(Throwable error, String what, boolean unauthorized) {
        if (Failures.cause(error) instanceof Refused) {
            return CompletableFuture.failedFuture(error);
        }
        log.warn("{}: {}", what, Failures.text(error));
        String text = what + "; the log of this process says why";
        return refused(unauthorized ? Refusal.unauthorized(text) : Refusal.forbidden(text));
    }

    private static <T> CompletableFuture<T> refused(Refusal refusal) {
        return CompletableFuture.failedFuture(new Refused(refusal));
    }

    /** The cache holds digests, so that a dump of the memory shows no tokens. */
    private static String digest(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java lacks SHA-256", e);
        }
    }

    /** Ends a check early. */
    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient Refusal refusal;

        Refused(Refusal refusal) {
            super(refusal.message(), null, false, false);
            this.refusal = refusal;
        }
    }
}
