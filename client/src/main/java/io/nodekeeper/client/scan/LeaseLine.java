package io.nodekeeper.client.scan;

import java.nio.charset.StandardCharsets;

/**
 * Reads the needed fields of a watch event about a Lease directly from its bytes, without creating any object: {@code
 * {"type":"MODIFIED","object":{…}}} with fields in any order and any other fields. It leaves to the full parser what it
 * does not support: other types of events, escapes or repetitions of needed fields, times in an unusual form, text
 * beyond ASCII, malformed JSON. For all other events the full parser gives the same result, except that this class does
 * not detect the repetition of a field that is not needed.
 *
 * <p>One object serves all lines: the results are about the last scanned line, are valid while its bytes do not change,
 * and only if {@link #scan} returned true. Not thread-safe.
 */
public final class LeaseLine {
    /** {@link #renewMicros} of a Lease that was never renewed. */
    public static final long NO_TIME = Long.MIN_VALUE;

    private static final int TYPE = 1;
    private static final int OBJECT = 2;
    private static final int METADATA = 4;
    private static final int SPEC = 8;
    private static final int NAME = 16;
    private static final int NAMESPACE = 32;
    private static final int UID = 64;
    private static final int VERSION = 128;
    private static final int RENEW_TIME = 256;
    private static final int HOLDER = 512;
    /** Longer numbers may not fit in 64 bits. */
    private static final int MOST_DIGITS = 18;

    private final JsonCursor json = new JsonCursor();
    private byte[] bytes = new byte[0];
    private int found;
    private boolean deleted;
    private int nameFrom;
    private int nameLength;
    private int nameHash;
    private int namespaceFrom;
    private int namespaceLength;
    private int uidFrom;
    private int uidLength;
    private int holderFrom;
    private int holderLength;
    private long resourceVersion;
    private long renewMicros;

    /** Reads the line in {@code [from, to)}; false if the full parser must read it. Never throws. */
    public boolean scan(byte[] line, int from, int to) {
        json.reset(line, from, to);
        bytes = line;
        found = 0;
        namespaceFrom = from;
        namespaceLength = 0;
        uidFrom = from;
        uidLength = 0;
        holderFrom = from;
        holderLength = 0;
        renewMicros = NO_TIME;
        return event() && json.atEnd() && has(TYPE) && has(OBJECT) && has(NAME) && has(VERSION);
    }

    /** Whether the Lease was deleted; otherwise it was created or changed. */
    public boolean isDeletion() {
        return deleted;
    }

    /** The bytes that the ranges refer to. */
    public byte[] bytes() {
        return bytes;
    }

    /** Where {@code metadata.name} begins. */
    public int nameFrom() {
        return nameFrom;
    }

    /** The length of {@code metadata.name}, in bytes and characters. */
    public int nameLength() {
        return nameLength;
    }

    /** {@link String#hashCode} of {@code metadata.name}. */
    public int nameHash() {
        return nameHash;
    }

    /** {@code metadata.name} as a new string. */
    public String name() {
        return text(nameFrom, nameLength);
    }

    /** Whether {@code metadata.namespace} is {@code namespace}. */
    public boolean isIn(String namespace) {
        return JsonCursor.is(bytes, namespaceFrom, namespaceLength, namespace);
    }

    /** {@code metadata.uid} as a new string; empty if absent. */
    public String uid() {
        return text(uidFrom, uidLength);
    }

    /** {@code metadata.resourceVersion}, which is a number in every known API server. */
    public long resourceVersion() {
        return resourceVersion;
    }

    /** {@code spec.renewTime} in microseconds since 1970; {@link #NO_TIME} if absent. */
    public long renewMicros() {
        return renewMicros;
    }

    /** Whether {@code spec.holderIdentity} is {@code holder}. */
    public boolean isHeldBy(String holder) {
        return JsonCursor.is(bytes, holderFrom, holderLength, holder);
    }

    /** {@code spec.holderIdentity} as a new string; empty if absent. */
    public String holder() {
        return text(holderFrom, holderLength);
    }

    private String text(int from, int length) {
        return new String(bytes, from, length, StandardCharsets.US_ASCII);
    }

    private boolean event() {
        if (!json.pass('{')) {
            return false;
        }
        int more = 1;
        while (more == 1) {
            if (!json.name()) {
                return false;
            }
            boolean understood = json.textIs("type")
                    ? once(TYPE) && type()
                    : json.textIs("object") ? once(OBJECT) && lease() : !json.isEscaped() && json.skip();
            if (!understood) {
                return false;
            }
            more = json.more('}');
        }
        return more == 0;
    }

    private boolean type() {
        if (!json.text()) {
            return false;
        }
        deleted = json.textIs("DELETED");
        return deleted || json.textIs("MODIFIED") || json.textIs("ADDED");
    }

    private boolean lease() {
        if (!json.pass('{')) {
            return false;
        }
        int more = json.pass('}') ? 0 : 1;
        while (more == 1) {
            if (!json.name()) {
                return false;
            }
            boolean understood = json.textIs("metadata")
                    ? once(METADATA) && metadata()
                    : json.textIs("spec") ? once(SPEC) && spec() : !json.isEscaped() && json.skip();
            if (!understood) {
                return false;
            }
            more = json.more('}');
        }
        return more == 0;
    }

    private boolean metadata() {
        if (!json.pass('{')) {
            return false;
        }
        int more = json.pass('}') ? 0 : 1;
        while (more == 1) {
            if (!json.name() || !metadataField()) {
                return false;
            }
            more = json.more('}');
        }
        return more == 0;
    }

    private boolean metadataField() {
        if (json.textIs("name")) {
            return once(NAME) && plain() && named();
        }
        if (json.textIs("namespace")) {
            if (!once(NAMESPACE) || !plainOrNull()) {
                return false;
            }
            namespaceFrom = json.textFrom();
            namespaceLength = json.textEnd() - namespaceFrom;
            return true;
        }
        if (json.textIs("uid")) {
            if (!once(UID) || !plainOrNull()) {
                return false;
            }
            uidFrom = json.textFrom();
            uidLength = json.textEnd() - uidFrom;
            return true;
        }
        if (json.textIs("resourceVersion")) {
            return once(VERSION) && plain() && version();
        }
        return !json.isEscaped() && json.skip();
    }

    private boolean spec() {
        if (json.passNull()) {
            return true;
        }
        if (!json.pass('{')) {
            return false;
        }
        int more = json.pass('}') ? 0 : 1;
        while (more == 1) {
            if (!json.name() || !specField()) {
                return false;
            }
            more = json.more('}');
        }
        return more == 0;
    }

    private boolean specField() {
        if (json.textIs("renewTime")) {
            if (!once(RENEW_TIME)) {
                return false;
            }
            if (json.passNull()) {
                return true;
            }
            if (!plain()) {
                return false;
            }
            renewMicros = MicroTimes.parse(bytes, json.textFrom(), json.textEnd());
            return renewMicros != MicroTimes.MALFORMED;
        }
        if (json.textIs("holderIdentity")) {
            if (!once(HOLDER) || !plainOrNull()) {
                return false;
            }
            holderFrom = json.textFrom();
            holderLength = json.textEnd() - holderFrom;
            return true;
        }
        return !json.isEscaped() && json.skip();
    }

    private boolean plain() {
        return json.text() && !json.isEscaped();
    }

    private boolean plainOrNull() {
        return json.textOrNull() && !json.isEscaped();
    }

    private boolean named() {
        nameFrom = json.textFrom();
        nameLength = json.textEnd() - nameFrom;
        nameHash = ByteKeyTable.hash(bytes, nameFrom, nameLength);
        return nameLength > 0;
    }

    private boolean version() {
        int from = json.textFrom();
        int length = json.textEnd() - from;
        if (length == 0 || length > MOST_DIGITS || bytes[from] == '0') {
            return false;
        }
        resourceVersion = 0;
        for (int i = from; i < from + length; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9) {
                return false;
            }
            resourceVersion = resourceVersion * 10 + digit;
        }
        return true;
    }

    private boolean once(int field) {
        boolean first = !has(field);
        found |= field;
        return first;
    }

    private boolean has(int field) {
        return (found & field) != 0;
    }
}
