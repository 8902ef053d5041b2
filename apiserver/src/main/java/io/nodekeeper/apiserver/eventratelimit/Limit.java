package io.nodekeeper.apiserver.eventratelimit;

/**
 * One limit of Kubernetes' {@code eventratelimit.admission.k8s.io/v1alpha1} Configuration.
 *
 * @param type what shares the limit
 * @param qps writes of Events a second, 1 or more
 * @param burst writes at once, 1 or more
 * @param cacheSize how many namespaces, users or sources are told apart, those used last; 1 or more
 */
public record Limit(Type type, int qps, int burst, int cacheSize) {
    /** Kubernetes' default for {@code cacheSize}. */
    public static final int CACHE_SIZE = 4_096;

    /** What shares a limit. */
    public enum Type {
        /** All writes of Events. */
        SERVER("Server"),
        /** Those to one namespace. */
        NAMESPACE("Namespace"),
        /** Those of one user. */
        USER("User"),
        /** Those of one source about one object. */
        SOURCE_AND_OBJECT("SourceAndObject");

        private final String text;

        Type(String text) {
            this.text = text;
        }

        /** The type as a Configuration writes it. */
        public String text() {
            return text;
        }
    }
}
