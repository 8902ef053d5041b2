package io.nodekeeper.client;

import java.io.IOException;

/** The body of a response is longer than the limit of this client. */
final class LongReplyException extends IOException {
    /** @param limit the most bytes that a body may have */
    LongReplyException(int limit) {
        super("the response is longer than " + limit + " bytes");
    }
}
