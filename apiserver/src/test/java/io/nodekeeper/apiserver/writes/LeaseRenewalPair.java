package io.nodekeeper.apiserver.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.apiserver.wire.LeaseMessage;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.apiserver.wire.ProtobufWriter;
import io.nodekeeper.store.Entry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * Two equal servers that get the same updates of a lease, except that a parameter without any effect keeps the second one from its
 * short path. They must give the same answers and store the same bytes.
 */
final class LeaseRenewalPair {
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String KEY = "/registry/leases/kube-node-lease/n1";
    private static final User N2 = User.authenticated("system:node:n2", List.of("system:nodes"));

    /** Values that are put in the place of others, or beside them. */
    private static final List<String> VALUES = List.of(
            "null",
            "\"\"",
            "0",
            "-1",
            "007",
            "40.0",
            "4e1",
            "\"n1\"",
            "\"n2\"",
            "\"2026-02-30T00:00:00.000000Z\"",
            "\"2026-11-21T24:00:00.000000Z\"",
            "\"2026-11-21T07:00:60.000000Z\"",
            "\"0000-11-21T07:00:00.000000Z\"",
            "\"2026-11-21T07:00:00Z\"",
            "\"2026-11-21T08:00:00.5+01:00\"",
            "\"2026-11-21T07:00:00.123456789Z\"",
            "\"x\\u0041\\\"\"",
            "\"\u00e4\"",
            "{}",
            "[]",
            "{\"resourceVersion\":\"7\"}",
            "[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"\"}]",
            "[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u\",\"controller\":true}]",
            "[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u\",\"extra\":true}]",
            "[{\"manager\":\"m\",\"operation\":\"Apply\"}]",
            "[\"example.com/keep\"]");

    /** What follows protobuf in the header Accept. */
    private static final List<String> ACCEPTED = List.of(
            "",
            "",
            ",application/json",
            ", */*",
            ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            ";as=Table;g=meta.k8s.io;v=v1",
            ",application/yaml");

    private static final List<String> NAMES = List.of(
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "deletionTimestamp",
            "ownerReferences",
            "labels",
            "annotations",
            "finalizers",
            "managedFields",
            "generateName",
            "holderIdentity",
            "leaseDurationSeconds",
            "leaseTransitions",
            "acquireTime",
            "renewTime",
            "strategy",
            "unknown");

    private final RandomGenerator random;
    private final TestServer left = new TestServer();
    private final TestServer right = new TestServer();
    private long micros;
    /** Updates that the short path took, as far as its recognition tells. */
    long recognized;
    /** Those of them that were protobuf. */
    long messages;
    /** Updates that were accepted. */
    long accepted;

    LeaseRenewalPair(RandomGenerator random) {
        this.random = random;
        create();
    }

    private void create() {
        String owner = random.nextBoolean()
                ? ""
                : ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u\""
                        + (random.nextBoolean() ? "" : ",\"controller\":true") + "}]";
        String spec = random.nextInt(20) == 0
                ? ""
                : ",\"spec\":{\"holderIdentity\":\"n1\",\"leaseDurationSeconds\":40,"
                        + (random.nextBoolean()
                                ? ""
                                : "\"acquireTime\":\"2026-01-01T00:00:00.000000Z\",\"leaseTransitions\":3,")
                        + "\"renewTime\":\"2026-01-01T00:00:00.000000Z\"}";
        String body = "{\"metadata\":{\"name\":\"n1\"" + owner + "}" + spec + "}";
        for (TestServer server : List.of(left, right)) {
            assertThat(server.post(LEASES, body).status()).isEqualTo(201);
        }
    }

    /** Replaces the lease, to which earlier updates may have given any fields. */
    private void recreate() {
        for (TestServer server : List.of(left, right)) {
            server.patch(TestServer.MERGE, LEASES + "/n1", "{\"metadata\":{\"finalizers\":null}}");
            server.delete(LEASES + "/n1", "");
        }
        create();
    }

    /** Sends one more update, usually a renewal, often a damaged one, and compares. */
    void step() {
        if (random.nextInt(12) == 0) {
            recreate();
        }
        Optional<Entry> stored = left.store.get(KEY);
        String body =
                stored.isEmpty() ? "{}" : body(Json.parseObject(stored.get().value()), stored.get());
        boolean protobuf = random.nextInt(3) == 0;
        byte[] bytes = protobuf ? damagedBytes(message(body)) : damaged(body).getBytes(StandardCharsets.UTF_8);
        User user = switch (random.nextInt(10)) {
            case 0 -> N2;
            case 1 -> TestServer.ALICE;
            case 2 -> TestServer.ADMIN;
            default -> TestServer.N1;
        };
        Map<String, String> headers = switch (random.nextInt(12)) {
            case 0 -> Map.of("content-type", "application/yaml");
            case 1 -> Map.of("content-type", "application/json; charset=utf-8", "accept", "application/yaml");
            case 2 -> Map.of();
            case 3 -> Map.of("content-type", "text/plain");
            default -> Map.of("content-type", "application/json", "accept", "application/json");
        };
        if (protobuf) {
            headers = Map.of("content-type", Protobuf.MEDIA_TYPE, "accept", Protobuf.MEDIA_TYPE + pick(ACCEPTED));
        }
        String uri = LEASES + (random.nextInt(50) == 0 ? "/n2" : "/n1") + "?timeout=10s"
                + (random.nextInt(50) == 0 ? "&dryRun=All" : "");
        Optional<byte[]> json = protobuf ? LeaseMessage.read(bytes).map(LeaseMessage::json) : Optional.of(bytes);
        boolean usual = stored.isPresent()
                && json.flatMap(text -> LeaseRenewal.renewed(
                                stored.get().value(), stored.get().modRevision(), text))
                        .isPresent();
        Answer one = ask(left, user, uri, headers, bytes);
        // This is what an update without the parameter does.
        Answer other = ask(right, user, uri + "&fieldValidation=Warn", headers, bytes);
        String what = user.name() + " " + uri + " " + headers + " " + new String(bytes, StandardCharsets.UTF_8);
        assertThat(one.text()).as(what).isEqualTo(other.text());
        assertThat(one.status()).as(what).isEqualTo(other.status());
        assertThat(withoutAudit(one)).as(what).isEqualTo(withoutAudit(other));
        Optional<Entry> after = left.store.get(KEY);
        assertThat(after).as(what).isEqualTo(right.store.get(KEY));
        if (after.isPresent()) {
            assertThat(Arrays.equals(
                            after.get().value(), right.store.get(KEY).get().value()))
                    .as(what)
                    .isTrue();
        }
        assertThat(left.store.revision()).as(what).isEqualTo(right.store.revision());
        assertThat(one.bytes()).as(what).isEqualTo(other.bytes());
        recognized += usual ? 1 : 0;
        messages += usual && protobuf ? 1 : 0;
        accepted += one.status() == 200 ? 1 : 0;
    }

    private static Answer ask(TestServer server, User user, String uri, Map<String, String> headers, byte[] body) {
        ApiRequest text = TestServer.request(user, "PUT", uri, headers, body);
        CompletableFuture<ApiResponse> response = server.server.handle(text);
        server.settle();
        return TestServer.answer(response);
    }

    private static Map<String, String> withoutAudit(Answer answer) {
        Map<String, String> headers = new java.util.HashMap<>(answer.headers());
        headers.remove("audit-id");
        return headers;
    }

    /** The JSON of a renewal: the stored object in one of many layouts. */
    private String body(JsonObject object, Entry entry) {
        List<String> metadata = new ArrayList<>();
        object.object("metadata").fields().forEach((name, value) -> metadata.add(field(name, value.toString())));
        metadata.add(
                random.nextInt(metadata.size() + 1),
                field("resourceVersion", new JsonString(Long.toString(entry.modRevision())).toString()));
        List<String> spec = new ArrayList<>();
        object.object("spec").fields().forEach((name, value) -> spec.add(field(name, renewed(name, value))));
        List<String> top = new ArrayList<>(List.of("\"kind\":\"Lease\"", "\"apiVersion\":\"coordination.k8s.io/v1\""));
        if (random.nextBoolean()) {
            top.add(top.removeFirst());
        }
        top.add("\"metadata\":{" + String.join(",", metadata) + "}");
        if (!spec.isEmpty()) {
            top.add("\"spec\":{" + String.join(",", spec) + "}");
        }
        if (random.nextInt(20) == 0) {
            top.add(top.removeFirst());
        }
        String end = random.nextInt(4) == 0 ? "\n" : "";
        return "{" + String.join(",", top) + "}" + end;
    }

    private static String field(String name, String value) {
        return "\"" + name + "\":" + value;
    }

    private String renewed(String name, JsonValue value) {
        if (!name.equals("renewTime") || random.nextInt(20) == 0) {
            return value.toString();
        }
        micros = (micros + 1) % 60_000_000;
        return "\"2026-11-21T07:00:%02d.%06dZ\"".formatted(micros / 1_000_000, micros % 1_000_000);
    }

    private String damaged(String body) {
        int at = random.nextInt(body.length());
        return switch (random.nextInt(20)) {
            case 0 -> body.substring(0, at) + body.substring(at + 1);
            case 1 -> body.substring(0, at) + (char) (' ' + random.nextInt(96)) + body.substring(at + 1);
            case 2 -> body.substring(0, at) + (char) (' ' + random.nextInt(96)) + body.substring(at);
            case 3 -> body.substring(0, at);
            case 4 -> body.substring(0, at) + body.substring(random.nextInt(at + 1));
            case 5 -> replaced(body, ":", ":" + pick(VALUES) + ",\"" + pick(NAMES) + "\":");
            case 6 -> replaced(body, "{", "{\"" + pick(NAMES) + "\":" + pick(VALUES) + ",");
            case 7 -> body.replaceFirst("\"" + pick(NAMES) + "\"", "\"" + pick(NAMES) + "\"");
            case 8 -> body.replaceFirst("(\"" + pick(NAMES) + "\":)\"[^\"]*\"", "$1" + quoted(pick(VALUES)));
            case 9 -> body.replaceFirst("\"" + pick(NAMES) + "\":\"[^\"]*\",?", "");
            default -> body;
        };
    }

    /** The body in protobuf; an earlier update may have stored names that the body does not escape. */
    private static byte[] message(String body) {
        byte[] none = {'k'};
        try {
            return ProtobufWriter.object(Json.parseObject(body)).orElse(none);
        } catch (JsonException e) {
            return none;
        }
    }

    private byte[] damagedBytes(byte[] bytes) {
        byte[] damaged = bytes.clone();
        int at = random.nextInt(bytes.length);
        switch (random.nextInt(12)) {
            case 0 -> damaged[at] = (byte) random.nextInt(256);
            case 1 -> damaged[at]++;
            case 2 -> damaged = Arrays.copyOf(bytes, at);
            default -> {
                // As it is.
            }
        }
        return damaged;
    }

    private static String quoted(String replacement) {
        return java.util.regex.Matcher.quoteReplacement(replacement);
    }

    /** The body with one of the places of {@code what} replaced. */
    private String replaced(String body, String what, String by) {
        List<Integer> places = new ArrayList<>();
        for (int i = body.indexOf(what); i >= 0; i = body.indexOf(what, i + 1)) {
            places.add(i);
        }
        int at = places.isEmpty() ? 0 : places.get(random.nextInt(places.size()));
        return places.isEmpty() ? body : body.substring(0, at) + by + body.substring(at + what.length());
    }

    private String pick(List<String> texts) {
        return texts.get(random.nextInt(texts.size()));
    }
}
