package io.nodekeeper.apiserver.writes;

import java.nio.charset.StandardCharsets;

/**
 * Reads the stored bytes of a Lease, as {@link io.nodekeeper.apiserver.storage.Codec} writes them, without creating any object. It
 * knows only the fields of usual leases; with any other field a lease has no such form. Used for one scan, by one thread.
 */
final class LeaseForm {
    /** How every stored Lease begins. */
    static final byte[] HEAD = ascii("{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{");

    /** The length of a time with six fraction digits, the stored form. */
    static final int TIME = 27;

    private static final byte[] SPEC = ascii(",\"spec\":{");
    private static final byte[] TRUE = ascii("true");
    private static final byte[] FALSE = ascii("false");

    private static final byte[] NAME = ascii("\"name\":");
    private static final byte[] NAMESPACE = ascii("\"namespace\":");
    private static final byte[] UID = ascii("\"uid\":");
    private static final byte[] CREATED = ascii("\"creationTimestamp\":");
    private static final byte[] OWNERS = ascii("\"ownerReferences\":");
    private static final byte[] API_VERSION = ascii("\"apiVersion\":");
    private static final byte[] KIND = ascii("\"kind\":");
    private static final byte[] CONTROLLER = ascii("\"controller\":");
    private static final byte[] BLOCKS = ascii("\"blockOwnerDeletion\":");
    private static final byte[] HOLDER = ascii("\"holderIdentity\":");
    private static final byte[] DURATION = ascii("\"leaseDurationSeconds\":");
    private static final byte[] ACQUIRED = ascii("\"acquireTime\":");
    private static final byte[] RENEWED = ascii("\"renewTime\":");
    private static final byte[] TRANSITIONS = ascii("\"leaseTransitions\":");

    private final byte[] bytes;
    /** The place in the metadata that must be between two fields, or before the first or behind the last one. */
    private final int place;

    private boolean placed;
    private int at;
    private int time = -1;

    private LeaseForm(byte[] stored, int place) {
        bytes = stored;
        this.place = place;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Where the text of {@code spec.renewTime} begins in {@code stored}; -1 if the lease has another form, no renewTime, or if a
     * field of the metadata cannot be inserted at {@code place}.
     */
    static int renewTime(byte[] stored, int place) {
        LeaseForm form = new LeaseForm(stored, place);
        boolean known = form.pass(HEAD)
                && form.fields('}', form::metadataField)
                && form.pass(SPEC)
                && form.fields('}', form::specField)
                && form.pass('}')
                && form.at == stored.length;
        return known && form.placed ? form.time : -1;
    }

    /** Reads one field. */
    @FunctionalInterface
    private interface Field {
        boolean read();
    }

    /** Reads fields or items up to {@code close}; at least one. */
    private boolean fields(char close, Field field) {
        do {
            if (!field.read()) {
                return false;
            }
        } while (pass(','));
        return pass(close);
    }

    private boolean metadataField() {
        placed |= at == place;
        boolean read = (pass(NAME) || pass(NAMESPACE) || pass(UID) || pass(CREATED))
                ? text()
                : pass(OWNERS) && pass('[') && fields(']', this::owner);
        // The comma between two fields belongs to the inserted field, unless that is the last one.
        placed |= at == place && at < bytes.length && bytes[at] == '}';
        return read;
    }

    private boolean owner() {
        return pass('{') && fields('}', this::ownerField);
    }

    private boolean ownerField() {
        return (pass(API_VERSION) || pass(KIND) || pass(NAME) || pass(UID))
                ? text()
                : (pass(CONTROLLER) || pass(BLOCKS)) && (pass(TRUE) || pass(FALSE));
    }

    private boolean specField() {
        if (pass(RENEWED)) {
            time = at + 1;
            return text() && at == time + TIME + 1;
        }
        return (pass(HOLDER) || pass(ACQUIRED)) ? text() : (pass(DURATION) || pass(TRANSITIONS)) && digits();
    }

    /** Reads a string of ASCII without escapes. */
    private boolean text() {
        if (!pass('"')) {
            return false;
        }
        while (at < bytes.length && bytes[at] >= ' ' && bytes[at] != '"' && bytes[at] != '\\') {
            at++;
        }
        return pass('"');
    }

    private boolean digits() {
        int from = at;
        while (at < bytes.length && bytes[at] >= '0' && bytes[at] <= '9') {
            at++;
        }
        return at > from;
    }

    private boolean pass(char expected) {
        if (at < bytes.length && bytes[at] == expected) {
            at++;
            return true;
        }
        return false;
    }

    private boolean pass(byte[] expected) {
        if (Bytes.has(bytes, at, expected)) {
            at += expected.length;
            return true;
        }
        return false;
    }
}
