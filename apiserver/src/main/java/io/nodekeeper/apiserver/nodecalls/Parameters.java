package io.nodekeeper.apiserver.nodecalls;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;

/** The path and query of a request to a node. Used by one thread. */
final class Parameters {
    private final String path;
    private final StringJoiner query = new StringJoiner("&");

    /** A path of these parts. */
    Parameters(String... parts) {
        StringBuilder encoded = new StringBuilder();
        for (String part : parts) {
            encoded.append('/').append(encoded(part));
        }
        path = encoded.toString();
    }

    /** Adds a parameter. */
    Parameters put(String name, String value) {
        query.add(name + "=" + encoded(value));
        return this;
    }

    /** Adds a parameter if it is set. */
    Parameters putIf(boolean set, String name, String value) {
        return set ? put(name, value) : this;
    }

    String target() {
        return query.length() == 0 ? path : path + "?" + query;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
