package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedInputStream;
import io.nodekeeper.api.json.JsonValue;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads one value of a protobuf field as JSON. Implementations have no state. */
interface FieldReader {
    /** The value; null if JSON omits it, such as an unset time. */
    @Nullable
    JsonValue read(CodedInputStream in, Bounds bounds) throws IOException;
}
