package io.nodekeeper.apiserver.schema;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.api.schema.Schemas;
import io.nodekeeper.apiserver.wire.FieldNames;
import io.nodekeeper.apiserver.wire.MessageTypes;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The schemas of kinds. Fields and types come from Kubernetes' message types, the merge keys of lists from
 * {@link Schemas}, objects that are one value from {@link AtomicTypes}. The fields of a message are created at its
 * first use, so unused kinds cost nothing. Thread-safe.
 */
public final class KindSchemas {
    private KindSchemas() {}

    /** The schema of the objects of {@code type}. */
    public static Schema of(ResourceType type) {
        return of(type.apiVersion(), type.kind());
    }

    /**
     * The schema of {@code kind}.
     *
     * @throws IllegalArgumentException at the first use, if Kubernetes has no message for the kind
     */
    public static Schema of(String apiVersion, String kind) {
        return Schema.struct(kind, () -> {
            Descriptor message = MessageTypes.descriptor(apiVersion, kind)
                    .orElseThrow(() -> new IllegalArgumentException("no message type for " + apiVersion + " " + kind));
            Map<String, Schema> fields = new LinkedHashMap<>();
            fields.put("apiVersion", Schema.Scalar.STRING);
            fields.put("kind", Schema.Scalar.STRING);
            addFields(fields, message, Schemas.of(apiVersion, kind));
            return fields;
        });
    }

    private static void addFields(Map<String, Schema> fields, Descriptor message, Schema merge) {
        for (FieldDescriptor field : message.getFields()) {
            if (FieldNames.isInlined(field)) {
                addFields(fields, field.getMessageType(), merge);
            } else {
                String name = FieldNames.json(field);
                fields.put(name, field(field, merge.field(name).orElse(Schema.Scalar.ANY)));
            }
        }
    }

    private static Schema field(FieldDescriptor field, Schema merge) {
        if (field.isMapField()) {
            Schema value = value(field.getMessageType().findFieldByNumber(2), Schema.Scalar.ANY);
            return AtomicTypes.isAtomic(field) ? Schema.atomicMap(value) : Schema.map(value);
        }
        if (!field.isRepeated()) {
            return value(field, merge);
        }
        return merge instanceof Schema.ListOf list
                ? new Schema.ListOf(value(field, list.item()), list.mergeKey(), list.set())
                : Schema.list(value(field, Schema.Scalar.ANY));
    }

    private static Schema value(FieldDescriptor field, Schema merge) {
        return switch (field.getType()) {
            case STRING -> Schema.Scalar.STRING;
            case BOOL -> Schema.Scalar.BOOLEAN;
            case INT32 -> Schema.Scalar.INT32;
            case INT64 -> Schema.Scalar.INT64;
            case DOUBLE -> Schema.Scalar.DOUBLE;
            case BYTES -> Schema.Scalar.BYTES;
            case MESSAGE -> message(field, merge);
            default -> throw new IllegalArgumentException(field.getFullName() + ": no rule for " + field.getType());
        };
    }

    /** The schema of a message, which may be a scalar in JSON. */
    private static Schema message(FieldDescriptor field, Schema merge) {
        Descriptor message = field.getMessageType();
        return switch (message.getName()) {
            case "Time", "Timestamp" -> Schema.Scalar.TIME;
            case "MicroTime" -> Schema.Scalar.MICRO_TIME;
            case "Quantity" -> Schema.Scalar.QUANTITY;
            case "IntOrString" -> Schema.Scalar.INT_OR_STRING;
            case "FieldsV1", "RawExtension" -> Schema.Scalar.ANY;
            case "ExtraValue" -> Schema.list(Schema.Scalar.STRING);
            default -> {
                Schema.Fields struct = Schema.struct(message.getName(), () -> {
                    Map<String, Schema> fields = new LinkedHashMap<>();
                    addFields(fields, message, merge);
                    return fields;
                });
                Schema.Fields whole = AtomicTypes.isAtomic(field) ? struct.asAtomic() : struct;
                yield merge instanceof Schema.Fields rule ? whole.with(rule.strategy()) : whole;
            }
        };
    }
}
