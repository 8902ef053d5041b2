package io.nodekeeper.apiserver.wire;

/** Bytes that are not an object in Kubernetes' protobuf form; the message says why. */
public final class ProtobufException extends RuntimeException {
    ProtobufException(String message) {
        super(message);
    }
}
