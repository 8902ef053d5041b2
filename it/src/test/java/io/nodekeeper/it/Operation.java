package io.nodekeeper.it;

/**
 * One request about one object, and its outcome. Times are System.nanoTime.
 *
 * @param kind what was asked for
 * @param key which object
 * @param value what a write was to leave behind, unlike that of any other write; empty for the others
 * @param expected the revision at which an update or deletion wants the object; 0 for the others
 * @param invoked when it was sent
 * @param returned when the answer came; {@link Long#MAX_VALUE} if none came
 * @param outcome the answer
 * @param revision the revision in the answer; 0 if there is none
 * @param seen the value in the answer to a read
 */
record Operation(
        Kind kind,
        String key,
        String value,
        long expected,
        long invoked,
        long returned,
        Outcome outcome,
        long revision,
        String seen) {

    /** The kinds of requests. */
    enum Kind {
        CREATE,
        UPDATE,
        DELETE,
        GET
    }

    /** The possible outcomes. */
    enum Outcome {
        /** It was done. */
        DONE,
        /** Refused: there is no such object. */
        ABSENT,
        /** Refused: there is one already. */
        PRESENT,
        /** Refused: it is not at that revision. */
        CONFLICT,
        /** It is unknown whether it was done. */
        UNKNOWN
    }
}
