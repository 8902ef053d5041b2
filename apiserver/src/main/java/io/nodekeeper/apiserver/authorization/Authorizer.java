package io.nodekeeper.apiserver.authorization;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.selector.FieldSelector;
import io.nodekeeper.apiserver.authorization.node.NodeAuthorizer;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.AuthorizationDecision;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Authorizes requests: allows everything to the group system:masters, otherwise asks the Node authorizer and then the
 * roles. Uses only data in memory. Thread-safe.
 */
public final class Authorizer {
    private static final AuthorizationDecision MASTER = new AuthorizationDecision(true, "");

    private final AccessState state;
    private final NodeAuthorizer nodes;

    public Authorizer(AccessState state) {
        this.state = state;
        this.nodes = new NodeAuthorizer(state.graph());
    }

    /**
     * Sets whether nodes may read only their own Node and pods; the feature gate {@code AuthorizeNodeWithSelectors}.
     */
    public void nodesReadTheirOwn(boolean own) {
        nodes.readsOwn(own);
    }

    /** The decision, with its reason. */
    public AuthorizationDecision decide(Attributes asked) {
        if (asked.groups().contains(User.MASTERS)) {
            return MASTER;
        }
        AuthorizationDecision node = nodes.decide(asked);
        if (node.allowed()) {
            return node;
        }
        AuthorizationDecision granted = state.policy().decide(asked);
        return granted.allowed() ? granted : node;
    }

    /** Throws the refusal of a request that is not allowed. */
    void check(Attributes asked) {
        AuthorizationDecision decision = decide(asked);
        if (!decision.allowed()) {
            throw refusal(asked, decision.reason());
        }
    }

    /** The attributes of a request by {@code user}. */
    public static Attributes attributes(User user, RequestInfo info, ApiRequest request) {
        Optional<RequestTarget> target = info.resource();
        if (target.isEmpty()) {
            return Attributes.ofPath(user.name(), user.groups(), info.verb(), info.path());
        }
        RequestTarget about = target.get();
        Map<String, String> selected = selected(info.verb(), request);
        return Attributes.ofResource(
                        user.name(),
                        user.groups(),
                        info.verb(),
                        about.group(),
                        about.qualified(),
                        // A request for a Namespace counts as one in that namespace, so a role in it can grant reading
                        // it.
                        about.isNamespace() ? about.name() : about.namespace(),
                        about.name().isEmpty() ? selected.getOrDefault("metadata.name", "") : about.name())
                .selecting(selected);
    }

    /**
     * The fields for which a list or watch selects one value. A right to one object is enough for a list of only that
     * object, and a node's right to its own pods for a list of these.
     */
    private static Map<String, String> selected(String verb, ApiRequest request) {
        String selector = request.parameter("fieldSelector");
        if (selector.isEmpty() || !(verb.equals("list") || verb.equals("watch"))) {
            return Map.of();
        }
        Map<String, String> selected = new HashMap<>();
        try {
            FieldSelector.parse(selector).terms().stream()
                    .filter(FieldSelector.Term::equal)
                    .forEach(term -> selected.putIfAbsent(term.field(), term.value()));
            return selected;
        } catch (ApiException e) {
            // The handler refuses the malformed selector later, if the user may list at all.
            return Map.of();
        }
    }

    /** The refusal of a request that is not authorized. */
    public static ApiException refusal(Attributes asked, String why) {
        if (!asked.isResource()) {
            return new ApiException(
                    403,
                    "Forbidden",
                    "forbidden: User \"" + asked.user() + "\" cannot " + asked.verb() + " path \"" + asked.path()
                            + "\"");
        }
        int slash = asked.resource().indexOf('/');
        String plural = slash < 0 ? asked.resource() : asked.resource().substring(0, slash);
        String qualified = asked.group().isEmpty() ? plural : plural + "." + asked.group();
        String scope =
                asked.namespace().isEmpty() ? "at the cluster scope" : "in the namespace \"" + asked.namespace() + "\"";
        String text = qualified + (asked.name().isEmpty() ? "" : " \"" + asked.name() + "\"")
                + " is forbidden: User \"" + asked.user() + "\" cannot " + asked.verb() + " resource \""
                + asked.resource() + "\" in API group \"" + asked.group() + "\" " + scope
                + (why.isEmpty() ? "" : ": " + why);
        return new ApiException(
                403,
                "Forbidden",
                text,
                JsonObject.builder()
                        .putUnlessEmpty("name", asked.name())
                        .putUnlessEmpty("group", asked.group())
                        .put("kind", plural)
                        .build());
    }
}
