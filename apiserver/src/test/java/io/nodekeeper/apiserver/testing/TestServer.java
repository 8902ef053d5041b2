package io.nodekeeper.apiserver.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.audit.AuditLog;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.authentication.ServiceAccountTokens;
import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** The API server without a network, over a store in memory and in virtual time. Not thread-safe. */
public final class TestServer {
    public static final User ADMIN = User.authenticated("admin", List.of("system:masters"));
    public static final User N1 = User.authenticated("system:node:n1", List.of("system:nodes"));
    public static final User CONTROLLER = User.authenticated("system:kube-controller-manager", List.of());
    public static final User ALICE = User.authenticated("alice", List.of());
    public static final String MERGE = "application/merge-patch+json";
    public static final String STRATEGIC = "application/strategic-merge-patch+json";
    public static final String JSON_PATCH = "application/json-patch+json";

    /** Static tokens. */
    public static final Map<String, User> TOKENS =
            Map.of("good-token", User.authenticated("token-user", List.of("system:masters")));

    public final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T07:00:00Z"));
    public final VirtualTime.VirtualLoop loop = time.loop("store");
    public final IndexedStore store;
    public final ApiServer server;

    public TestServer() {
        this(Journal.NONE);
    }

    public TestServer(Journal journal) {
        this(journal, DefaultTolerations.DEFAULT);
    }

    public TestServer(Journal journal, DefaultTolerations defaultTolerations) {
        this(journal, defaultTolerations, new Authenticator(TOKENS), Optional.empty());
    }

    /** A server over {@code journal} with this authenticator. */
    public TestServer(Journal journal, DefaultTolerations defaultTolerations, Authenticator authenticator) {
        this(journal, defaultTolerations, authenticator, Optional.empty());
    }

    public TestServer(Authenticator authenticator) {
        this(Journal.NONE, DefaultTolerations.DEFAULT, authenticator, Optional.empty());
    }

    /** An authenticator with the static tokens, which also issues and accepts service account tokens of a new key. */
    public static Authenticator serviceAccountAuthenticator() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(256);
            KeyPair keys = generator.generateKeyPair();
            return new Authenticator(
                    TOKENS,
                    new ServiceAccountTokens(
                            keys.getPrivate(), List.of(keys.getPublic()), "https://issuer", List.of("https://issuer")));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A server with these limits of concurrent requests. */
    public TestServer(FlowControlOptions limits) {
        this(Journal.NONE, DefaultTolerations.DEFAULT, new Authenticator(TOKENS), Optional.empty(), limits);
    }

    /** A server with an audit log. */
    public TestServer(AuditLog.Out audit) {
        this(Journal.NONE, DefaultTolerations.DEFAULT, new Authenticator(TOKENS), Optional.of(audit));
    }

    private TestServer(
            Journal journal,
            DefaultTolerations defaultTolerations,
            Authenticator authenticator,
            Optional<AuditLog.Out> audit) {
        this(journal, defaultTolerations, authenticator, audit, FlowControlOptions.DEFAULT);
    }

    private TestServer(
            Journal journal,
            DefaultTolerations defaultTolerations,
            Authenticator authenticator,
            Optional<AuditLog.Out> audit,
            FlowControlOptions limits) {
        store = new IndexedStore(loop, journal);
        server = new ApiServer(
                store,
                loop,
                Randoms.seeded(1),
                authenticator,
                "127.0.0.1:6443",
                defaultTolerations,
                limits,
                Runnable::run,
                audit.map(out -> new AuditLog(time.loop("audit"), out)));
        // Without the built-in roles, which apply unwritten, the first revision of a test is 5.
        server.startWithoutRoles(Duration.ofHours(1));
        settle();
    }

    /** Another server with {@code store} on this one's loop, which passes its work to {@code workers}. */
    public ApiServer another(Store store, Authenticator authenticator, Executor workers) {
        return new ApiServer(
                store,
                loop,
                Randoms.seeded(2),
                authenticator,
                "127.0.0.1:6443",
                DefaultTolerations.DEFAULT,
                FlowControlOptions.DEFAULT,
                workers,
                Optional.empty());
    }

    /** A server whose store has the built-in roles. */
    public static TestServer withRoles() {
        TestServer server = new TestServer();
        server.server.start(Duration.ofHours(1));
        server.settle();
        return server;
    }

    public void settle() {
        time.advance(Duration.ZERO);
    }

    /** A complete response. */
    public record Answer(int status, Map<String, String> headers, byte[] bytes) {
        public String text() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        public JsonObject json() {
            return Json.parseObject(bytes);
        }

        public String message() {
            return json().text("message");
        }

        public String reason() {
            return json().text("reason");
        }

        public String version() {
            return json().object("metadata").text("resourceVersion");
        }

        public List<String> names() {
            return json().array("items")
                    .objects()
                    .map(item -> item.object("metadata").text("name"))
                    .toList();
        }
    }

    public static ApiRequest request(User user, String method, String uri, Map<String, String> headers, byte[] body) {
        int question = uri.indexOf('?');
        Map<String, List<String>> query = new HashMap<>();
        if (question >= 0) {
            for (String part : uri.substring(question + 1).split("&")) {
                int equals = part.indexOf('=');
                String name = equals < 0 ? part : part.substring(0, equals);
                String value = equals < 0 ? "" : part.substring(equals + 1);
                query.computeIfAbsent(name, key -> new ArrayList<>())
                        .add(URLDecoder.decode(value, StandardCharsets.UTF_8));
            }
        }
        String path = question < 0 ? uri : uri.substring(0, question);
        Optional<ClientCertificate> certificate =
                user.equals(User.ANONYMOUS) ? Optional.empty() : Optional.of(ClientCertificate.of(user));
        return new ApiRequest(method, path, query, headers, body, certificate, uri, "");
    }

    public CompletableFuture<ApiResponse> send(
            User user, String method, String uri, Map<String, String> headers, String body) {
        return server.handle(request(user, method, uri, headers, body.getBytes(StandardCharsets.UTF_8)));
    }

    /** The status code of the response to a GET; for a watch, of its headers. */
    public int status(User user, String uri) {
        CompletableFuture<ApiResponse> response = send(user, "GET", uri, Map.of(), "");
        settle();
        return response.join().status();
    }

    public Answer ask(User user, String method, String uri, Map<String, String> headers, String body) {
        CompletableFuture<ApiResponse> response = send(user, method, uri, headers, body);
        settle();
        return answer(response);
    }

    public static Answer answer(CompletableFuture<ApiResponse> response) {
        assertThat(response).isDone();
        ApiResponse answered = response.join() instanceof ApiResponse.Chunked large ? large.whole() : response.join();
        assertThat(answered).isInstanceOf(ApiResponse.Full.class);
        ApiResponse.Full full = (ApiResponse.Full) answered;
        return new Answer(full.status(), full.headers(), full.body());
    }

    public Answer ask(User user, String method, String uri, String body) {
        return ask(user, method, uri, Map.of(), body);
    }

    public Answer get(String uri) {
        return ask(ADMIN, "GET", uri, "");
    }

    public Answer post(String uri, String body) {
        return ask(ADMIN, "POST", uri, body);
    }

    public Answer put(String uri, String body) {
        return ask(ADMIN, "PUT", uri, body);
    }

    public Answer delete(String uri, String body) {
        return ask(ADMIN, "DELETE", uri, body);
    }

    public Answer patch(String type, String uri, String body) {
        return ask(ADMIN, "PATCH", uri, Map.of("content-type", type), body);
    }

    /** Creates a node as the administrator, and returns it. */
    public JsonObject node(String name) {
        Answer answer = post("/api/v1/nodes", "{\"metadata\":{\"name\":\"" + name + "\"}}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    /** The body of a pod; without a node if {@code node} is empty. */
    public static String pod(String name, String node) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"spec\":{"
                + (node.isEmpty() ? "" : "\"nodeName\":\"" + node + "\",")
                + "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
    }

    /** The events of a watch so far. */
    public static final class Lines implements StreamSink {
        public final List<JsonObject> events = new ArrayList<>();
        private final List<Runnable> onClose = new ArrayList<>();
        /** The number of initial or past events, which the reader requested. */
        public int first;

        public boolean ended;

        @Override
        public void writeFirst(byte[] bytes) {
            first++;
            write(bytes);
        }

        @Override
        public void write(byte[] bytes) {
            assertThat(ended).isFalse();
            if (bytes[0] != '{') {
                // A frame of protobuf, which is not read.
                return;
            }
            assertThat(bytes[bytes.length - 1]).isEqualTo((byte) '\n');
            events.add(Json.parseObject(bytes));
        }

        @Override
        public void end() {
            ended = true;
            onClose.forEach(Runnable::run);
        }

        @Override
        public void onClose(Runnable action) {
            onClose.add(action);
        }

        /** Closes the connection of the reader. */
        public void leave() {
            onClose.forEach(Runnable::run);
        }

        /** The events as {@code TYPE name@version}. */
        public List<String> brief() {
            return events.stream()
                    .map(event -> {
                        JsonObject metadata = event.object("object").object("metadata");
                        return event.text("type") + " " + metadata.text("name") + "@"
                                + metadata.text("resourceVersion");
                    })
                    .toList();
        }
    }

    public Lines watch(User user, String uri, Map<String, String> headers) {
        CompletableFuture<ApiResponse> response = send(user, "GET", uri, headers, "");
        settle();
        assertThat(response).isDone();
        assertThat(response.join()).isInstanceOf(ApiResponse.Streamed.class);
        return read((ApiResponse.Streamed) response.join());
    }

    /** Starts to read. */
    public Lines read(ApiResponse.Streamed streamed) {
        Lines lines = new Lines();
        streamed.start().accept(lines);
        settle();
        return lines;
    }

    public Lines watch(String uri) {
        return watch(ADMIN, uri, Map.of());
    }
}
