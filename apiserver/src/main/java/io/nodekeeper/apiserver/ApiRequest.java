package io.nodekeeper.apiserver;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request as it came over the wire.
 *
 * @param method the HTTP method
 * @param path the decoded path
 * @param query the decoded query parameters
 * @param headers the headers by lower-case name
 * @param body the body; empty if there was none
 * @param certificate the user whom a verified client certificate names
 */
public record ApiRequest(
        String method,
        String path,
        Map<String, List<String>> query,
        Map<String, String> headers,
        byte[] body,
        Optional<User> certificate) {

    /** The first value of a query parameter; empty if it is absent. */
    String parameter(String name) {
        List<String> values = query.get(name);
        return values == null || values.isEmpty() ? "" : values.getFirst();
    }

    /** A header; empty if it is absent. */
    String header(String name) {
        return headers.getOrDefault(name, "");
    }

    /** The media type of the body, without parameters. */
    String contentType() {
        String type = header("content-type");
        int end = type.indexOf(';');
        return (end < 0 ? type : type.substring(0, end)).strip();
    }
}
