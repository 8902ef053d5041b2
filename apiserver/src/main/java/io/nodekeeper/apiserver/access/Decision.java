package io.nodekeeper.apiserver.access;

/**
 * The answer to {@link Attributes}. Nobody is denied for good: who is not allowed by one authorizer may be by another.
 *
 * @param allowed whether it may be done
 * @param reason why, or why not; may be empty
 */
public record Decision(boolean allowed, String reason) {
    static final Decision ALLOWED = new Decision(true, "");
    static final Decision NOT_KNOWN = new Decision(false, "");

    static Decision because(String reason) {
        return new Decision(false, reason);
    }
}
