package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedInputStream;
import io.nodekeeper.api.KubeTime;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;

/**
 * A Lease in protobuf, as kubelets send it to renew it, translated without a tree of objects: to the JSON that {@link Protobuf} gives
 * for it, and to the protobuf that {@link ProtobufWriter} gives for the same Lease with another version. It knows only the
 * fields of usual leases, in the order of their numbers, and texts of plain ASCII; everything else is no such lease. Immutable.
 */
public final class LeaseMessage {
    /** Up to the length of the message: the encoding's prefix, apiVersion and kind. */
    private static final byte[] HEAD =
            "k8s\0\n\37\n\26coordination.k8s.io/v1\22\5Lease\22".getBytes(StandardCharsets.US_ASCII);
    /** Behind the message: an empty encoding and an empty media type. */
    private static final byte[] END = {3 << 3 | 2, 0, 4 << 3 | 2, 0};

    private static final int METADATA = Scalars.delimited(1);
    private static final int SPEC = Scalars.delimited(2);
    private static final int OWNERS = Scalars.delimited(13);

    private final ByteArrayOutputStream json = new ByteArrayOutputStream(512);
    /** The fields of the metadata before the version, and those behind it. */
    private final ByteArrayOutputStream before = new ByteArrayOutputStream(128);

    private final ByteArrayOutputStream behind = new ByteArrayOutputStream(128);
    private final ByteArrayOutputStream spec = new ByteArrayOutputStream(128);
    /** Whether the next field of the JSON is the first one of its object. */
    private boolean first = true;
    /** Whether the list of owners has begun; it is the last field of the metadata. */
    private boolean owned;

    private LeaseMessage() {}

    /** Reads {@code bytes}; empty if they are not a usual lease, or malformed. */
    public static Optional<LeaseMessage> read(byte[] bytes) {
        if (bytes.length < HEAD.length || !Arrays.equals(bytes, 0, HEAD.length, HEAD, 0, HEAD.length)) {
            return Optional.empty();
        }
        try {
            CodedInputStream in = CodedInputStream.newInstance(bytes, HEAD.length, bytes.length - HEAD.length);
            int limit = in.pushLimit(in.readRawVarint32());
            LeaseMessage lease = new LeaseMessage();
            if (!lease.message(in)) {
                return Optional.empty();
            }
            in.popLimit(limit);
            int end = HEAD.length + in.getTotalBytesRead();
            return end == bytes.length || Arrays.equals(bytes, end, bytes.length, END, 0, END.length)
                    ? Optional.of(lease)
                    : Optional.empty();
        } catch (IOException e) {
            // The general reader says what is wrong.
            return Optional.empty();
        }
    }

    /** The JSON of this lease. */
    public byte[] json() {
        return json.toByteArray();
    }

    /** This lease in protobuf with {@code version} as its resourceVersion. */
    public byte[] protobuf(long version) {
        ByteArrayOutputStream metadata = new ByteArrayOutputStream(256);
        metadata.writeBytes(before.toByteArray());
        bytes(metadata, Scalars.delimited(6), Long.toString(version).getBytes(StandardCharsets.US_ASCII));
        metadata.writeBytes(behind.toByteArray());
        ByteArrayOutputStream message = new ByteArrayOutputStream(512);
        bytes(message, METADATA, metadata.toByteArray());
        bytes(message, SPEC, spec.toByteArray());
        ByteArrayOutputStream all = new ByteArrayOutputStream(512);
        all.writeBytes(HEAD);
        varint(all, message.size());
        all.writeBytes(message.toByteArray());
        all.writeBytes(END);
        return all.toByteArray();
    }

    private boolean message(CodedInputStream in) throws IOException {
        add("{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{");
        if (in.readTag() != METADATA || !fields(in, this::metadataField)) {
            return false;
        }
        add(owned ? "]},\"spec\":{" : "},\"spec\":{");
        if (in.readTag() != SPEC || !fields(in, this::specField)) {
            return false;
        }
        add("}}");
        return in.isAtEnd();
    }

    /** Reads one field. */
    @FunctionalInterface
    private interface Field {
        boolean read(CodedInputStream in, int tag) throws IOException;
    }

    /** Reads the length of a message and its fields, whose numbers must grow. */
    private boolean fields(CodedInputStream in, Field field) throws IOException {
        int limit = in.pushLimit(in.readRawVarint32());
        first = true;
        int last = 0;
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (tag <= last && !(tag == OWNERS && tag == last) || !field.read(in, tag)) {
                return false;
            }
            last = tag;
        }
        in.popLimit(limit);
        return true;
    }

    private boolean metadataField(CodedInputStream in, int tag) throws IOException {
        return switch (tag) {
            case 1 << 3 | 2 -> text(in, tag, "name", before);
            case 3 << 3 | 2 -> text(in, tag, "namespace", before);
            case 5 << 3 | 2 -> text(in, tag, "uid", before);
            // protobuf() writes this field, with the version that it is given.
            case 6 << 3 | 2 -> text(in, tag, "resourceVersion", new ByteArrayOutputStream());
            case 8 << 3 | 2 -> time(in, tag, "creationTimestamp", false, behind);
            case 13 << 3 | 2 -> owner(in);
            // generateName, selfLink and generation, which Go writes even if they are unset.
            case 2 << 3 | 2, 4 << 3 | 2 -> in.readRawVarint32() == 0;
            case 7 << 3 -> in.readInt64() == 0;
            default -> false;
        };
    }

    private boolean owner(CodedInputStream in) throws IOException {
        boolean more = owned;
        owned = true;
        if (!more) {
            name("ownerReferences");
        }
        add(more ? ",{" : "[{");
        ByteArrayOutputStream owner = new ByteArrayOutputStream(128);
        boolean known = fields(in, (inner, tag) -> switch (tag) {
            case 1 << 3 | 2 -> text(inner, tag, "kind", owner);
            case 3 << 3 | 2 -> text(inner, tag, "name", owner);
            case 4 << 3 | 2 -> text(inner, tag, "uid", owner);
            case 5 << 3 | 2 -> text(inner, tag, "apiVersion", owner);
            case 6 << 3 -> flag(inner, tag, "controller", owner);
            case 7 << 3 -> flag(inner, tag, "blockOwnerDeletion", owner);
            default -> false;
        });
        add("}");
        bytes(behind, OWNERS, owner.toByteArray());
        return known;
    }

    private boolean specField(CodedInputStream in, int tag) throws IOException {
        return switch (tag) {
            case 1 << 3 | 2 -> text(in, tag, "holderIdentity", spec);
            case 2 << 3 -> number(in, tag, "leaseDurationSeconds");
            case 3 << 3 | 2 -> time(in, tag, "acquireTime", true, spec);
            case 4 << 3 | 2 -> time(in, tag, "renewTime", true, spec);
            case 5 << 3 -> number(in, tag, "leaseTransitions");
            default -> false;
        };
    }

    /** Reads a text that is not empty and needs no escape in JSON. */
    private boolean text(CodedInputStream in, int tag, String name, ByteArrayOutputStream out) throws IOException {
        byte[] value = in.readByteArray();
        for (byte letter : value) {
            if (letter < ' ' || letter > '~' || letter == '"' || letter == '\\') {
                return false;
            }
        }
        name(name);
        json.write('"');
        json.writeBytes(value);
        json.write('"');
        bytes(out, tag, value);
        return value.length > 0;
    }

    private boolean flag(CodedInputStream in, int tag, String name, ByteArrayOutputStream out) throws IOException {
        boolean value = in.readBool();
        name(name);
        add(Boolean.toString(value));
        varint(out, tag);
        out.write(value ? 1 : 0);
        return true;
    }

    private boolean number(CodedInputStream in, int tag, String name) throws IOException {
        int value = in.readInt32();
        name(name);
        add(Integer.toString(value));
        varint(spec, tag);
        varint(spec, value);
        return value >= 0;
    }

    /** Reads a time with as many digits as its text has. Fields: 1 seconds, 2 nanoseconds. */
    private boolean time(CodedInputStream in, int tag, String name, boolean micro, ByteArrayOutputStream out)
            throws IOException {
        int limit = in.pushLimit(in.readRawVarint32());
        if (in.readTag() != 1 << 3) {
            return false;
        }
        long seconds = in.readInt64();
        if (in.readTag() != 2 << 3) {
            return false;
        }
        int nanos = in.readInt32();
        if (!in.isAtEnd() || seconds < 0 || seconds > Scalars.LAST_SECOND || nanos < 0 || nanos >= 1_000_000_000) {
            return false;
        }
        in.popLimit(limit);
        if (nanos % (micro ? 1_000 : 1_000_000_000) != 0) {
            return false;
        }
        Instant time = Instant.ofEpochSecond(seconds, nanos);
        name(name);
        add('"' + (micro ? KubeTime.formatMicro(time) : KubeTime.format(time)) + '"');
        ByteArrayOutputStream value = new ByteArrayOutputStream(16);
        varint(value, 1 << 3);
        varint(value, seconds);
        varint(value, 2 << 3);
        varint(value, nanos);
        bytes(out, tag, value.toByteArray());
        return true;
    }

    /** Begins a field of the JSON. */
    private void name(String name) {
        add((first ? "\"" : ",\"") + name + "\":");
        first = false;
    }

    private void add(String text) {
        json.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void bytes(ByteArrayOutputStream out, int tag, byte[] value) {
        varint(out, tag);
        varint(out, value.length);
        out.writeBytes(value);
    }

    private static void varint(ByteArrayOutputStream out, long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            out.write((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}
