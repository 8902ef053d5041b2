package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;

/**
 * Reads objects in Kubernetes' protobuf encoding, as clients send them and as a kube-apiserver stores them: the four
 * bytes {@code k8s\0}, then a {@code runtime.Unknown} with apiVersion, kind and message. Thread-safe.
 */
public final class Protobuf {
    /** The media type. */
    public static final String MEDIA_TYPE = "application/vnd.kubernetes.protobuf";

    private static final byte[] MAGIC = {'k', '8', 's', 0};

    private Protobuf() {}

    /** Loads the classes of the kinds that nodes write, so that the first request does not wait for them. */
    public static void load() {
        MessageTypes.find("coordination.k8s.io/v1", "Lease");
        MessageTypes.find("v1", "Node");
    }

    /** Whether {@code bytes} start with the prefix of this encoding. */
    public static boolean begins(byte[] bytes) {
        return bytes.length >= MAGIC.length
                && bytes[0] == MAGIC[0]
                && bytes[1] == MAGIC[1]
                && bytes[2] == MAGIC[2]
                && bytes[3] == MAGIC[3];
    }

    /**
     * Decodes {@code bytes} to the object's JSON form, with kind and apiVersion first.
     *
     * @throws ProtobufException if the bytes are malformed, nested too deeply, or of an unknown kind
     */
    public static JsonObject decode(byte[] bytes) {
        if (!begins(bytes)) {
            throw new ProtobufException(
                    "provided data does not appear to be a protobuf message, expected prefix k8s\\0");
        }
        try {
            return unwrap(bytes);
        } catch (IOException | JsonException e) {
            throw new ProtobufException("not a protobuf message of Kubernetes: " + e.getMessage());
        }
    }

    /** Reads {@code runtime.Unknown}. Fields: 1 the type, 2 the message, 3 and 4 its encoding and media type. */
    private static JsonObject unwrap(byte[] bytes) throws IOException {
        CodedInputStream in = CodedInputStream.newInstance(bytes, MAGIC.length, bytes.length - MAGIC.length);
        String apiVersion = "";
        String kind = "";
        String encoding = "";
        int from = bytes.length;
        int length = 0;
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            boolean known = WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
            switch (known ? WireFormat.getTagFieldNumber(tag) : 0) {
                case 1 -> {
                    int end = in.pushLimit(in.readRawVarint32());
                    for (int inner = in.readTag(); inner != 0; inner = in.readTag()) {
                        switch (inner) {
                            case 1 << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED ->
                                apiVersion = in.readStringRequireUtf8();
                            case 2 << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED -> kind = in.readStringRequireUtf8();
                            default -> UnknownFields.skip(in, inner);
                        }
                    }
                    in.popLimit(end);
                }
                case 2 -> {
                    length = in.readRawVarint32();
                    from = MAGIC.length + in.getTotalBytesRead();
                    in.skipRawBytes(length);
                }
                case 3, 4 -> {
                    String given = in.readStringRequireUtf8();
                    encoding = given.isEmpty() ? encoding : given;
                }
                default -> UnknownFields.skip(in, tag);
            }
        }
        if (!encoding.isEmpty() && !encoding.equals(MEDIA_TYPE)) {
            throw new ProtobufException("the object in the protobuf envelope is encoded as " + encoding);
        }
        if (kind.isEmpty() || apiVersion.isEmpty()) {
            throw new ProtobufException("the protobuf envelope names no " + (kind.isEmpty() ? "kind" : "apiVersion"));
        }
        JsonObject.Builder object = JsonObject.builder().put("kind", kind).put("apiVersion", apiVersion);
        MessageTypes.find(apiVersion, kind)
                .readInto(object, CodedInputStream.newInstance(bytes, from, length), new Bounds());
        return object.build();
    }
}
