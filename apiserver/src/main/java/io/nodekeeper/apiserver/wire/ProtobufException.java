package io.nodekeeper.apiserver.wire;

/** The bytes are not an object in Kubernetes' protobuf encoding; the message says why. */
public final class ProtobufException extends RuntimeException {
    ProtobufException(String message) {
        super(message);
    }
}
