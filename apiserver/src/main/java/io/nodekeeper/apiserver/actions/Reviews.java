package io.nodekeeper.apiserver.actions;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.authentication.ServiceAccounts;
import io.nodekeeper.apiserver.authorization.Authorizer;
import io.nodekeeper.apiserver.authorization.Escalation;
import io.nodekeeper.apiserver.authorization.Policy;
import io.nodekeeper.apiserver.authorization.node.NodeIdentity;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.AuthorizationDecision;
import io.nodekeeper.apiserver.authorization.rbac.PolicyRule;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.registry.ObjectMetaRules;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.writes.OptimisticRetry;
import io.nodekeeper.apiserver.writes.RequestBodies;
import io.nodekeeper.apiserver.writes.WriteHandler;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Answers access and token reviews. Stores nothing. Thread-safe. */
public final class Reviews {
    private final Authenticator authenticator;
    private final Optional<ServiceAccounts> accounts;
    private final Authorizer authorizer;
    private final Supplier<Policy> policy;

    public Reviews(
            Authenticator authenticator,
            Optional<ServiceAccounts> accounts,
            Authorizer authorizer,
            Supplier<Policy> policy) {
        this.authenticator = authenticator;
        this.accounts = accounts;
        this.authorizer = authorizer;
        this.policy = policy;
    }

    /** The action for a POST to each of them, by path and a slash. */
    public Map<String, Action> actions() {
        Map<String, Action> actions = new HashMap<>();
        put(actions, AccessResources.TOKEN_REVIEWS, (user, target, body) -> tokenReview(body.object("spec")));
        put(
                actions,
                AccessResources.SELF_SUBJECT_REVIEWS,
                (user, target, body) ->
                        JsonObject.builder().put("userInfo", user.toUserInfo()).build());
        put(actions, AccessResources.SELF_SUBJECT_ACCESS_REVIEWS, (user, target, body) -> {
            checkAttributes(AccessResources.SELF_SUBJECT_ACCESS_REVIEWS, body.object("spec"));
            return decided(user.name(), user.groups(), body.object("spec"));
        });
        put(
                actions,
                AccessResources.SUBJECT_ACCESS_REVIEWS,
                (user, target, body) -> accessReview(AccessResources.SUBJECT_ACCESS_REVIEWS, body.object("spec")));
        put(actions, AccessResources.LOCAL_SUBJECT_ACCESS_REVIEWS, (user, target, body) -> {
            String namespace = body.object("spec").object("resourceAttributes").text("namespace");
            if (!namespace.equals(target.namespace())) {
                throw ApiException.badRequest(
                        "spec.resourceAttributes.namespace must match namespace: " + target.namespace());
            }
            return accessReview(AccessResources.LOCAL_SUBJECT_ACCESS_REVIEWS, body.object("spec"));
        });
        put(
                actions,
                AccessResources.SELF_SUBJECT_RULES_REVIEWS,
                (user, target, body) -> rulesReview(user, body.object("spec").text("namespace")));
        return actions;
    }

    private interface Review {
        /** The status for the answer to {@code body}. */
        JsonObject status(User user, RequestTarget target, JsonObject body);
    }

    private static void put(Map<String, Action> actions, Resource resource, Review review) {
        actions.put(resource.type().path() + "/", (user, same, target, request) -> {
            List<String> repeated = new ArrayList<>();
            JsonObject raw = RequestBodies.object(request, repeated::add);
            RequestBodies.check(resource, raw, 400);
            List<String> warnings = RequestBodies.strictFaults(resource, raw, repeated, Set.of(), request, 400);
            JsonObject body = RequestBodies.normalized(resource, raw);
            ObjectMetaRules.checkPlace(body, target.namespace(), "");
            JsonObject answer = body.with("kind", resource.type().kind())
                    .with("apiVersion", resource.type().apiVersion())
                    .with("metadata", body.object("metadata"))
                    .with("spec", body.object("spec"))
                    .with("status", review.status(user, target, body));
            return CompletableFuture.completedFuture(
                    WriteHandler.shown(new OptimisticRetry.Result(201, answer, false), warnings));
        });
    }

    private JsonObject tokenReview(JsonObject spec) {
        if (spec.text("token").isEmpty()) {
            throw ApiException.badRequest("token is required for TokenReview in authentication");
        }
        List<String> audiences = Audiences.of(AccessResources.TOKEN_REVIEWS.type(), "", spec);
        Optional<ServiceAccounts.Known> known = authenticator.token(spec.text("token"), audiences, accounts);
        if (known.isEmpty()) {
            return JsonObject.builder()
                    .put("user", JsonObject.EMPTY)
                    .put("error", "invalid bearer token")
                    .build();
        }
        JsonObject.Builder status = JsonObject.builder()
                .put("authenticated", true)
                .put("user", known.get().user().toUserInfo());
        if (!known.get().audiences().isEmpty()) {
            status.put("audiences", JsonArray.ofStrings(known.get().audiences()));
        }
        return status.build();
    }

    private JsonObject accessReview(Resource resource, JsonObject spec) {
        checkAttributes(resource, spec);
        List<String> groups = spec.array("groups").strings().toList();
        if (spec.text("user").isEmpty() && groups.isEmpty()) {
            throw invalid(resource, "spec.user", "\"\"", "at least one of user or group must be specified");
        }
        return decided(spec.text("user"), groups, spec);
    }

    private static void checkAttributes(Resource resource, JsonObject spec) {
        boolean both = spec.has("resourceAttributes") && spec.has("nonResourceAttributes");
        boolean none = !spec.has("resourceAttributes") && !spec.has("nonResourceAttributes");
        if (both) {
            throw invalid(
                    resource,
                    "spec.nonResourceAttributes",
                    spec.object("nonResourceAttributes").toString(),
                    "cannot be specified in combination with resourceAttributes");
        }
        if (none) {
            throw invalid(
                    resource,
                    "spec.resourceAttributes",
                    "null",
                    "exactly one of nonResourceAttributes or resourceAttributes must be specified");
        }
        checkSelectors(resource, spec);
    }

    private static void checkSelectors(Resource resource, JsonObject spec) {
        List<FieldError> faults = ReviewSelectors.faults(spec.object("resourceAttributes"));
        if (!faults.isEmpty()) {
            throw ApiException.invalid(resource.type(), "", faults);
        }
    }

    private static ApiException invalid(Resource resource, String field, String value, String why) {
        return ApiException.invalid(resource.type(), "", List.of(FieldError.invalid(field, value, why)));
    }

    private JsonObject decided(String user, List<String> groups, JsonObject spec) {
        ReviewSelectors selectors = ReviewSelectors.of(spec.object("resourceAttributes"));
        AuthorizationDecision decision = decide(user, groups, spec, selectors.selected());
        return JsonObject.builder()
                .put("allowed", decision.allowed())
                .putUnlessEmpty("reason", decision.reason())
                .putUnlessEmpty("evaluationError", selectors.error())
                .build();
    }

    private AuthorizationDecision decide(
            String user, List<String> groups, JsonObject spec, Map<String, String> selected) {
        if (spec.has("nonResourceAttributes")) {
            JsonObject asked = spec.object("nonResourceAttributes");
            return asked.text("path").isEmpty()
                    ? new AuthorizationDecision(false, "")
                    : authorizer.decide(Attributes.ofPath(user, groups, asked.text("verb"), asked.text("path")));
        }
        JsonObject asked = spec.object("resourceAttributes");
        String below = asked.text("subresource");
        return authorizer.decide(Attributes.ofResource(
                        user,
                        groups,
                        asked.text("verb"),
                        asked.text("group"),
                        asked.text("resource") + (below.isEmpty() ? "" : "/" + below),
                        asked.text("namespace"),
                        asked.text("name"))
                .selecting(selected));
    }

    private JsonObject rulesReview(User user, String namespace) {
        if (namespace.isEmpty()) {
            throw ApiException.badRequest("no namespace on request");
        }
        List<PolicyRule> rules = user.in(User.MASTERS)
                ? Escalation.EVERYTHING
                : policy.get().rules(user.name(), user.groups(), namespace);
        JsonObject.Builder status = JsonObject.builder()
                .put("resourceRules", rules(rules, false))
                .put("nonResourceRules", rules(rules, true));
        boolean node = user.in(NodeIdentity.GROUP);
        status.put("incomplete", node);
        if (node) {
            status.put("evaluationError", "node authorizer does not support user rule resolution");
        }
        return status.build();
    }

    private static JsonArray rules(List<PolicyRule> rules, boolean paths) {
        return new JsonArray(rules.stream()
                .filter(rule -> rule.paths().isEmpty() != paths)
                .<JsonValue>map(PolicyRule::json)
                .toList());
    }
}
