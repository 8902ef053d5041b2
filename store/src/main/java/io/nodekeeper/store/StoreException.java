package io.nodekeeper.store;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A store's refusal or failure. */
public class StoreException extends RuntimeException {

    /** {@code message} says what could not be done. */
    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** The object is not at the revision that the write was made for. */
    public static final class Conflict extends StoreException {
        private final transient Optional<Entry> actual;

        /** A write of {@code key} expected revision {@code expected} but found {@code actual}. */
        public Conflict(String key, long expected, Optional<Entry> actual) {
            super(
                    key + " is at revision " + actual.map(Entry::modRevision).orElse(0L) + ", expected " + expected,
                    null);
            this.actual = actual;
        }

        /** The object as it stands; empty if there is none. */
        public Optional<Entry> actual() {
            return actual;
        }
    }

    /** The history asked for is no longer kept. */
    public static final class Compacted extends StoreException {
        private final long oldest;

        /** History from {@code requested} on was asked for; what is kept begins at {@code oldest}. */
        public Compacted(long requested, long oldest) {
            super("revision " + requested + " is gone; the oldest kept is " + oldest, null);
            this.oldest = oldest;
        }

        /** The oldest revision from which history is still whole. */
        public long oldest() {
            return oldest;
        }
    }

    /** The files of a store are damaged, or some are missing. The message says what is known of it. */
    public static final class Damaged extends StoreException {

        /** {@code message} says what is damaged and what is lost. */
        public Damaged(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The store is as large as it may be; writes that take no more space, and deletions, are still made. */
    public static final class NoSpace extends StoreException {
        /** {@code message} says what was not written and how large the store is. */
        public NoSpace(String message) {
            super(message, null);
        }
    }
}
