package io.nodekeeper.client.access;

import io.nodekeeper.api.json.JsonObject;

/** What a caller must be allowed to get in order to read a page. Immutable. */
public sealed interface PageRight {

    /** The page's own path, a {@code nonResourceURL}. */
    record Path(String path) implements PageRight {
        @Override
        public JsonObject attributes(JsonObject.Builder spec) {
            return spec.put(
                            "nonResourceAttributes",
                            JsonObject.builder()
                                    .put("path", path)
                                    .put("verb", "get")
                                    .build())
                    .build();
        }

        @Override
        public String toString() {
            return "path \"" + path + "\"";
        }
    }

    /** A subresource of a node, as a kubelet requires for the page: {@code stats} or {@code metrics}. */
    record NodePart(String node, String subresource) implements PageRight {
        @Override
        public JsonObject attributes(JsonObject.Builder spec) {
            return spec.put(
                            "resourceAttributes",
                            JsonObject.builder()
                                    .put("verb", "get")
                                    .put("version", "v1")
                                    .put("resource", "nodes")
                                    .put("subresource", subresource)
                                    .put("name", node)
                                    .build())
                    .build();
        }

        @Override
        public String toString() {
            return "resource \"nodes/" + subresource + "\" of node \"" + node + "\"";
        }
    }

    /**
     * What a request to a node's API requires, as a kubelet does: {@code verb} on a subresource of the node, such as
     * {@code proxy}.
     */
    record NodeRequest(String node, String subresource, String verb) implements PageRight {
        @Override
        public JsonObject attributes(JsonObject.Builder spec) {
            return spec.put(
                            "resourceAttributes",
                            JsonObject.builder()
                                    .put("verb", verb)
                                    .put("version", "v1")
                                    .put("resource", "nodes")
                                    .put("subresource", subresource)
                                    .put("name", node)
                                    .build())
                    .build();
        }

        @Override
        public String denied(String user) {
            return "Forbidden (user=" + user + ", verb=" + verb + ", resource=nodes, subresource(s)=[" + subresource
                    + "])";
        }

        @Override
        public String toString() {
            return "resource \"nodes/" + subresource + "\" of node \"" + node + "\"";
        }
    }

    /** The text for {@code user}, who lacks this right. */
    default String denied(String user) {
        return "User \"" + user + "\" cannot get " + this;
    }

    /** The spec of a SubjectAccessReview: {@code spec}, which has the user, with the attributes of this right. */
    JsonObject attributes(JsonObject.Builder spec);
}
