package io.nodekeeper.apiserver;

import io.nodekeeper.apiserver.testing.TestServer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Requests whose bodies are slow on purpose, of any size. */
final class HostileBodies {
    /** A quarter of the largest body, in bytes. */
    static final int N = 700_000;

    private static final String NODES = "/api/v1/nodes";
    private static final String MAPS = "/api/v1/namespaces/default/configmaps";
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String JSON = "application/json";
    private static final String YAML = "application/yaml";
    private static final String APPLY = "application/apply-patch+yaml";
    private static final String PROTOBUF = "application/vnd.kubernetes.protobuf";

    /**
     * A test case.
     *
     * @param collection where the object that the request changes is created
     * @param before that object for a given size; empty for none
     * @param body creates the body for a given size
     */
    record Member(
            String name,
            String method,
            String uri,
            String type,
            String collection,
            IntFunction<String> before,
            IntFunction<byte[]> body) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static final List<Member> MEMBERS = new ArrayList<>();

    private HostileBodies() {}

    private static void member(String name, String method, String uri, String type, IntFunction<String> body) {
        MEMBERS.add(new Member(
                name, method, uri, type, "", n -> "", n -> body.apply(n).getBytes(StandardCharsets.UTF_8)));
    }

    private static void change(String name, String type, IntFunction<String> before, IntFunction<String> body) {
        String uri = MAPS + "/c" + (type.equals(APPLY) ? "?fieldManager=m&force=true" : "");
        MEMBERS.add(new Member(
                name, "PATCH", uri, type, MAPS, before, n -> body.apply(n).getBytes(StandardCharsets.UTF_8)));
    }

    private static void yaml(String name, IntFunction<String> body) {
        member("yaml: " + name, "POST", NODES, YAML, body);
    }

    private static void json(String name, IntFunction<String> body) {
        member("json: " + name, "POST", NODES, "application/json", body);
    }

    /** {@code count} texts, separated by commas. */
    static String list(int count, IntFunction<String> item) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "" : ",").append(item.apply(i));
        }
        return text.toString();
    }

    /** {@code count} texts without a separator. */
    private static String many(int count, IntFunction<String> item) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(item.apply(i));
        }
        return text.toString();
    }

    private static String node(String rest) {
        return "{\"metadata\":{\"name\":\"n1\"" + rest + "}";
    }

    /** One of 2^20 texts of 40 characters that have the same hash code. */
    static String colliding(int number) {
        StringBuilder text = new StringBuilder();
        for (int bit = 0; bit < 20; bit++) {
            text.append((number >> bit & 1) == 0 ? "ao" : "c1");
        }
        return text.toString();
    }

    private static String map(String data) {
        return "{\"metadata\":{\"name\":\"c\"},\"data\":{" + data + "}}";
    }

    private static byte[] envelope(byte[] message, byte[] tail) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("k8s\0".getBytes(StandardCharsets.UTF_8));
        field(out, 1, "\n\u0002v1\u0012\u0004Node".getBytes(StandardCharsets.UTF_8));
        field(out, 2, message);
        out.writeBytes(tail);
        return out.toByteArray();
    }

    private static void field(ByteArrayOutputStream out, int number, byte[] bytes) {
        out.write(number << 3 | 2);
        int length = bytes.length;
        while (length > 127) {
            out.write(length & 127 | 128);
            length >>= 7;
        }
        out.write(length);
        out.writeBytes(bytes);
    }

    private static byte[] repeated(int count, byte... bytes) {
        byte[] all = new byte[count * bytes.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = bytes[i % bytes.length];
        }
        return all;
    }

    static {
        yaml("a long key", n -> "x".repeat(n) + ": 1\n");
        yaml("a long quoted key", n -> "\"" + "x".repeat(n) + "\": 1\n");
        yaml("an explicit long key", n -> "? " + "x".repeat(n) + "\n: 1\n");
        yaml("a long plain scalar", n -> "a: " + "x".repeat(n) + "\n");
        yaml("a long quoted scalar", n -> "a: '" + "x".repeat(n) + "'\n");
        yaml("a scalar of many words", n -> "a: " + "x ".repeat(n / 2) + "\n");
        yaml("a scalar of many lines", n -> "a: " + "x\n ".repeat(n / 3) + "\n");
        yaml("a scalar of many escapes", n -> "a: \"" + "\\x41".repeat(n / 4) + "\"\n");
        yaml("a block scalar", n -> "a: |\n" + " x\n".repeat(n / 3));
        yaml("a folded scalar", n -> "a: >\n" + "  x\n\n".repeat(n / 5));
        yaml("a long line of a block scalar", n -> "a: |\n  " + "x".repeat(n));
        yaml("a long comment", n -> "# " + "x".repeat(n) + "\na: 1\n");
        yaml("many comments", n -> "# x\n".repeat(n / 4) + "a: 1\n");
        yaml("white space", n -> "a:" + " ".repeat(n) + "1\n");
        yaml("empty lines", n -> "\n".repeat(n) + "a: 1\n");
        yaml("anchors", n -> "a: [" + list(n / 14, i -> "&a" + i + " x") + "]\n");
        yaml("anchors of one hash code", n -> "a: [" + list(n / 46, i -> "&" + colliding(i) + " x") + "]\n");
        yaml("one anchor again and again", n -> "a: [" + list(n / 6, i -> "&a x") + "]\n");
        yaml("aliases", n -> "a: &a x\nb: [" + list(n / 3, i -> "*a") + "]\n");
        yaml("aliases of a map", n -> "a: &a {x: y}\nb: [" + list(n / 3, i -> "*a") + "]\n");
        yaml("aliases of a long text", n -> "a: &a " + "x".repeat(n / 2) + "\nb: [" + list(n / 6, i -> "*a") + "]\n");
        yaml(
                "aliases of aliases",
                n -> "a0: &a0 [x]\n"
                        + many(n / 40, i -> "a" + (i + 1) + ": &a" + (i + 1) + " [*a" + i + ",*a" + i + "]\n"));
        yaml("merge keys", n -> "a: &a {x: y}\nb:\n" + many(n / 10, i -> "- <<: *a\n"));
        yaml("one merge key again and again", n -> "a: &a {x: y}\nb:\n" + many(n / 10, i -> "  <<: *a\n"));
        yaml("many keys", n -> many(n / 12, i -> "k" + i + ": v\n"));
        yaml("keys of one hash code", n -> many(n / 45, i -> colliding(i) + ": v\n"));
        yaml("one key again and again", n -> "a: 1\n".repeat(n / 5));
        yaml("nested flow lists", n -> "a: " + "[".repeat(n));
        yaml("nested flow maps", n -> "a: " + "{a: ".repeat(n / 4));
        yaml("nested block lists", n -> "- ".repeat(n / 2) + "x\n");
        yaml("explicit keys of explicit keys", n -> "? ".repeat(n / 2) + "x\n");
        yaml("a flow list", n -> "a: [" + "x,".repeat(n / 2) + "]\n");
        yaml("a block list", n -> "a:\n" + "- x\n".repeat(n / 4));
        yaml("lists in a list", n -> "a: [" + "[],".repeat(n / 3) + "]\n");
        yaml("tags", n -> "a: [" + list(n / 9, i -> "!!str 1") + "]\n");
        yaml("long tags", n -> "a: !<" + "x".repeat(n) + "> 1\n");
        yaml("tag directives", n -> many(n / 40, i -> "%TAG !t" + i + "! tag:example.com,2000:\n") + "---\na: 1\n");
        yaml("documents", n -> "---\na: 1\n".repeat(n / 9));
        yaml("a long number", n -> "a: " + "1".repeat(n) + "\n");
        yaml("a large exponent", n -> "a: [" + list(n / 12, i -> "1e999999999") + "]\n");
        yaml("numbers", n -> "a: [" + list(n / 2, i -> "1") + "]\n");
        json("a long key", n -> "{\"" + "x".repeat(n) + "\":1}");
        json("many keys", n -> "{" + list(n / 14, i -> "\"k" + i + "\":1") + "}");
        json("keys of one hash code", n -> "{" + list(n / 46, i -> "\"" + colliding(i) + "\":1") + "}");
        json("one key again and again", n -> "{" + list(n / 6, i -> "\"a\":1") + "}");
        json(
                "one key again and again below a long one",
                n -> "{\"" + "x".repeat(40_000) + "\":{" + list(n / 6, i -> "\"a\":1") + "}}");
        json("nulls in a map", n -> node(",\"labels\":{" + list(n / 17, i -> "\"k" + i + "\":null") + "}}"));
        json("empty objects", n -> "{\"a\":[" + list(n / 3, i -> "{}") + "]}");
        json("empty lists", n -> "{\"a\":[" + list(n / 3, i -> "[]") + "]}");
        json("nested lists", n -> "{\"a\":" + "[".repeat(n));
        json("a long number", n -> "{\"a\":" + "1".repeat(n) + "}");
        json(
                "large exponents",
                n -> node("},\"status\":{\"capacity\":{" + list(n / 22, i -> "\"k" + i + "\":1e999999999") + "}}"));
        json("escapes", n -> "{\"a\":\"" + "\\u0041".repeat(n / 6) + "\"}");
        json("labels that are none", n -> node(",\"labels\":{" + list(n / 17, i -> "\"k" + i + "\":\"!\"") + "}}"));
        json(
                "a label of a long name",
                n -> node(",\"labels\":{\"" + "a.".repeat(Math.min(n, 90_000) / 4) + "/a\":\"\"}}"));
        json("finalizers", n -> node(",\"finalizers\":[" + list(n / 10, i -> "\"a/" + i + "\"") + "]}"));
        json("owners", n -> node(",\"ownerReferences\":[" + list(n / 3, i -> "{}") + "]}"));
        json(
                "taints",
                n -> node("},\"spec\":{\"taints\":["
                        + list(n / 45, i -> "{\"key\":\"k" + i + "\",\"effect\":\"NoSchedule\"}") + "]}"));
        json(
                "equal taints",
                n -> node("},\"spec\":{\"taints\":[" + list(n / 36, i -> "{\"key\":\"k\",\"effect\":\"NoSchedule\"}")
                        + "]}"));
        json(
                "addresses",
                n -> node("},\"status\":{\"addresses\":["
                        + list(n / 40, i -> "{\"type\":\"Hostname\",\"address\":\"a" + i + "\"}") + "]}"));
        json(
                "conditions",
                n -> node("},\"status\":{\"conditions\":["
                        + list(n / 40, i -> "{\"type\":\"t" + i + "\",\"status\":\"True\"}") + "]}"));
        json("unknown fields", n -> node("},\"spec\":{" + list(n / 17, i -> "\"k" + i + "\":\"!\"") + "}"));
        json("unknown fields, wrongly nested", n -> node("},\"spec\":" + "{\"spec\":".repeat(n / 8)));
        member(
                "json: containers",
                "POST",
                PODS,
                JSON,
                n -> node("},\"spec\":{\"containers\":["
                        + list(n / 33, i -> "{\"name\":\"c" + i + "\",\"image\":\"i\"}") + "]}"));
        member(
                "json: drivers",
                "POST",
                "/apis/storage.k8s.io/v1/csinodes",
                "application/json",
                n -> node("},\"spec\":{\"drivers\":[" + list(n / 33, i -> "{\"name\":\"c" + i + "\",\"nodeID\":\"i\"}")
                        + "]}"));
        change(
                "merge patch: nulls",
                TestServer.MERGE,
                n -> map(list(n / 34, i -> "\"k" + i + "\":\"v\"")),
                n -> "{\"data\":{" + list(n / 34, i -> "\"k" + i + "\":null") + "}}");
        change(
                "merge patch: fields",
                TestServer.MERGE,
                n -> map(list(n / 34, i -> "\"k" + i + "\":\"v\"")),
                n -> "{\"data\":{" + list(n / 34, i -> "\"k" + i + "\":\"w\"") + "}}");
        change(
                "strategic: nulls",
                TestServer.STRATEGIC,
                n -> map(list(n / 34, i -> "\"k" + i + "\":\"v\"")),
                n -> "{\"data\":{" + list(n / 34, i -> "\"k" + i + "\":null") + "}}");
        change(
                "strategic: retained keys",
                TestServer.STRATEGIC,
                n -> map(list(n / 34, i -> "\"k" + i + "\":\"v\"")),
                n -> "{\"data\":{\"$retainKeys\":[" + list(n / 34, i -> "\"j" + i + "\"") + "]}}");
        change(
                "strategic: orders of many lists",
                TestServer.STRATEGIC,
                n -> "{\"metadata\":{\"name\":\"c\"},\"x\":{" + list(n / 40, i -> "\"k" + i + "\":[1]") + "}}",
                n -> "{\"x\":{" + list(n / 40, i -> "\"$setElementOrder/k" + i + "\":[1]") + "}}");
        change(
                "strategic: a set of one hash code",
                TestServer.STRATEGIC,
                n -> map(""),
                n -> "{\"metadata\":{\"finalizers\":[" + list(n / 50, i -> "\"a/" + colliding(i) + "\"") + "]}}");
        change(
                "strategic: a deletion of one hash code",
                TestServer.STRATEGIC,
                n -> map(""),
                n -> "{\"metadata\":{\"finalizers\":[\"a/b\"],\"$deleteFromPrimitiveList/finalizers\":["
                        + list(n / 50, i -> "\"a/" + colliding(i) + "\"") + "]}}");
        change(
                "strategic: owners of one hash code",
                TestServer.STRATEGIC,
                n -> map(""),
                n -> "{\"metadata\":{\"ownerReferences\":[" + list(n / 55, i -> "{\"uid\":\"" + colliding(i) + "\"}")
                        + "]}}");
        change(
                "strategic: one owner again and again",
                TestServer.STRATEGIC,
                n -> map(""),
                n -> "{\"metadata\":{\"ownerReferences\":[" + list(n / 27, i -> "{\"uid\":\"u\",\"f" + i + "\":1}")
                        + "]}}");
        jsonPatches();
        applies();
        protobufs();
        MEMBERS.addAll(HostileObjects.members());
    }

    /** A JSON patch of at most 10,000 operations, the limit of Kubernetes. */
    private static void patch(String name, IntFunction<String> before, IntFunction<String> operation) {
        change(
                "json patch: " + name,
                TestServer.JSON_PATCH,
                before,
                n -> "[" + list(n / (4 * N / 9_999), operation) + "]");
    }

    private static void jsonPatches() {
        IntFunction<String> large = n -> map(list(n / 36, i -> "\"k" + i + "\":\"v\""));
        IntFunction<String> longList = n -> "{\"metadata\":{\"name\":\"c\"},\"x\":[" + list(n / 12, i -> "0") + "]}";
        patch(
                "adds below one parent",
                n -> map(""),
                i -> "{\"op\":\"add\",\"path\":\"/data/k" + i + "\",\"value\":\"v\"}");
        patch("adds to a large object", large, i -> "{\"op\":\"add\",\"path\":\"/data/a" + i + "\",\"value\":\"v\"}");
        patch("removals", large, i -> "{\"op\":\"remove\",\"path\":\"/data/k" + i + "\"}");
        patch("moves", large, i -> "{\"op\":\"move\",\"from\":\"/data/k" + i + "\",\"path\":\"/data/m" + i + "\"}");
        patch("copies", large, i -> "{\"op\":\"copy\",\"from\":\"/data/k" + i + "\",\"path\":\"/data/m" + i + "\"}");
        patch("copies of all", large, i -> "{\"op\":\"copy\",\"from\":\"/data\",\"path\":\"/m" + i + "\"}");
        patch("tests", large, i -> "{\"op\":\"test\",\"path\":\"/data/k1\",\"value\":\"v\"}");
        patch(
                "moves of all",
                large,
                i -> "{\"op\":\"move\",\"from\":\"" + (i % 2 == 0 ? "/data" : "/x") + "\",\"path\":\""
                        + (i % 2 == 0 ? "/x" : "/data") + "\"}");
        patch("insertions at the front", longList, i -> "{\"op\":\"add\",\"path\":\"/x/0\",\"value\":1}");
        patch("removals at the front", longList, i -> "{\"op\":\"remove\",\"path\":\"/x/0\"}");
        patch(
                "moves from the front to the end",
                longList,
                i -> "{\"op\":\"move\",\"from\":\"/x/0\",\"path\":\"/x/-\"}");
        patch("deeper and deeper", n -> "{\"metadata\":{\"name\":\"c\"},\"x\":{}}", i -> switch (i % 3) {
            case 0 -> "{\"op\":\"add\",\"path\":\"/y\",\"value\":{}}";
            case 1 -> "{\"op\":\"move\",\"from\":\"/x\",\"path\":\"/y/x\"}";
            default -> "{\"op\":\"move\",\"from\":\"/y\",\"path\":\"/x\"}";
        });
        change(
                "json patch: long paths",
                TestServer.JSON_PATCH,
                n -> map(""),
                n -> "[{\"op\":\"add\",\"path\":\"" + "/a".repeat(n / 2) + "\",\"value\":1}]");
        change(
                "json patch: escapes",
                TestServer.JSON_PATCH,
                n -> map(""),
                n -> "[{\"op\":\"add\",\"path\":\"/data/" + "~1".repeat(n / 2) + "\",\"value\":\"v\"}]");
    }

    private static void applies() {
        String head = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"";
        change(
                "apply: many fields",
                APPLY,
                n -> map(""),
                n -> head + "},\"data\":{" + list(n / 34, i -> "\"k" + i + "\":\"v\"") + "}}");
        change(
                "apply: many fields below a long unknown name",
                APPLY,
                n -> map(""),
                n -> head + "},\"" + "x".repeat(n / 2) + "\":{" + list(n / 24, i -> "\"k" + i + "\":0") + "}}");
        change(
                "apply: finalizers of one hash code",
                APPLY,
                n -> map(""),
                n -> head + ",\"finalizers\":[" + list(n / 110, i -> "\"a/" + colliding(i) + "\"") + "]}}");
        change(
                "apply: an owner again and again",
                APPLY,
                n -> map(""),
                n -> head + ",\"ownerReferences\":[" + list(n / 11, i -> "{\"uid\":\"\"}") + "]}}");
        change(
                "managed fields of many managers",
                TestServer.MERGE,
                n -> map(""),
                n -> "{\"metadata\":{\"managedFields\":["
                        + list(
                                n / 260,
                                i -> "{\"manager\":\"" + colliding(i)
                                        + "\",\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\","
                                        + "\"fieldsV1\":{\"f:data\":{\"f:k" + i + "\":{}}}}")
                        + "]}}");
        change(
                "managed fields of one manager",
                TestServer.MERGE,
                n -> map(""),
                n -> "{\"metadata\":{\"managedFields\":["
                        + list(
                                n / 200,
                                i -> "{\"manager\":\"m\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
                                        + "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\"f:k" + i
                                        + "\":{}}}}")
                        + "]},\"data\":{\"x\":\"y\"}}");
        change(
                "apply over many managers",
                APPLY,
                n -> "{\"metadata\":{\"name\":\"c\"},\"data\":{\"x\":\"y\"}}",
                n -> "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  annotations:\n    a: "
                        + "x ".repeat(n / 30) + "\n");
    }

    private static void protobufs() {
        MEMBERS.add(new Member(
                "protobuf: encodings",
                "POST",
                NODES,
                PROTOBUF,
                "",
                n -> "",
                n -> envelope(new byte[0], repeated(n / 3, (byte) (4 << 3 | 2), (byte) 1, (byte) 'x'))));
        MEMBERS.add(new Member(
                "protobuf: messages again and again",
                "POST",
                NODES,
                PROTOBUF,
                "",
                n -> "",
                n -> envelope(repeated(n / 2, (byte) (2 << 3 | 2), (byte) 0), new byte[0])));
        MEMBERS.add(new Member(
                "protobuf: nested groups",
                "POST",
                NODES,
                PROTOBUF,
                "",
                n -> "",
                n -> envelope(repeated(n, (byte) (15 << 3 | 3)), new byte[0])));
        MEMBERS.add(new Member("protobuf: empty taints", "POST", NODES, PROTOBUF, "", n -> "", n -> {
            ByteArrayOutputStream spec = new ByteArrayOutputStream();
            field(spec, 2, repeated(n / 2, (byte) (5 << 3 | 2), (byte) 0));
            return envelope(spec.toByteArray(), new byte[0]);
        }));
        MEMBERS.add(new Member(
                "protobuf: unknown fields",
                "POST",
                NODES,
                PROTOBUF,
                "",
                n -> "",
                n -> envelope(repeated(n / 2, (byte) (15 << 3), (byte) 1), new byte[0])));
    }

    /** All of them. */
    static List<Member> all() {
        return MEMBERS;
    }
}
