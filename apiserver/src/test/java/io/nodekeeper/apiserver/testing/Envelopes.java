package io.nodekeeper.apiserver.testing;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.Runtime;

/** Protobuf bodies as Kubernetes' clients send them, built with Kubernetes' own message classes. */
public final class Envelopes {
    private Envelopes() {}

    /** Wraps {@code message} in an envelope. */
    public static byte[] of(String apiVersion, String kind, Message message) {
        return of(apiVersion, kind, message.toByteString());
    }

    /** Reads the Status in an envelope. */
    public static Meta.Status status(byte[] envelope) {
        try {
            ByteString unknown = ByteString.copyFrom(envelope, 4, envelope.length - 4);
            return Meta.Status.parseFrom(Runtime.Unknown.parseFrom(unknown).getRaw());
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    /** Wraps bytes in an envelope. */
    public static byte[] of(String apiVersion, String kind, ByteString message) {
        ByteString unknown = Runtime.Unknown.newBuilder()
                .setTypeMeta(
                        Runtime.TypeMeta.newBuilder().setApiVersion(apiVersion).setKind(kind))
                .setRaw(message)
                .setContentEncoding("")
                .setContentType("")
                .build()
                .toByteString();
        return ByteString.copyFromUtf8("k8s\0").concat(unknown).toByteArray();
    }
}
