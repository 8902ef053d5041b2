package io.nodekeeper.apiserver.catalogue;

import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The parsed target of a request, for authorization and metrics.
 *
 * @param verb Kubernetes' verb: get, list, watch, create, update, patch, delete, deletecollection; for other paths the
 *     method in lower case
 * @param path the path
 * @param resource the target of a path to objects; empty for other paths
 * @param known the catalogue's entry for it; empty if the server has no such resource
 */
public record RequestInfo(String verb, String path, Optional<RequestTarget> resource, Optional<Resource> known) {

    private static final String WATCH = "watch";
    private static final String PROXY = "proxy";

    public static RequestInfo of(String method, String path, boolean watch) {
        List<String> parts = parts(path);
        int root = parts.isEmpty()
                ? -1
                : switch (parts.getFirst()) {
                    case "api" -> 2;
                    case "apis" -> 3;
                    default -> -1;
                };
        if (root < 0 || parts.size() <= root) {
            return new RequestInfo(method.toLowerCase(Locale.ROOT), path, Optional.empty(), Optional.empty());
        }
        String group = root == 3 ? parts.get(1) : "";
        String version = parts.get(root - 1);
        List<String> rest = parts.subList(root, parts.size());
        // The older form of a watch: the path has "watch" before the resource, for a collection or a single object.
        boolean prefixed = rest.getFirst().equals(WATCH) && rest.size() > 1;
        if (prefixed) {
            rest = rest.subList(1, rest.size());
        }
        String namespace = "";
        if (rest.getFirst().equals("namespaces")
                && rest.size() > 2
                && !rest.get(2).equals("status")
                && !rest.get(2).equals("finalize")) {
            namespace = rest.get(1);
            rest = rest.subList(2, rest.size());
        }
        RequestTarget target = new RequestTarget(
                group,
                version,
                rest.getFirst(),
                namespace,
                rest.size() > 1 ? rest.get(1) : "",
                rest.size() > 2 ? subresource(rest) : "");
        return new RequestInfo(
                prefixed ? WATCH : verb(method, target.name().isEmpty(), watch),
                path,
                Optional.of(target),
                Resources.find(target));
    }

    /** The rest of the path; for a node's proxy only its name, because what follows is a path of the node's API. */
    private static String subresource(List<String> rest) {
        return rest.getFirst().equals("nodes") && rest.get(2).equals(PROXY)
                ? PROXY
                : String.join("/", rest.subList(2, rest.size()));
    }

    /** The parts of the path between slashes, without empty ones. */
    private static List<String> parts(String path) {
        List<String> parts = new ArrayList<>(8);
        int start = 0;
        while (start < path.length()) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            if (end > start) {
                parts.add(path.substring(start, end));
            }
            start = end + 1;
        }
        return parts;
    }

    private static String verb(String method, boolean collection, boolean watch) {
        return switch (method) {
            case "GET", "HEAD" -> !collection ? "get" : watch ? "watch" : "list";
            case "POST" -> "create";
            case "PUT" -> "update";
            case "PATCH" -> "patch";
            case "DELETE" -> collection ? "deletecollection" : "delete";
            default -> method.toLowerCase(Locale.ROOT);
        };
    }
}
