package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.WireFormat;
import io.kubernetes.client.proto.Runtime;
import io.nodekeeper.api.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;

/**
 * A list in Kubernetes' protobuf encoding in parts, for lists that are too large for one buffer: the head, then each
 * item, then the tail. Together they are the bytes of {@link ProtobufWriter#object}, up to the order of fields.
 * Immutable.
 */
public final class ProtobufList {
    private final String apiVersion;
    private final String kind;
    private final FieldDescriptor metadata;
    private final FieldDescriptor items;

    private ProtobufList(String apiVersion, String kind, Descriptor type) {
        this.apiVersion = apiVersion;
        this.kind = kind;
        metadata = type.findFieldByName("metadata");
        items = type.findFieldByName("items");
    }

    /** An encoder of lists of {@code kind}, which ends in List; empty if Kubernetes has no message for it. */
    public static Optional<ProtobufList> of(String apiVersion, String kind) {
        return ProtobufWriter.descriptor(apiVersion, kind).map(type -> new ProtobufList(apiVersion, kind, type));
    }

    /** All bytes before the items; {@code length} is the length of all items together. */
    public byte[] head(JsonObject listMetadata, long length) {
        byte[] first = field(metadata, listMetadata);
        Message typeMeta = Runtime.TypeMeta.newBuilder()
                .setApiVersion(apiVersion)
                .setKind(kind)
                .build();
        return written(out -> {
            out.writeRawBytes(ProtobufWriter.MAGIC);
            out.writeMessage(Runtime.Unknown.TYPEMETA_FIELD_NUMBER, typeMeta);
            out.writeTag(Runtime.Unknown.RAW_FIELD_NUMBER, WireFormat.WIRETYPE_LENGTH_DELIMITED);
            out.writeUInt64NoTag(first.length + length);
            out.writeRawBytes(first);
        });
    }

    /** Encodes one item. */
    public byte[] item(JsonObject object) {
        return field(items, object);
    }

    /** All bytes after the items. */
    public byte[] tail() {
        return written(out -> {
            out.writeString(Runtime.Unknown.CONTENTENCODING_FIELD_NUMBER, "");
            out.writeString(Runtime.Unknown.CONTENTTYPE_FIELD_NUMBER, "");
        });
    }

    private static byte[] field(FieldDescriptor field, JsonObject object) {
        Message message = ProtobufWriter.message(field.getMessageType(), object);
        return written(out -> out.writeMessage(field.getNumber(), message));
    }

    /** Writes to a stream. */
    private interface Writing {
        void to(CodedOutputStream out) throws IOException;
    }

    private static byte[] written(Writing writing) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            writing.to(out);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
