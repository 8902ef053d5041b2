package io.nodekeeper.apiserver.authorization.rbac;

/**
 * The decision of an authorizer about {@link Attributes}. If one authorizer does not allow a request, another one may.
 *
 * @param allowed whether the request is allowed
 * @param reason the reason for the decision; may be empty
 */
public record AuthorizationDecision(boolean allowed, String reason) {
    public static final AuthorizationDecision ALLOWED = new AuthorizationDecision(true, "");
    public static final AuthorizationDecision NOT_KNOWN = new AuthorizationDecision(false, "");

    public static AuthorizationDecision because(String reason) {
        return new AuthorizationDecision(false, reason);
    }
}
