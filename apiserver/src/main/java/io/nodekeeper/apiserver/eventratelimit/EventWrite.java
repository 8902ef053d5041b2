package io.nodekeeper.apiserver.eventratelimit;

/**
 * The attributes of a write of an Event that the limits use.
 *
 * @param namespace the namespace of the Event
 * @param user the name of the user who writes it
 * @param sourceAndObject the source of the Event and the object that it is about, as one key
 * @param bytes the size of the Event in bytes
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
