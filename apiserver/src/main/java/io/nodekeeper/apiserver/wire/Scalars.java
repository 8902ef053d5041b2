package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.WireFormat;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Readers of scalar fields, and of the messages of Kubernetes that are scalars in JSON, such as Time and Quantity. */
final class Scalars {
    /** RFC 3339 has years of four digits. The first second of year 1 is Go's zero time. */
    private static final long FIRST_SECOND = -62_135_596_800L;

    static final long LAST_SECOND = 253_402_300_799L;

    private Scalars() {}

    static FieldReader reader(FieldDescriptor field) {
        return switch (field.getType()) {
            case STRING -> (in, bounds) -> new JsonString(in.readStringRequireUtf8());
            case BOOL -> (in, bounds) -> in.readBool() ? JsonBool.TRUE : JsonBool.FALSE;
            case INT32 -> (in, bounds) -> JsonNumber.of(in.readInt32());
            case INT64 -> (in, bounds) -> JsonNumber.of(in.readInt64());
            case UINT32 -> (in, bounds) -> JsonNumber.of(Integer.toUnsignedLong(in.readUInt32()));
            case DOUBLE -> (in, bounds) -> decimal(in.readDouble());
            case BYTES -> (in, bounds) -> new JsonString(Base64.getEncoder().encodeToString(in.readByteArray()));
            default -> throw new IllegalArgumentException(field.getFullName() + ": no rule for " + field.getType());
        };
    }

    /** The value of a map entry without a value field. */
    static JsonValue zero(FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case BOOLEAN -> JsonBool.FALSE;
            case INT, LONG, DOUBLE -> JsonNumber.of(0);
            case MESSAGE ->
                switch (field.getMessageType().getName()) {
                    case "Quantity" -> new JsonString("0");
                    case "ExtraValue" -> JsonArray.EMPTY;
                    default -> JsonObject.EMPTY;
                };
            default -> new JsonString("");
        };
    }

    /** Whether this is Go's zero value. */
    static boolean isZero(JsonValue value) {
        return switch (value) {
            case JsonString string -> string.value().isEmpty();
            case JsonNumber number -> number.literal().equals("0");
            case JsonBool bool -> !bool.value();
            default -> false;
        };
    }

    /** The reader of a message that is not an object in JSON; empty for one that is. */
    static Optional<FieldReader> message(Descriptor type) {
        FieldReader reader = switch (type.getName()) {
            case "Time", "Timestamp" -> inside((in, bounds) -> time(in, false));
            case "MicroTime" -> inside((in, bounds) -> time(in, true));
            case "Quantity" -> inside((in, bounds) -> quantity(in));
            case "IntOrString" -> inside((in, bounds) -> intOrString(in));
            case "FieldsV1", "RawExtension" -> inside((in, bounds) -> raw(in, bounds));
            case "ExtraValue" -> inside((in, bounds) -> texts(in, bounds));
            default -> null;
        };
        return Optional.ofNullable(reader);
    }

    private static FieldReader inside(FieldReader content) {
        return (in, bounds) -> {
            int end = in.pushLimit(in.readRawVarint32());
            JsonValue value = content.read(in, bounds);
            in.popLimit(end);
            return value;
        };
    }

    /** Fields: 1 seconds, 2 nanoseconds. Go writes an unset time as an empty message. */
    private static @Nullable JsonValue time(CodedInputStream in, boolean micro) throws IOException {
        if (in.isAtEnd()) {
            return null;
        }
        long seconds = 0;
        int nanos = 0;
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            switch (tag) {
                case 1 << 3 -> seconds = in.readInt64();
                case 2 << 3 -> nanos = in.readInt32();
                default -> UnknownFields.skip(in, tag);
            }
        }
        if (seconds == FIRST_SECOND && nanos == 0) {
            return null;
        }
        if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos > 999_999_999) {
            throw new ProtobufException(
                    "a time of " + seconds + " s and " + nanos + " ns is outside the years 1 to 9999");
        }
        Instant time = Instant.ofEpochSecond(seconds, nanos);
        return new JsonString(micro ? KubeTime.formatMicro(time) : KubeTime.format(time));
    }

    private static JsonValue quantity(CodedInputStream in) throws IOException {
        String text = "";
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (tag == delimited(1)) {
                text = in.readStringRequireUtf8();
            } else {
                UnknownFields.skip(in, tag);
            }
        }
        return new JsonString(text.isEmpty() ? "0" : text);
    }

    /** Fields: 1 the type (0 for the number), 2 the number, 3 the string. */
    private static JsonValue intOrString(CodedInputStream in) throws IOException {
        long which = 0;
        int number = 0;
        String text = "";
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (tag == 1 << 3) {
                which = in.readInt64();
            } else if (tag == 2 << 3) {
                number = in.readInt32();
            } else if (tag == delimited(3)) {
                text = in.readStringRequireUtf8();
            } else {
                UnknownFields.skip(in, tag);
            }
        }
        return which == 0 ? JsonNumber.of(number) : new JsonString(text);
    }

    /** A message with one field, which holds JSON. */
    private static @Nullable JsonValue raw(CodedInputStream in, Bounds bounds) throws IOException {
        byte[] json = {};
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (tag == delimited(1)) {
                json = in.readByteArray();
            } else {
                UnknownFields.skip(in, tag);
            }
        }
        if (json.length == 0) {
            return null;
        }
        JsonValue value = Json.parseBody(json);
        bounds.count(value);
        return value;
    }

    private static JsonValue texts(CodedInputStream in, Bounds bounds) throws IOException {
        List<JsonValue> items = new ArrayList<>();
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (tag == delimited(1)) {
                bounds.count();
                items.add(new JsonString(in.readStringRequireUtf8()));
            } else {
                UnknownFields.skip(in, tag);
            }
        }
        return new JsonArray(items);
    }

    private static JsonValue decimal(double value) {
        if (!Double.isFinite(value)) {
            throw new ProtobufException("a number is not finite: " + value);
        }
        return new JsonNumber(new BigDecimal(value).stripTrailingZeros().toString());
    }

    static int delimited(int number) {
        return number << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
    }
}
