package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * Gets pages as a kubelet's probes do: over HTTP/1.1, without a check of certificates, following redirects on the same host
 * only, and reading 10 KiB at most. Has no deadline of its own. Thread-safe; results arrive on its threads.
 */
final class HttpActions implements AutoCloseable {
    /** The kubelet's limit of a body. */
    static final int MOST_BODY = 10 << 10;
    /** The kubelet's limit of redirects. */
    private static final int MOST_REDIRECTS = 10;
    /** They handle events and do not block: hosts that are names are looked up elsewhere. */
    private static final int THREADS = 4;

    /** Whether the process was started with {@code jdk.httpclient.allowRestrictedHeaders=host,connection,expect,upgrade}. */
    private static final boolean FREE = isFree();

    private static final String USER_AGENT = "kube-probe/1.32";
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
    /** DNS allows it, TLS does not. */
    private static final Pattern TRAILING_DOT = Pattern.compile("\\.$");

    private final ThreadPool threads = new ThreadPool("http-probes", THREADS);
    private final HostNames names;
    private final SSLContext tls;
    private final HttpClient http;

    /**
     * Where a host is.
     *
     * @param name empty if pages have the address itself as their host
     * @param address as in a URI
     */
    private record Place(String name, String address) {}

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

    HttpActions(HostNames names) {
        this.names = names;
        try {
            tls = ClientTls.unverified();
        } catch (IOException e) {
            throw new IllegalStateException("TLS of probes cannot be set up: " + e.getMessage(), e);
        }
        http = client().build();
    }

    private HttpClient.Builder client() {
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                // A pod is asked directly, whatever proxy the machine has for others.
                .proxy(HttpClient.Builder.NO_PROXY)
                .sslContext(tls)
                .executor(threads);
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
        String host = uri.getHost();
        if (host == null) {
            result.completeExceptionally(new IOException("Get \"" + uri + "\": no valid host"));
        } else if (host.startsWith("[") || IpLiteral.is(host)) {
            get(action, uri, new Place("", host), 0, result);
        } else {
            CompletableFuture<InetAddress> found = names.address(host);
            result.whenComplete((reply, error) -> found.cancel(true));
            found.whenComplete((address, error) -> {
                if (error != null) {
                    result.completeExceptionally(
                            new IOException("Get \"" + uri + "\": dial tcp: " + Failures.text(error)));
                } else if (!result.isDone()) {
                    get(action, uri, place(host, address), 0, result);
                }
            });
        }
        return result;
    }

    private static Place place(String name, InetAddress address) {
        String text = address.getHostAddress();
        return new Place(name, address instanceof Inet6Address ? "[" + text + "]" : text);
    }

    private void get(Action.Http action, URI uri, Place place, int redirects, CompletableFuture<Reply> result) {
        CompletableFuture<HttpResponse<String>> sent;
        try {
            sent = send(request(action, uri, place), place);
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
                    get(action, next, place, redirects + 1, result);
                }
            } catch (IllegalArgumentException e) {
                result.completeExceptionally(new IOException("Get \"" + uri + "\": " + e.getMessage()));
            }
        });
    }

    /** Sends {@code request}, whose URI has the address only. */
    private CompletableFuture<HttpResponse<String>> send(HttpRequest request, Place place) {
        if (place.name().isEmpty() || !"https".equals(request.uri().getScheme())) {
            return http.sendAsync(request, info -> new FirstBytes(MOST_BODY));
        }
        // A server may choose by the name in TLS. A client has one name only; such probes are rare.
        SSLParameters names = new SSLParameters();
        names.setServerNames(
                List.of(new SNIHostName(TRAILING_DOT.matcher(place.name()).replaceFirst(""))));
        HttpClient own = client().sslParameters(names).build();
        CompletableFuture<HttpResponse<String>> sent = own.sendAsync(request, info -> new FirstBytes(MOST_BODY));
        sent.whenComplete((response, error) -> own.shutdownNow());
        return sent;
    }

    private static HttpRequest request(Action.Http action, URI uri, Place place) {
        HttpRequest.Builder request = HttpRequest.newBuilder(at(place.address(), uri));
        if (FREE && !place.name().isEmpty()) {
            request.setHeader("Host", authority(uri.getHost(), uri));
        }
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

    /** The same page, at an address. */
    private static URI at(String address, URI uri) {
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        return URI.create(uri.getScheme() + "://" + authority(address, uri) + uri.getRawPath() + query);
    }

    private static String authority(String host, URI uri) {
        return uri.getPort() < 0 ? host : host + ":" + uri.getPort();
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
