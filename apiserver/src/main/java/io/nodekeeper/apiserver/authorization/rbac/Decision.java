package io.nodekeeper.apiserver.authorization.rbac;

/**
 * The decision of an authorizer about {@link Attributes}. If one authorizer does not allow a request, another one may.
 *
 * @param allowed whether it may be done
 * @param reason why, or why not; may be empty
 */
public record Decision(boolean allowed, String reason) {
    public static final Decision ALLOWED = new Decision(true, "");
    public static final Decision NOT_KNOWN = new Decision(false, "");

    public static Decision because(String reason) {
        return new Decision(false, reason);
    }
}
