package io.nodekeeper.apiserver.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks the table of user, verb, resource and name in {@code authorization-matrix.txt}: each cell is one request to a
 * server; writes are dry runs. A cell has the first letters of the allowed verbs.
 */
class AuthorizationMatrixTest {
    private static final String TABLE = "/authorization-matrix.txt";
    /** The verbs and their letters, in the order of a cell. */
    private static final Map<String, String> VERBS = new LinkedHashMap<>();

    static {
        List.of("get", "list", "watch", "create", "update", "patch", "delete")
                .forEach(verb -> VERBS.put(verb.substring(0, 1), verb));
        VERBS.put("D", "deletecollection");
    }

    private static final Map<String, User> USERS = new LinkedHashMap<>();

    static {
        USERS.put("anonymous", User.ANONYMOUS);
        USERS.put("nobody", TestServer.ALICE);
        USERS.put("node-n1", TestServer.N1);
        USERS.put("controller", TestServer.CONTROLLER);
        USERS.put(
                "sa-node-controller",
                User.authenticated(
                        "system:serviceaccount:kube-system:node-controller",
                        List.of("system:serviceaccounts", "system:serviceaccounts:kube-system")));
        USERS.put("monitoring", User.authenticated("prometheus", List.of("system:monitoring")));
        USERS.put("view", User.authenticated("viewer", List.of()));
        USERS.put("edit", User.authenticated("editor", List.of()));
        USERS.put("edit-default", User.authenticated("local-editor", List.of()));
        USERS.put("admin", User.authenticated("boss", List.of()));
        USERS.put("cluster-admin", User.authenticated("root", List.of()));
        USERS.put("masters", TestServer.ADMIN);
    }

    /** A row of the table: a resource with group and subresource, the namespace and name, and the verbs of each user. */
    private record Row(String resource, String place, List<String> cells) {
        String plural() {
            return path().split("/")[0];
        }

        /** The resource and its subresource. */
        String path() {
            return resource.contains(":") ? resource.substring(resource.indexOf(':') + 1) : resource;
        }

        String subresource() {
            return path().contains("/") ? path().substring(path().indexOf('/') + 1) : "";
        }

        String group() {
            return resource.contains(":") ? resource.substring(0, resource.indexOf(':')) : "";
        }

        String namespace() {
            return place.contains("/") ? place.substring(0, place.indexOf('/')) : "";
        }

        String name() {
            return place.substring(place.indexOf('/') + 1);
        }

        String root() {
            return group().isEmpty() ? "/api/v1" : "/apis/" + group() + "/" + version();
        }

        String version() {
            return group().equals("metrics.k8s.io") ? "v1beta1" : "v1";
        }

        String collection() {
            return root() + (namespace().isEmpty() ? "" : "/namespaces/" + namespace()) + "/" + plural();
        }

        boolean isPath() {
            return resource.equals("path");
        }

        @Override
        public String toString() {
            return resource + " " + place;
        }
    }

    private static TestServer server;
    private static List<Row> rows;

    @BeforeAll
    static void prepare() throws Exception {
        rows = read();
        server = new TestServer(TestServer.serviceAccountAuthenticator());
        server.server.start(Duration.ofHours(1));
        server.settle();
        world();
    }

    private static List<Row> read() throws IOException {
        try (InputStream in = AuthorizationMatrixTest.class.getResourceAsStream(TABLE)) {
            List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
            List<String> head = List.of(lines.getFirst().strip().split("\\s+"));
            assertThat(head.subList(2, head.size())).containsExactlyElementsOf(USERS.keySet());
            return lines.stream()
                    .skip(1)
                    .map(line -> List.of(line.strip().split("\\s+")))
                    .map(parts -> new Row(parts.get(0), parts.get(1), parts.subList(2, parts.size())))
                    .toList();
        }
    }

    /** Two nodes with one pod each, which use one secret, configmap, claim and service account each; and users with roles. */
    private static void world() {
        for (String n : List.of("1", "2")) {
            server.node("n" + n);
            post("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "n" + n, "");
            post("/apis/storage.k8s.io/v1/csinodes", "n" + n, ",\"spec\":{\"drivers\":[]}");
            post(
                    "/apis/storage.k8s.io/v1/volumeattachments",
                    "va" + n,
                    ",\"spec\":{\"attacher\":\"x\",\"nodeName\":\"n" + n
                            + "\",\"source\":{\"persistentVolumeName\":\"pv\"}}");
            post(
                    "/api/v1/namespaces/default/persistentvolumeclaims",
                    "d" + n,
                    ",\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}");
            post(
                    "/api/v1/persistentvolumes",
                    "v" + n,
                    ",\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"capacity\":{\"storage\":\"1Gi\"},\"claimRef\":{\"namespace\":\"default\",\"name\":\"d"
                            + n
                            + "\"},\"csi\":{\"driver\":\"x\",\"volumeHandle\":\"h\",\"nodeStageSecretRef\":{\"namespace\":\"kube-system\",\"name\":\"t"
                            + n + "\"}}}");
            post("/api/v1/namespaces/kube-system/secrets", "t" + n, "");
            for (String resource : List.of("secrets", "configmaps", "serviceaccounts")) {
                post("/api/v1/namespaces/default/" + resource, resource.charAt(0) + n, "");
            }
            post(
                    "/api/v1/namespaces/default/pods",
                    "p" + n,
                    ",\"spec\":{\"nodeName\":\"n" + n + "\",\"serviceAccountName\":\"s" + n
                            + "\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"volumes\":[{\"name\":\"s\",\"secret\":{\"secretName\":\"s"
                            + n + "\"}},{\"name\":\"c\",\"configMap\":{\"name\":\"c" + n
                            + "\"}},{\"name\":\"d\",\"persistentVolumeClaim\":{\"claimName\":\"d" + n + "\"}}]}");
        }
        post(
                "/api/v1/namespaces/kube-system/pods",
                "p2",
                ",\"spec\":{\"nodeName\":\"n2\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}");
        String rbac = "/apis/rbac.authorization.k8s.io/v1/";
        bind(rbac + "clusterrolebindings", "viewer", "view");
        bind(rbac + "clusterrolebindings", "editor", "edit");
        bind(rbac + "clusterrolebindings", "boss", "admin");
        bind(rbac + "clusterrolebindings", "root", "cluster-admin");
        bind(rbac + "namespaces/default/rolebindings", "local-editor", "edit");
    }

    private static void bind(String collection, String user, String role) {
        post(
                collection,
                user,
                ",\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"" + role
                        + "\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"" + user + "\"}]");
    }

    private static void post(String collection, String name, String rest) {
        Answer answer = server.post(collection, "{\"metadata\":{\"name\":\"" + name + "\"}" + rest + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    @Test
    @Tag("W79")
    @Tag("W80")
    @Tag("W81")
    void eachCellOfTheMatrixIsTheServersDecision() {
        List<String> wanted = new ArrayList<>();
        List<String> found = new ArrayList<>();
        for (Row row : rows) {
            wanted.add(row + " " + String.join(" ", row.cells));
            List<String> cells = new ArrayList<>();
            for (User user : USERS.values()) {
                StringBuilder cell = new StringBuilder();
                VERBS.forEach((letter, verb) ->
                        cell.append(!makesSense(row, verb) ? "-" : isAllowed(user, row, verb) ? letter : "."));
                cells.add(cell.toString());
            }
            found.add(row + " " + String.join(" ", cells));
        }
        assertThat(String.join("\n", found)).isEqualTo(String.join("\n", wanted));
    }

    @Test
    void eachServedResourceIsInTheMatrix() {
        Set<String> listed = new LinkedHashSet<>();
        rows.forEach(row -> listed.add(row.resource));
        Set<String> served = new LinkedHashSet<>(Set.of("path"));
        for (Resource resource : Resources.ALL) {
            String group = resource.type().group();
            String name = (group.isEmpty() ? "" : group + ":") + resource.type().plural();
            served.add(name);
            resource.subresources().forEach(below -> served.add(name + "/" + below.name()));
        }
        assertThat(listed).containsExactlyInAnyOrderElementsOf(served);
    }

    private static boolean makesSense(Row row, String verb) {
        if (row.isPath()) {
            return verb.equals("get");
        }
        Resource resource = Resources.find(
                        new RequestTarget(row.group(), row.version(), row.plural(), row.namespace(), row.name(), ""))
                .orElseThrow();
        List<String> verbs = row.subresource().isEmpty()
                ? resource.verbs()
                : resource.subresource(row.subresource())
                        .map(Subresource::verbs)
                        .orElseThrow();
        // Requests for all namespaces can only list and watch.
        boolean everywhere = resource.type().namespaced() && row.namespace().isEmpty();
        return verbs.contains(verb) && (!everywhere || verb.equals("list") || verb.equals("watch"));
    }

    /** Whether a request is authorized: it succeeds, or fails for another reason. */
    private static boolean isAllowed(User user, Row row, String verb) {
        String object =
                row.collection() + "/" + row.name() + (row.subresource().isEmpty() ? "" : "/" + row.subresource());
        boolean single = !row.subresource().isEmpty();
        String body = body(row);
        var answer = switch (verb) {
            case "get" -> send(user, "GET", row.isPath() ? row.place : object, "", "");
            case "list" -> send(user, "GET", row.collection(), "", "");
            case "watch" -> send(user, "GET", row.collection() + "?watch=true", "", "");
            case "create" -> send(user, "POST", (single ? object : row.collection()) + "?dryRun=All", "", body);
            case "update" -> send(user, "PUT", object + "?dryRun=All", "", changed(row));
            case "patch" ->
                send(
                        user,
                        "PATCH",
                        object + "?dryRun=All",
                        TestServer.MERGE,
                        "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}");
            case "delete" -> send(user, "DELETE", object + "?dryRun=All", "", "");
            default -> send(user, "DELETE", row.collection() + "?dryRun=All", "", "");
        };
        int status = answer.status();
        assertThat(status)
                .as(row + " " + verb)
                .isNotEqualTo(405)
                .isNotEqualTo(401)
                .isLessThan(500);
        return status != 403;
    }

    private static ApiResponse send(User user, String method, String uri, String type, String body) {
        var response = server.send(user, method, uri, type.isEmpty() ? Map.of() : Map.of("content-type", type), body);
        server.settle();
        return response.join();
    }

    /** The stored object with one more annotation; a minimal object of that name if there is none. */
    private static String changed(Row row) {
        Answer now = server.get(row.collection() + "/" + row.name());
        JsonObject object = now.status() == 200 ? now.json() : Json.parseObject(body(row));
        return object.update(
                        "metadata",
                        metadata -> metadata.update("annotations", annotations -> annotations.with("a", "b")))
                .toString();
    }

    /** The UID of an object; any other one if there is none. */
    private static String uid(String uri) {
        Answer object = server.get(uri);
        return object.status() == 200 ? object.json().object("metadata").text("uid") : "x";
    }

    /** The body of a creation: a mirror pod, a token for a pod, a binding of a harmless role. */
    private static String body(Row row) {
        String name = "\"name\":\"" + row.name() + "\"";
        String number = row.name().replaceAll("\\D", "");
        return switch (row.path()) {
            case "pods" ->
                "{\"metadata\":{" + name
                        + ",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"},\"ownerReferences\":[{\"apiVersion\":\"v1\","
                        + "\"kind\":\"Node\",\"name\":\"n" + number + "\",\"uid\":\"" + uid("/api/v1/nodes/n" + number)
                        + "\",\"controller\":true}]},\"spec\":{\"nodeName\":\"n" + number
                        + "\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
            case "serviceaccounts/token" ->
                "{\"spec\":{\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"p" + number
                        + "\",\"uid\":\"" + uid("/api/v1/namespaces/default/pods/p" + number)
                        + "\"}}}";
            case "pods/binding", "bindings" ->
                "{\"metadata\":{" + name + "},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
            case "rolebindings", "clusterrolebindings" ->
                "{\"metadata\":{" + name
                        + "},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"view\"}}";
            case "tokenreviews" -> "{\"spec\":{\"token\":\"t\"}}";
            case "selfsubjectreviews" -> "{}";
            case "subjectaccessreviews",
                    "selfsubjectaccessreviews",
                    "localsubjectaccessreviews",
                    "selfsubjectrulesreviews" -> "{\"spec\":{}}";
            default -> "{\"metadata\":{" + name + "}}";
        };
    }
}
