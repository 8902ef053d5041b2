package io.nodekeeper.apiserver.eventratelimit;

/**
 * One limit of Kubernetes' {@code eventratelimit.admission.k8s.io/v1alpha1} Configuration.
 *
 * @param type which writes share the limit
 * @param qps writes of Events per second, 1 or more
 * @param burst the most writes at once, 1 or more
 * @param cacheSize how many namespaces, users or sources have a bucket, the most recently active ones; 1 or more
 */
public record Limit(Type type, int qps, int burst, int cacheSize) {
    /** Kubernetes' default for {@code cacheSize}. */
    static final int CACHE_SIZE = 4_096;

    /** Which writes share a limit. */
    public enum Type {
        /** All writes of Events. */
        SERVER("Server"),
        /** The writes to one namespace. */
        NAMESPACE("Namespace"),
        /** The writes of one user. */
        USER("User"),
        /** The writes of one source about one object. */
        SOURCE_AND_OBJECT("SourceAndObject");

        private final String text;

        Type(String text) {
            this.text = text;
        }

        /** The name of the type in a Configuration. */
        public String text() {
            return text;
        }
    }
}
