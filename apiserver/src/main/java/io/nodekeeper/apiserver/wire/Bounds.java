package io.nodekeeper.apiserver.wire;

import io.nodekeeper.api.json.Json;

/** What a message may still hold while it is read. Used once, by one thread. */
final class Bounds {
    /** Messages inside of messages; the JSON reader's bound is twice that, as an object of Kubernetes needs less than 30. */
    private static final int MAX_DEPTH = 100;

    private int depth = MAX_DEPTH;
    private int values = Json.MAX_VALUES;

    /** A message begins inside another. */
    void enter() {
        if (--depth < 0) {
            throw new ProtobufException("the message is nested deeper than " + MAX_DEPTH + " levels");
        }
    }

    /** It ends. */
    void leave() {
        depth++;
    }

    /** One more value, as a body in JSON may have. */
    void count() {
        if (--values < 0) {
            throw new ProtobufException("there are more than " + Json.MAX_VALUES + " values");
        }
    }
}
