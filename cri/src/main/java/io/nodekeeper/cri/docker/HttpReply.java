package io.nodekeeper.cri.docker;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * The answer to a request. Immutable; the body is not copied.
 *
 * @param headers by lower-case name; of a repeated header the last
 */
record HttpReply(int status, Map<String, String> headers, byte[] body) {

    /** The header with that lower-case name. */
    Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }

    /** The body as text. */
    String text() {
        return new String(body, StandardCharsets.UTF_8);
    }
}
