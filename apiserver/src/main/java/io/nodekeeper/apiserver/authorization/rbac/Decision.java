package io.nodekeeper.apiserver.authorization.rbac;

/**
 * The answer to {@link Attributes}. Nobody is denied for good: who is not allowed by one authorizer may be by another.
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
