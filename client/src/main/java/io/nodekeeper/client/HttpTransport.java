package io.nodekeeper.client;

import io.nodekeeper.api.Failures;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.CredentialException;
import io.nodekeeper.client.config.ExecCredentials;
import io.nodekeeper.client.config.ExecPlugin;
import io.nodekeeper.client.config.ExecRun;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.config.TokenSource;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.ThreadPool;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * A transport to an API server over HTTP/1.1 and TLS. Each running call and each stream has its own connection, which
 * is kept for the next call: a connection that hangs affects only its own call. Its only deadline is for connecting;
 * callers cancel. Thread-safe; results complete on the threads of the pool.
 */
public final class HttpTransport implements Transport {
    /** Shorter than Kubernetes' 30 s, which is longer than the deadline of a heartbeat, so that a retry is in time. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    /** Enough for TLS on every core; at least 4, so that a DNS lookup that hangs does not block other calls. */
    private static final int THREADS = Math.max(4, Runtime.getRuntime().availableProcessors());

    /**
     * The most concurrent calls and connections, without watches. On a few cores, more would not be faster: thousands
     * of TLS handshakes take longer than the calls.
     */
    static final int CALLS = 64;

    /** The most bytes of a response that refuses a stream: a Status has some hundred bytes. */
    private static final int REFUSAL = 1 << 20;

    /** The time between two readings of the server's clock, in ns: 10 s, the period of heartbeats. */
    private static final long DATE_PERIOD = Duration.ofSeconds(10).toNanos();
    /** The longest round trip of a reading, in ns; also excludes watches, whose end is their response. */
    private static final long DATE_ROUND_TRIP = Duration.ofSeconds(2).toNanos();

    private final Clock clock = new SystemClock();
    private final InFlightLimiter limiter = new InFlightLimiter(CALLS);
    private final ServerAccess access;
    private final ThreadPool threads;
    private final TokenSource token;
    private final String base;
    private final Optional<Plugin> plugin;
    private volatile Way way;
    private volatile Optional<ServerDate> serverDate = Optional.empty();
    private volatile long dateAt;
    private final String userAgent = "nodekeeper/" + Version.current();

    /**
     * A transport without connections, which calls open as needed.
     *
     * @throws IllegalArgumentException if the keys, certificates or the token file of {@code access} cannot be used
     */
    public HttpTransport(ServerAccess access) {
        this.access = access;
        this.threads = new ThreadPool("http", THREADS);
        this.token = new TokenSource(access, new SystemClock(), threads);
        String server = access.server().toString();
        this.base = server.endsWith("/") ? server.substring(0, server.length() - 1) : server;
        this.way = new Way(access.identity(), client(access.identity()));
        // A static credential has precedence over a plugin, as in client-go.
        this.plugin = access.token().isEmpty() && access.tokenFile().isEmpty()
                ? access.plugin().map(Plugin::of)
                : Optional.empty();
    }

    /** The connections of one client certificate. */
    private record Way(Optional<Identity> identity, HttpClient http) {}

    /** A credential plugin with its loop. */
    private record Plugin(ThreadLoop loop, ExecRun run, ExecCredentials credentials) {
        static Plugin of(ExecPlugin plugin) {
            ThreadLoop loop = new ThreadLoop("credentials");
            ExecRun run = new ExecRun(plugin, loop);
            return new Plugin(loop, run, new ExecCredentials(loop, run::run));
        }

        void close() {
            run.close();
            loop.close();
        }
    }

    private HttpClient client(Optional<Identity> identity) {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECT_TIMEOUT)
                .followRedirects(HttpClient.Redirect.NEVER)
                .executor(threads);
        if (base.startsWith("https:")) {
            builder.sslContext(ClientTls.context(access.as(identity)));
        }
        return builder.build();
    }

    /** The connections for that certificate. A new certificate needs new connections; the old ones end with their calls. */
    private synchronized HttpClient http(Optional<Identity> identity) {
        Way now = way;
        if (!now.identity.equals(identity)) {
            way = new Way(identity, client(identity));
            now.http.shutdown();
        }
        return way.http;
    }

    /** Uses another client certificate for new calls, unless the kubeconfig's plugin provides certificates. */
    public void renew(Identity identity) {
        if (plugin.isEmpty()) {
            http(Optional.of(identity));
        }
    }

    /**
     * Completes when there is a credential; fails with {@link CredentialException} if the kubeconfig's plugin provides none.
     * Each call waits for that itself, before its deadline begins: a person may have to log in.
     */
    public CompletableFuture<Void> authenticated() {
        return plugin.map(known -> known.credentials.current().thenAccept(credential -> {}))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    /** The server's address and the user, without secrets. */
    @Override
    public String toString() {
        return access.toString();
    }

    /** The newest reading of the server's clock; empty if the server sends no dates. */
    public Optional<ServerDate> serverDate() {
        return serverDate;
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        return limiter.pass(() -> exchange(call));
    }

    @Override
    public CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
        return limiter.pass(() ->
                authorized(call, sender -> Deadlines.within(timer, deadline, call.toString(), exchange(call, sender))));
    }

    private CompletableFuture<Reply> exchange(Call call) {
        return authorized(call, sender -> exchange(call, sender));
    }

    private CompletableFuture<Reply> exchange(Call call, Sender sender) {
        return exchange(
                call,
                sender,
                info -> HttpResponse.BodySubscribers.ofByteArray(),
                response -> new Reply(response.statusCode(), response.body()));
    }

    /** The connections and the token for a call, and what to do if the server refuses them with 401. */
    private record Sender(HttpClient http, String bearer, Runnable refused) {}

    private <R> CompletableFuture<R> authorized(Call call, Function<Sender, CompletableFuture<R>> sending) {
        if (plugin.isEmpty()) {
            return sending.apply(new Sender(way.http, token.current(), () -> {}));
        }
        ExecCredentials credentials = plugin.get().credentials;
        CompletableFuture<R> result = new CompletableFuture<>();
        credentials.current().whenComplete((credential, error) -> {
            if (error != null) {
                result.completeExceptionally(failure(call, error));
            } else if (!result.isDone()) {
                Optional<Identity> identity = credential.identity().or(access::identity);
                CompletableFuture<R> sent = sending.apply(
                        new Sender(http(identity), credential.token(), () -> credentials.refused(credential)));
                sent.whenComplete((reply, failure) -> {
                    if (failure != null) {
                        result.completeExceptionally(failure);
                    } else {
                        result.complete(reply);
                    }
                });
                result.whenComplete((reply, failure) -> {
                    if (result.isCancelled()) {
                        sent.cancel(true);
                    }
                });
            }
        });
        return result;
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        CompletableFuture<Optional<Reply>> end = authorized(
                call,
                sender -> exchange(
                        call,
                        sender,
                        info -> {
                            if (info.statusCode() != 200) {
                                return HttpResponse.BodySubscribers.mapping(
                                        HttpResponse.BodySubscribers.limiting(
                                                HttpResponse.BodySubscribers.ofByteArray(), REFUSAL),
                                        Optional::of);
                            }
                            handler.onOpen();
                            return new LineSubscriber(handler);
                        },
                        response -> response.body().map(body -> new Reply(response.statusCode(), body))));
        AtomicBoolean cancelled = new AtomicBoolean();
        end.whenComplete((refusal, error) -> {
            if (cancelled.get()) {
                return;
            }
            if (error == null) {
                handler.onEnd(refusal, Optional.empty());
            } else {
                handler.onEnd(Optional.empty(), Optional.of(failure(call, error)));
            }
        });
        return () -> {
            cancelled.set(true);
            end.cancel(true);
        };
    }

    @Override
    public void close() {
        plugin.ifPresent(Plugin::close);
        way.http.shutdownNow();
        threads.close();
    }

    private <B, R> CompletableFuture<R> exchange(
            Call call, Sender sender, HttpResponse.BodyHandler<B> body, Function<HttpResponse<B>, R> read) {
        CompletableFuture<HttpResponse<B>> exchange;
        try {
            exchange = sender.http.sendAsync(request(call, sender.bearer), body);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(failure(call, e));
        }
        Instant sentAt = clock.wallTime();
        long sent = clock.nanoTime();
        CompletableFuture<R> result = new CompletableFuture<>();
        exchange.whenComplete((response, error) -> {
            if (error != null) {
                result.completeExceptionally(failure(call, error));
            } else {
                if (response.statusCode() == 401) {
                    sender.refused.run();
                }
                date(response, sentAt, sent);
                result.complete(read.apply(response));
            }
        });
        // Only cancelling the HTTP client's future aborts the exchange and closes its connection.
        result.whenComplete((reply, error) -> {
            if (result.isCancelled()) {
                exchange.cancel(true);
            }
        });
        return result;
    }

    /** Takes the server's date from a response that was quick enough to say something about the clock. */
    private void date(HttpResponse<?> response, Instant sentAt, long sent) {
        long now = clock.nanoTime();
        if (now - sent > DATE_ROUND_TRIP || serverDate.isPresent() && now - dateAt < DATE_PERIOD) {
            return;
        }
        dateAt = now;
        response.headers().firstValue("date").ifPresent(text -> {
            try {
                serverDate = Optional.of(new ServerDate(
                        Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text)),
                        sentAt,
                        Duration.ofNanos(now - sent)));
            } catch (DateTimeException e) {
                // A server that sends something else has no date.
                serverDate = Optional.empty();
            }
        });
    }

    private HttpRequest request(Call call, String bearer) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + call.target()))
                .header("Accept", "application/json")
                .header("User-Agent", userAgent)
                .method(
                        call.method(),
                        call.body().length == 0
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofByteArray(call.body()));
        if (!call.contentType().isEmpty()) {
            request.header("Content-Type", call.contentType());
        }
        if (!bearer.isEmpty()) {
            request.header("Authorization", "Bearer " + bearer);
        }
        return request.build();
    }

    private TransportException failure(Call call, Throwable error) {
        Throwable cause = Failures.cause(error);
        return cause instanceof TransportException known
                ? known
                : new TransportException(
                        call.method() + " " + base + call.target() + ": " + Failures.text(cause), cause);
    }
}
