package io.nodekeeper.apiserver.actions;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.admission.NodeRestriction;
import io.nodekeeper.apiserver.authentication.ServiceAccountTokens;
import io.nodekeeper.apiserver.authentication.TokenClaims;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.ObjectMetaRules;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.Refusals;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.writes.DryRun;
import io.nodekeeper.apiserver.writes.FreshLookups;
import io.nodekeeper.apiserver.writes.RequestBodies;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/** Issues tokens for service accounts: TokenRequest ({@code serviceaccounts/token}). Thread-safe. */
public final class TokenRequests implements Action {
    private static final ResourceType TYPE =
            new ResourceType("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest", true);
    private static final Resource REQUESTS = Resource.asked(TYPE);
    /** The default, shortest and longest lifetime of a token (as in Kubernetes). */
    private static final long DEFAULT_SECONDS = 3_600;

    private static final long LEAST_SECONDS = 600;
    private static final long MOST_SECONDS = 1L << 32;

    private final Store store;
    private final FreshLookups lookups;
    private final Clock clock;
    private final RandomGenerator random;
    private final Optional<ServiceAccountTokens> tokens;
    private final Executor workers;

    /** {@code workers} runs what follows a wait for the store. */
    public TokenRequests(
            Store store, Clock clock, RandomGenerator random, Optional<ServiceAccountTokens> tokens, Executor workers) {
        this.store = store;
        lookups = new FreshLookups(store);
        this.workers = workers;
        this.clock = clock;
        this.random = random;
        this.tokens = tokens;
    }

    @Override
    public CompletableFuture<ApiResponse> on(User user, Resource resource, RequestTarget target, ApiRequest request) {
        // A kubelet asks for the token of a pod as soon as it has heard of it, which may be before this server.
        return lookups.decide(
                workers, fresh -> CompletableFuture.completedFuture(issued(user, resource, target, request)));
    }

    private ApiResponse issued(User user, Resource resource, RequestTarget target, ApiRequest request) {
        // As in Kubernetes, a server without a key has no such subresource.
        ServiceAccountTokens signing = tokens.orElseThrow(Refusals::notServed);
        JsonObject body = RequestBodies.object(request);
        RequestBodies.check(REQUESTS, body, 400);
        ObjectMetaRules.checkPlace(body, target.namespace(), target.name());
        JsonObject account = object(resource, target.namespace(), target.name());
        JsonObject spec = body.object("spec");
        long seconds =
                spec.number("expirationSeconds").filter(asked -> asked != 0).orElse(DEFAULT_SECONDS);
        checkSeconds(target.name(), seconds);
        List<String> asked = Audiences.of(TYPE, target.name(), spec);
        List<String> audiences = asked.isEmpty() ? signing.audiences() : asked;
        JsonObject reference = spec.object("boundObjectRef");
        Optional<TokenClaims.Bound> bound =
                reference.isEmpty() ? Optional.empty() : Optional.of(bound(user, target, reference));
        if (reference.isEmpty()) {
            NodeRestriction.checkToken(user, target.name(), reference, Optional.empty());
        }
        Instant now = clock.wallTime();
        TokenClaims claims = new TokenClaims(
                target.namespace(),
                target.name(),
                account.object("metadata").text("uid"),
                bound,
                audiences,
                now,
                now.plusSeconds(seconds),
                ObjectMetaRules.uuid(random));
        boolean dryRun = DryRun.wanted(request.parameter("dryRun"));
        return ApiResponse.json(201, answer(body, claims, dryRun ? "" : signing.sign(claims), seconds));
    }

    private JsonObject object(Resource resource, String namespace, String name) {
        return store.get(resource.key(namespace, name))
                .map(resource.codec()::decode)
                .orElseThrow(() -> ApiException.notFound(resource.type(), name));
    }

    private static void checkSeconds(String account, long seconds) {
        String path = "spec.expirationSeconds";
        if (seconds < LEAST_SECONDS) {
            throw invalid(account, path, seconds, "may not specify a duration less than 10 minutes");
        }
        if (seconds > MOST_SECONDS) {
            throw invalid(account, path, seconds, "may not specify a duration larger than 2^32 seconds");
        }
    }

    private static ApiException invalid(String account, String path, long seconds, String why) {
        return ApiException.invalid(TYPE, account, List.of(FieldError.invalid(path, Long.toString(seconds), why)));
    }

    /** The object to bind the token to; refuses one that does not exist, or is not the account's. */
    private TokenClaims.Bound bound(User user, RequestTarget target, JsonObject reference) {
        String kind = reference.text("kind");
        String name = reference.text("name");
        String uid = reference.text("uid");
        boolean pod = kind.equals("Pod");
        if (!reference.text("apiVersion").equals("v1") || !(pod || kind.equals("Secret"))) {
            NodeRestriction.checkToken(user, target.name(), reference, Optional.empty());
            throw ApiException.badRequest("cannot bind token for serviceaccount \"" + target.name() + "\" to type "
                    + reference.text("apiVersion") + ", Kind=" + kind);
        }
        Resource resource = pod ? Resources.PODS : ClusterResources.SECRETS;
        Optional<JsonObject> there =
                store.get(resource.key(target.namespace(), name)).map(resource.codec()::decode);
        NodeRestriction.checkToken(user, target.name(), reference, pod ? there : Optional.empty());
        JsonObject object = there.orElseThrow(() -> ApiException.notFound(resource.type(), name));
        String known = object.object("metadata").text("uid");
        if (!uid.isEmpty() && !uid.equals(known)) {
            throw ApiException.conflict(
                    resource.type(),
                    name,
                    "the UID in the bound object reference (" + uid + ") does not match the UID in record (" + known
                            + "). The object might have been deleted and then recreated");
        }
        // A mirror pod has no account: its node writes it itself, and could keep the tokens of pods that have left it.
        if (pod && !object.object("spec").text("serviceAccountName").equals(target.name())) {
            throw ApiException.badRequest("cannot bind token for serviceaccount \"" + target.name()
                    + "\" to pod running with different serviceaccount name.");
        }
        return new TokenClaims.Bound(kind, name, known, pod ? node(object) : Optional.empty());
    }

    private Optional<TokenClaims.Node> node(JsonObject pod) {
        String name = pod.object("spec").text("nodeName");
        if (name.isEmpty()) {
            return Optional.empty();
        }
        String uid = store.get(Resources.NODES.key("", name))
                .map(entry ->
                        Resources.NODES.codec().decode(entry).object("metadata").text("uid"))
                .orElse("");
        return Optional.of(new TokenClaims.Node(name, uid));
    }

    private static JsonObject answer(JsonObject body, TokenClaims claims, String token, long seconds) {
        return body.with("kind", TYPE.kind())
                .with("apiVersion", TYPE.apiVersion())
                .update(
                        "metadata",
                        metadata -> metadata.with("name", claims.account())
                                .with("namespace", claims.namespace())
                                .with("creationTimestamp", KubeTime.format(claims.issued())))
                .update(
                        "spec",
                        spec -> spec.with("audiences", JsonArray.ofStrings(claims.audiences()))
                                .with("expirationSeconds", JsonNumber.of(seconds)))
                .with(
                        "status",
                        JsonObject.builder()
                                .put("token", token)
                                .put("expirationTimestamp", KubeTime.format(claims.expires()))
                                .build());
    }
}
