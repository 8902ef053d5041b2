package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.api.Failures;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Gets pages as a kubelet's probes do: over HTTP/1.1, without a check of certificates, following redirects on the same host
 * only, and reading 10 KiB at most. Has no deadline of its own. Thread-safe; results arrive on its threads.
 */
final class HttpActions implements AutoCloseable {
    /** The kubelet's limit of a body. */
    static final int MOST_BODY = 10 << 10;
    /** The kubelet's limit of redirects. */
    private static final int MOST_REDIRECTS = 10;
    /** They handle events and do not block, except to resolve the few hosts that are names. */
    private static final int THREADS = 4;

    /** Whether the process was started with {@code jdk.httpclient.allowRestrictedHeaders=host,connection}. */
    private static final boolean FREE = isFree();

    private static final String USER_AGENT = "kube-probe/1.32";
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    private final ThreadPool threads = new ThreadPool("http-probes", THREADS);
    private final HttpClient http;

    /** What a server answered. Immutable. */
    record Reply(int status, String body) {}

    private static boolean isFree() {
        try {
            HttpRequest.newBuilder().setHeader("Host", "pod").setHeader("Connection", "close");
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    HttpActions() {
        try {
            http = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NEVER)
                    // A pod is asked directly, whatever proxy the machine has for others.
                    .proxy(HttpClient.Builder.NO_PROXY)
                    .sslContext(ClientTls.unverified())
                    .executor(threads)
                    .build();
        } catch (IOException e) {
            throw new IllegalStateException("TLS of probes cannot be set up: " + e.getMessage(), e);
        }
    }

    /** The address of the page; characters that a URI must not contain are escaped. */
    static URI uri(Action.Http action, String host, int port) throws URISyntaxException {
        String authority = (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
        String path = action.path().startsWith("/") ? action.path() : "/" + action.path();
        String scheme = action.https() ? "https" : "http";
        try {
            return new URI(scheme + "://" + authority + path);
        } catch (URISyntaxException e) {
            int query = path.indexOf('?');
            return new URI(
                    scheme,
                    authority,
                    query < 0 ? path : path.substring(0, query),
                    query < 0 ? null : path.substring(query + 1),
                    null);
        }
    }

    /** Gets a page; cancelling the result closes the connection. */
    CompletableFuture<Reply> get(Action.Http action, URI uri) {
        CompletableFuture<Reply> result = new CompletableFuture<>();
        get(action, uri, 0, result);
        return result;
    }

    private void get(Action.Http action, URI uri, int redirects, CompletableFuture<Reply> result) {
        CompletableFuture<HttpResponse<String>> sent;
        try {
            sent = http.sendAsync(request(action, uri), info -> new FirstBytes(MOST_BODY));
        } catch (IllegalArgumentException e) {
            result.completeExceptionally(e);
            return;
        }
        result.whenComplete((reply, error) -> sent.cancel(true));
        sent.whenComplete((response, error) -> {
            if (error != null) {
                result.completeExceptionally(new IOException("Get \"" + uri + "\": " + text(error)));
                return;
            }
            try {
                URI next = uri.resolve(response.headers().firstValue("Location").orElse(""));
                boolean followed = REDIRECTS.contains(response.statusCode())
                        && response.headers().firstValue("Location").isPresent()
                        && uri.getHost().equalsIgnoreCase(next.getHost());
                if (!followed) {
                    result.complete(new Reply(response.statusCode(), response.body()));
                } else if (redirects + 1 >= MOST_REDIRECTS) {
                    result.completeExceptionally(
                            new IOException("Get \"" + next + "\": stopped after " + MOST_REDIRECTS + " redirects"));
                } else {
                    get(action, next, redirects + 1, result);
                }
            } catch (IllegalArgumentException e) {
                result.completeExceptionally(new IOException("Get \"" + uri + "\": " + e.getMessage()));
            }
        });
    }

    private static HttpRequest request(Action.Http action, URI uri) {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        request.setHeader("User-Agent", USER_AGENT);
        request.setHeader("Accept", "*/*");
        if (FREE) {
            // A probe asks whether new connections work.
            request.setHeader("Connection", "close");
        }
        Set<String> replaced = Set.of("user-agent", "accept", "host");
        for (Action.Header header : action.headers()) {
            String name = header.name().toLowerCase(Locale.ROOT);
            if (replaced.contains(name)) {
                request.setHeader(header.name(), header.value());
            } else if (!name.equals("connection") && !name.equals("content-length")) {
                request.header(header.name(), header.value());
            }
        }
        return request.build();
    }

    private static String text(Throwable error) {
        Throwable cause = Failures.cause(error);
        return cause instanceof ConnectException && cause.getMessage() == null
                ? "connect: connection refused"
                : Failures.text(cause);
    }

    /** Ends the threads; pages that are being read are abandoned. Idempotent. */
    @Override
    public void close() {
        http.shutdownNow();
        threads.close();
    }
}
