package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedInputStream;
import java.io.IOException;

/** Skips fields that the server does not know, as every protobuf reader does. */
final class UnknownFields {
    private UnknownFields() {}

    /** Reads past the field that {@code tag} begins. */
    static void skip(CodedInputStream in, int tag) throws IOException {
        if (!in.skipField(tag)) {
            throw new ProtobufException("not a protobuf message: a group ends that did not begin");
        }
    }
}
