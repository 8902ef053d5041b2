package io.nodekeeper.apiserver.eventratelimit;

/**
 * A write of an Event, as far as limits look at it.
 *
 * @param namespace its namespace
 * @param user who writes it
 * @param sourceAndObject who reports, and about what
 * @param bytes the size of the Event
 */
public record EventWrite(String namespace, String user, String sourceAndObject, long bytes) {
    String key(Limit.Type type) {
        return switch (type) {
            case SERVER -> "";
            case NAMESPACE -> namespace;
            case USER -> user;
            case SOURCE_AND_OBJECT -> sourceAndObject;
        };
    }
}
