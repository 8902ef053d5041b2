package io.nodekeeper.cri.docker;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/** The answer to a request. Immutable; the body is not copied. */
final class HttpReply {
    private final int status;
    private final Map<String, String> headers;
    private final byte[] body;

    /** The headers are by lower-case name; of a repeated header the last one. */
    HttpReply(int status, Map<String, String> headers, byte[] body) {
        this.status = status;
        this.headers = headers;
        this.body = body;
    }

    int status() {
        return status;
    }

    byte[] body() {
        return body;
    }

    /** The header with that lower-case name. */
    Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }

    /** The body as text. */
    String text() {
        return new String(body, StandardCharsets.UTF_8);
    }
}
