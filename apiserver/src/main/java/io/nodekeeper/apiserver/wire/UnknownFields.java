package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedInputStream;
import java.io.IOException;

/** Skips fields that the server does not know, as every protobuf reader does. */
final class UnknownFields {
    private UnknownFields() {}

    /** Skips the field that starts with {@code tag}. */
    static void skip(CodedInputStream in, int tag) throws IOException {
        if (!in.skipField(tag)) {
            throw new ProtobufException("not a protobuf message: end of a group without its start");
        }
    }
}
