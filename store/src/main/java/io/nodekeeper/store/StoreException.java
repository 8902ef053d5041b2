package io.nodekeeper.store;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A store refused an operation or failed to do it. */
public class StoreException extends RuntimeException {

    /** {@code message} says what could not be done. */
    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** The object is not at the revision that the write expected. */
    public static final class Conflict extends StoreException {
        private final transient Optional<Entry> actual;

        /** A write of {@code key} expected revision {@code expected} but found {@code actual}. */
        public Conflict(String key, long expected, Optional<Entry> actual) {
            super(
                    key + " is at revision " + actual.map(Entry::modRevision).orElse(0L) + ", expected " + expected,
                    null);
            this.actual = actual;
        }

        /** The current object; empty if it does not exist. */
        public Optional<Entry> actual() {
            return actual;
        }
    }

    /** The requested history was compacted. */
    public static final class Compacted extends StoreException {
        private final long oldest;

        /** {@code requested} is the requested revision; history is kept from revision {@code oldest} on. */
        public Compacted(long requested, long oldest) {
            super("revision " + requested + " is gone; the oldest kept is " + oldest, null);
            this.oldest = oldest;
        }

        /** The oldest revision from which the history is complete. */
        public long oldest() {
            return oldest;
        }
    }

    /** Files of the store are damaged or missing. The message names the damage. */
    public static final class Damaged extends StoreException {

        /** {@code message} names what is damaged and what is lost. */
        public Damaged(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The store has reached its quota. Deletions, and writes that take no more space, still succeed. */
    public static final class NoSpace extends StoreException {
        /** {@code message} names the object that was not written and the size of the store. */
        public NoSpace(String message) {
            super(message, null);
        }
    }
}
