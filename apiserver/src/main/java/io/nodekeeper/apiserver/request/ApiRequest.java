package io.nodekeeper.apiserver.request;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An HTTP request to the API.
 *
 * @param method the HTTP method
 * @param path the decoded path
 * @param query the decoded query parameters
 * @param headers the headers by lower-case name; several values of a header are joined by commas, those of
 *     impersonation headers by line feeds
 * @param body the body; empty if there was none
 * @param certificate the client certificate, if it names a user
 * @param uri path and query as received
 * @param source the client's address; empty if there is none
 */
public record ApiRequest(
        String method,
        String path,
        Map<String, List<String>> query,
        Map<String, String> headers,
        byte[] body,
        Optional<ClientCertificate> certificate,
        String uri,
        String source) {

    /** A request of {@code user} that did not come over a network. */
    public ApiRequest(
            String method,
            String path,
            Map<String, List<String>> query,
            Map<String, String> headers,
            byte[] body,
            Optional<User> user) {
        this(method, path, query, headers, body, user.map(ClientCertificate::of), path, "");
    }

    /** The first value of a query parameter; empty if it is absent. */
    public String parameter(String name) {
        List<String> values = query.get(name);
        return values == null || values.isEmpty() ? "" : values.getFirst();
    }

    /** Whether a query parameter is there, with or without a value. */
    public boolean hasParameter(String name) {
        return query.containsKey(name);
    }

    /**
     * Whether a query parameter is true: it is there, and its value is neither {@code 0} nor {@code false}. As in Kubernetes, a
     * parameter without a value is true.
     */
    public boolean flag(String name) {
        String value = parameter(name);
        return hasParameter(name) && !value.equals("0") && !value.equalsIgnoreCase("false");
    }

    /** The same request with that value of a query parameter. */
    public ApiRequest withParameter(String name, String value) {
        Map<String, List<String>> changed = new HashMap<>(query);
        changed.put(name, List.of(value));
        return new ApiRequest(method, path, changed, headers, body, certificate, uri, source);
    }

    /** The same request without its body, to keep it for longer. */
    public ApiRequest withoutBody() {
        return new ApiRequest(method, path, query, headers, new byte[0], certificate, uri, source);
    }

    /** A header; empty if it is absent. */
    public String header(String name) {
        return headers.getOrDefault(name, "");
    }

    /** The media type of the body, without parameters. */
    public String contentType() {
        String type = header("content-type");
        int end = type.indexOf(';');
        return (end < 0 ? type : type.substring(0, end)).strip();
    }
}
