package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.WireFormat;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads one of Kubernetes' messages as JSON, by a table of its fields that is created once from the descriptor.
 * Kubernetes' JSON differs from protobuf's: fields of embedded Go structs belong to the outer object
 * ({@link FieldNames}), some messages are scalars ({@link Scalars}), and most zero values are absent
 * ({@link KeptZeros}). Thread-safe.
 */
final class MessageType {
    private static final Map<String, MessageType> MADE = new ConcurrentHashMap<>();

    private final Descriptor descriptor;
    /** By field number. Created at the first use, because messages may be recursive. */
    private volatile Field @Nullable [] fields;

    private MessageType(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    static MessageType of(Descriptor descriptor) {
        return MADE.computeIfAbsent(descriptor.getFullName(), name -> new MessageType(descriptor));
    }

    /** A field: its name in JSON, and the reader of its values. */
    private record Field(
            String name,
            boolean repeated,
            boolean map,
            boolean inlined,
            boolean keepsZero,
            FieldReader reader,
            int wireType) {}

    private Field[] table() {
        Field[] made = fields;
        if (made == null) {
            int highest = descriptor.getFields().stream()
                    .mapToInt(FieldDescriptor::getNumber)
                    .max()
                    .orElse(0);
            made = new Field[highest + 1];
            for (FieldDescriptor field : descriptor.getFields()) {
                made[field.getNumber()] = field(field);
            }
            fields = made;
        }
        return made;
    }

    private static Field field(FieldDescriptor field) {
        boolean message = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
        return new Field(
                FieldNames.json(field),
                field.isRepeated() && !field.isMapField(),
                field.isMapField(),
                FieldNames.isInlined(field),
                field.isRepeated() || message || KeptZeros.has(field),
                field.isMapField() ? entry(field.getMessageType()) : reader(field),
                field.getLiteType().getWireType());
    }

    private static FieldReader reader(FieldDescriptor field) {
        if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE) {
            return Scalars.reader(field);
        }
        Descriptor type = field.getMessageType();
        return Scalars.message(type).orElseGet(() -> {
            MessageType nested = of(type);
            return (in, bounds) -> {
                JsonObject.Builder object = JsonObject.builder();
                int end = in.pushLimit(in.readRawVarint32());
                bounds.enter();
                nested.readInto(object, in, bounds);
                bounds.leave();
                in.popLimit(end);
                return object.build();
            };
        });
    }

    /** Reads an entry of a map as an object with one field. */
    private static FieldReader entry(Descriptor type) {
        FieldReader value = reader(type.findFieldByNumber(2));
        int wireType = type.findFieldByNumber(2).getLiteType().getWireType();
        JsonValue absent = Scalars.zero(type.findFieldByNumber(2));
        return (in, bounds) -> {
            int end = in.pushLimit(in.readRawVarint32());
            String key = "";
            JsonValue item = absent;
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                if (tag == (1 << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED)) {
                    key = in.readStringRequireUtf8();
                } else if (tag == (2 << 3 | wireType)) {
                    bounds.enter();
                    JsonValue read = value.read(in, bounds);
                    bounds.leave();
                    item = read == null ? absent : read;
                } else {
                    UnknownFields.skip(in, tag);
                }
            }
            in.popLimit(end);
            return JsonObject.builder().put(key, item).build();
        };
    }

    /** Reads a message, up to the end or limit of {@code in}, into {@code object}. */
    void readInto(JsonObject.Builder object, CodedInputStream in, Bounds bounds) throws IOException {
        Field[] known = table();
        Object[] values = new Object[known.length];
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            int number = WireFormat.getTagFieldNumber(tag);
            Field field = number < known.length ? known[number] : null;
            if (field == null) {
                UnknownFields.skip(in, tag);
            } else {
                values[number] = read(field, values[number], in, WireFormat.getTagWireType(tag), bounds);
            }
        }
        for (int i = 0; i < known.length; i++) {
            if (values[i] != null) {
                put(object, known[i], values[i]);
            }
        }
    }

    private static @Nullable Object read(
            Field field, @Nullable Object before, CodedInputStream in, int wireType, Bounds bounds) throws IOException {
        bounds.count();
        if (field.repeated) {
            List<JsonValue> items = items(before);
            if (wireType == WireFormat.WIRETYPE_LENGTH_DELIMITED && field.wireType != wireType) {
                int end = in.pushLimit(in.readRawVarint32());
                while (!in.isAtEnd()) {
                    bounds.count();
                    add(items, field.reader.read(in, bounds));
                }
                in.popLimit(end);
            } else {
                checkWireType(field, wireType);
                add(items, field.reader.read(in, bounds));
            }
            return items;
        }
        checkWireType(field, wireType);
        JsonValue value = field.reader.read(in, bounds);
        if (field.map) {
            JsonObject.Builder map = before == null ? JsonObject.builder() : (JsonObject.Builder) before;
            ((JsonObject) Objects.requireNonNull(value)).fields().forEach(map::put);
            return map;
        }
        return value == null || (!field.keepsZero && Scalars.isZero(value)) ? null : value;
    }

    @SuppressWarnings("unchecked")
    private static List<JsonValue> items(@Nullable Object before) {
        return before == null ? new ArrayList<>() : (List<JsonValue>) before;
    }

    private static void add(List<JsonValue> items, @Nullable JsonValue item) {
        if (item != null) {
            items.add(item);
        }
    }

    private static void checkWireType(Field field, int wireType) {
        if (wireType != field.wireType) {
            throw new ProtobufException("wrong wire type " + wireType + " for the field " + field.name);
        }
    }

    @SuppressWarnings("unchecked")
    private static void put(JsonObject.Builder object, Field field, Object value) {
        if (field.repeated) {
            object.put(field.name, new JsonArray((List<JsonValue>) value));
        } else if (field.map) {
            object.put(field.name, ((JsonObject.Builder) value).build());
        } else if (field.inlined) {
            ((JsonObject) value).fields().forEach(object::put);
        } else {
            object.put(field.name, (JsonValue) value);
        }
    }
}
