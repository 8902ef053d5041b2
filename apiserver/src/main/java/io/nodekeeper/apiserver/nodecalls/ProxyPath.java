package io.nodekeeper.apiserver.nodecalls;

import io.nodekeeper.api.ApiException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The path and query that a request to a node's proxy asks the node for. They stay encoded as they came. Paths that two
 * readers could understand differently are refused, because the request was authorized for one of them. Pure.
 */
final class ProxyPath {
    private static final int BEFORE = 5;

    private ProxyPath() {}

    /**
     * The part of {@code uri} behind {@code /api/v1/nodes/NAME/proxy}, with its query.
     *
     * @throws ApiException if the path is not of that form, or has empty parts, dots or encoded separators
     */
    static String of(String uri, String name) {
        if (!uri.startsWith("/") || uri.chars().anyMatch(c -> c <= ' ' || c == 0x7f)) {
            throw refused(uri);
        }
        int question = uri.indexOf('?');
        String path = question < 0 ? uri : uri.substring(0, question);
        String query = question < 0 ? "" : uri.substring(question);
        List<String> parts = List.of(path.substring(1).split("/", -1));
        if (parts.size() < BEFORE
                || !parts.subList(0, 3).equals(List.of("api", "v1", "nodes"))
                || !decoded(parts.get(3), uri).equals(name)
                || !parts.get(4).equals("proxy")) {
            throw refused(uri);
        }
        List<String> below = parts.subList(BEFORE, parts.size());
        for (int i = 0; i < below.size(); i++) {
            boolean last = i == below.size() - 1;
            check(decoded(below.get(i), uri), last, uri);
        }
        return "/" + String.join("/", below) + query;
    }

    private static void check(String part, boolean last, String uri) {
        boolean isEmpty = part.isEmpty() && !last;
        boolean isUnclear = part.equals(".")
                || part.equals("..")
                || part.chars().anyMatch(c -> c == '/' || c == '\\' || c < ' ' || c == 0x7f || c == '#');
        if (isEmpty || isUnclear) {
            throw refused(uri);
        }
    }

    private static String decoded(String part, String uri) {
        try {
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw refused(uri);
        }
    }

    private static ApiException refused(String uri) {
        return ApiException.badRequest("the path of a node's proxy must be /api/v1/nodes/NAME/proxy/PATH, without empty"
                + " parts, dots and encoded separators, got \"" + uri + "\"");
    }
}
