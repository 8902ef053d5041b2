package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedInputStream;
import io.nodekeeper.api.json.JsonValue;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads one value of a protobuf field as JSON. Implementations are stateless. */
interface FieldReader {
    /** The value, or null for one that JSON leaves out, as a time that is not set. */
    @Nullable
    JsonValue read(CodedInputStream in, Bounds bounds) throws IOException;
}
