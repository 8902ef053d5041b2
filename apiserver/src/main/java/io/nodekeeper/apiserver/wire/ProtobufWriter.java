package io.nodekeeper.apiserver.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.Runtime;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes objects in Kubernetes' protobuf encoding, the reverse of {@link Protobuf}, by the descriptors of Kubernetes'
 * own messages. Omits fields that the message does not have, because its readers could not read them. Thread-safe.
 */
public final class ProtobufWriter {
    static final ByteString MAGIC = ByteString.copyFromUtf8("k8s\0");

    private ProtobufWriter() {}

    /** Encodes {@code object} with its envelope; empty if Kubernetes has no message for its kind, such as Table. */
    public static Optional<byte[]> object(JsonObject object) {
        String apiVersion = object.text("apiVersion");
        String kind = object.text("kind");
        return descriptor(apiVersion, kind).map(type -> envelope(apiVersion, kind, message(type, object)));
    }

    /** Encodes an event of a watch as a frame: its length in four bytes, then the event; empty as {@link #object}. */
    public static Optional<byte[]> frame(JsonObject event) {
        return object(event.object("object")).map(object -> {
            byte[] bytes = Meta.WatchEvent.newBuilder()
                    .setType(event.text("type"))
                    .setObject(Runtime.RawExtension.newBuilder().setRaw(ByteString.copyFrom(object)))
                    .build()
                    .toByteArray();
            return ByteBuffer.allocate(Integer.BYTES + bytes.length)
                    .putInt(bytes.length)
                    .put(bytes)
                    .array();
        });
    }

    static Optional<Descriptor> descriptor(String apiVersion, String kind) {
        boolean meta = kind.equals("Status")
                || kind.startsWith("APIResource")
                || kind.startsWith("APIGroup")
                || kind.startsWith("APIVersions")
                || apiVersion.startsWith("meta.k8s.io/");
        return meta
                ? Optional.ofNullable(Meta.getDescriptor().findMessageTypeByName(kind))
                : MessageTypes.descriptor(apiVersion, kind);
    }

    /** The message {@code Unknown} with {@code message} as its bytes, which are encoded once: an object may have megabytes. */
    private static byte[] envelope(String apiVersion, String kind, Message message) {
        Runtime.TypeMeta type = Runtime.TypeMeta.newBuilder()
                .setApiVersion(apiVersion)
                .setKind(kind)
                .build();
        byte[] bytes = new byte
                [MAGIC.size()
                        + CodedOutputStream.computeMessageSize(Runtime.Unknown.TYPEMETA_FIELD_NUMBER, type)
                        + CodedOutputStream.computeMessageSize(Runtime.Unknown.RAW_FIELD_NUMBER, message)
                        + CodedOutputStream.computeStringSize(Runtime.Unknown.CONTENTENCODING_FIELD_NUMBER, "")
                        + CodedOutputStream.computeStringSize(Runtime.Unknown.CONTENTTYPE_FIELD_NUMBER, "")];
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            out.writeRawBytes(MAGIC);
            out.writeMessage(Runtime.Unknown.TYPEMETA_FIELD_NUMBER, type);
            // Bytes and an embedded message have the same form.
            out.writeMessage(Runtime.Unknown.RAW_FIELD_NUMBER, message);
            out.writeString(Runtime.Unknown.CONTENTENCODING_FIELD_NUMBER, "");
            out.writeString(Runtime.Unknown.CONTENTTYPE_FIELD_NUMBER, "");
            out.checkNoSpaceLeft();
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory", e);
        }
        return bytes;
    }

    static Message message(Descriptor type, JsonObject json) {
        DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
        for (FieldDescriptor field : type.getFields()) {
            if (FieldNames.isInlined(field)) {
                Message embedded = message(field.getMessageType(), json);
                if (!embedded.getAllFields().isEmpty()) {
                    message.setField(field, embedded);
                }
                continue;
            }
            Optional<JsonValue> value = json.get(FieldNames.json(field));
            if (value.isPresent()) {
                put(message, field, value.get());
            }
        }
        return message.build();
    }

    private static void put(DynamicMessage.Builder message, FieldDescriptor field, JsonValue value) {
        if (field.isMapField()) {
            if (value instanceof JsonObject map) {
                map.fields().forEach((key, item) -> message.addRepeatedField(field, entry(field, key, item)));
            }
        } else if (field.isRepeated()) {
            if (value instanceof JsonArray items) {
                for (JsonValue item : items.items()) {
                    add(message, field, item);
                }
            }
        } else {
            Object single = value(field, value);
            if (single != null) {
                message.setField(field, single);
            }
        }
    }

    private static void add(DynamicMessage.Builder message, FieldDescriptor field, JsonValue item) {
        Object single = value(field, item);
        if (single != null) {
            message.addRepeatedField(field, single);
        }
    }

    private static Message entry(FieldDescriptor field, String key, JsonValue item) {
        Descriptor type = field.getMessageType();
        FieldDescriptor content = type.findFieldByNumber(2);
        DynamicMessage.Builder entry = DynamicMessage.newBuilder(type).setField(type.findFieldByNumber(1), key);
        Object single = value(content, item);
        if (single != null) {
            entry.setField(content, single);
        }
        return entry.build();
    }

    /** The value as protobuf's type; null for JSON's null and for a value that the field cannot hold. */
    private static @Nullable Object value(FieldDescriptor field, JsonValue value) {
        if (value instanceof JsonNull) {
            return null;
        }
        return switch (field.getJavaType()) {
            case STRING -> value instanceof JsonString text ? text.value() : null;
            case BOOLEAN -> value instanceof JsonBool bool ? bool.value() : null;
            case INT -> value instanceof JsonNumber number ? decimal(number).intValue() : null;
            case LONG -> value instanceof JsonNumber number ? decimal(number).longValue() : null;
            case DOUBLE -> value instanceof JsonNumber number ? decimal(number).doubleValue() : null;
            case BYTE_STRING ->
                value instanceof JsonString text
                        ? ByteString.copyFrom(Base64.getDecoder().decode(text.value()))
                        : null;
            case MESSAGE -> nested(field.getMessageType(), value);
            default -> null;
        };
    }

    private static BigDecimal decimal(JsonNumber number) {
        return new BigDecimal(number.literal());
    }

    /** A message; in JSON it is an object or, for the types in {@link Scalars}, a scalar. */
    private static @Nullable Message nested(Descriptor type, JsonValue value) {
        return switch (type.getName()) {
            case "Time", "Timestamp", "MicroTime" ->
                value instanceof JsonString text
                        ? KubeTime.parse(text.value())
                                .map(time -> time(type, time))
                                .orElse(null)
                        : null;
            case "Quantity" ->
                value instanceof JsonString || value instanceof JsonNumber ? one(type, 1, text(value)) : null;
            case "IntOrString" -> intOrString(type, value);
            case "FieldsV1", "RawExtension" -> one(type, 1, ByteString.copyFrom(Json.writeBytes(value)));
            case "ExtraValue" -> {
                DynamicMessage.Builder items = DynamicMessage.newBuilder(type);
                if (value instanceof JsonArray array) {
                    array.items().forEach(item -> add(items, type.findFieldByNumber(1), item));
                }
                yield items.build();
            }
            default -> value instanceof JsonObject object ? message(type, object) : null;
        };
    }

    private static String text(JsonValue value) {
        return value instanceof JsonString string ? string.value() : value.toString();
    }

    private static Message one(Descriptor type, int number, Object content) {
        return DynamicMessage.newBuilder(type)
                .setField(type.findFieldByNumber(number), content)
                .build();
    }

    private static Message time(Descriptor type, Instant time) {
        return DynamicMessage.newBuilder(type)
                .setField(type.findFieldByNumber(1), time.getEpochSecond())
                .setField(type.findFieldByNumber(2), time.getNano())
                .build();
    }

    private static @Nullable Message intOrString(Descriptor type, JsonValue value) {
        DynamicMessage.Builder either = DynamicMessage.newBuilder(type);
        if (value instanceof JsonNumber number) {
            return either.setField(type.findFieldByNumber(1), 0L)
                    .setField(type.findFieldByNumber(2), decimal(number).intValue())
                    .build();
        }
        return value instanceof JsonString text
                ? either.setField(type.findFieldByNumber(1), 1L)
                        .setField(type.findFieldByNumber(3), text.value())
                        .build()
                : null;
    }
}
