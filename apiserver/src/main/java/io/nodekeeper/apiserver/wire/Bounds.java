package io.nodekeeper.apiserver.wire;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonValue;

/** Limits the depth and the number of values of one message. Not thread-safe; for one use. */
final class Bounds {
    /** Nested messages. Kubernetes' objects have fewer than 30 levels; the JSON reader allows twice this limit. */
    private static final int MAX_DEPTH = 100;

    private int depth = MAX_DEPTH;
    private int values = Json.MAX_VALUES;

    /** Counts the start of a nested message. */
    void enter() {
        if (--depth < 0) {
            throw new ProtobufException("the message is nested deeper than " + MAX_DEPTH + " levels");
        }
    }

    /** Counts the end of a nested message. */
    void leave() {
        depth++;
    }

    /** Counts a value; the limit is the same as for JSON. */
    void count() {
        count(1);
    }

    /** Counts {@code value}, which was JSON within the message, with all values in it. */
    void count(JsonValue value) {
        count(Json.values(value));
    }

    private void count(int more) {
        values -= more;
        if (values < 0) {
            throw new ProtobufException("the message has more than " + Json.MAX_VALUES + " values");
        }
    }
}
