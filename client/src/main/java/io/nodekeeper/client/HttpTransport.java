package io.nodekeeper.client;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.nodekeeper.api.Failures;
import io.nodekeeper.client.config.CredentialException;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.http.HttpConnections;
import io.nodekeeper.client.http.HttpExchange;
import io.nodekeeper.client.http.ResponseReceiver;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A transport to an API server over HTTP/1.1 and TLS. Each running call and each stream has its own connection, which
 * is kept for the next call: a connection that hangs affects only its own call. Its only deadlines are those for connecting;
 * callers cancel. Thread-safe. One thread serves the network and calls the handlers of streams, except for their ends; handlers must not
 * block it. Calls and streams end on the threads of a pool, because callers parse results there.
 */
public final class HttpTransport implements Transport {
    /** Enough for parsing on every core; at least 4, so that a DNS lookup or a file that hangs does not block other calls. */
    private static final int THREADS = Math.max(4, Runtime.getRuntime().availableProcessors());

    /** The most concurrent calls and connections, without watches: on a few cores, more would not be faster. */
    public static final int CALLS = 64;

    /**
     * The most bytes of a response to a call, unless its user says less: a quarter of the heap, because an array that grows and the
     * parsed objects need as much again. A page of 500 objects has some megabytes.
     */
    private static final int REPLY =
            (int) Math.min(128 << 20, Runtime.getRuntime().maxMemory() / 4);

    /**
     * The most bytes of a response where lists of all objects of a kind are read at the same time: a 32nd of the heap, as each needs
     * twice its bytes while it arrives, and at least as many as the largest object has in JSON. Pages of lists become smaller instead.
     */
    private static final int PAGE =
            (int) Math.min(REPLY, Math.max(6 << 20, Runtime.getRuntime().maxMemory() / 32));

    /** How long connections may take to end when the transport is closed. */
    private static final int CLOSE_MILLIS = 1_000;
    /** The network's thread ends when nothing has happened for so long: enough for the tasks that close connections. */
    private static final int QUIET_MILLIS = 10;

    private final Clock clock = new SystemClock();
    private final ServerClock serverClock = new ServerClock();
    private final InFlightLimiter limiter;
    private final ThreadPool threads = new ThreadPool("http", THREADS);
    /** Runs the ends of calls and streams: the pool, except in tests. */
    private final Executor ends;

    private final EventLoopGroup network = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("http-network", true), NioIoHandler.newFactory());
    private final int reply;
    private final ServerAccess access;
    private final String base;
    private final HttpConnections connections;
    private final Senders senders;
    private final String userAgent = "nodekeeper/" + Version.current();

    /**
     * A transport without connections, which calls open as needed.
     *
     * @throws IllegalArgumentException if the keys, certificates or the token file of {@code access} cannot be used
     */
    public HttpTransport(ServerAccess access) {
        this(access, REPLY);
    }

    /**
     * As {@link #HttpTransport(ServerAccess)}.
     *
     * @param mostReply the most bytes of a response to a call, if a quarter of the heap is more
     */
    public HttpTransport(ServerAccess access, int mostReply) {
        this(access, mostReply, CALLS);
    }

    /**
     * As {@link #HttpTransport(ServerAccess)}, for a process that follows all objects of a kind: responses have at most a 32nd of the
     * heap, and up to {@code calls} calls are concurrent.
     */
    public static HttpTransport forLists(ServerAccess access, int calls) {
        return new HttpTransport(access, PAGE, calls);
    }

    private HttpTransport(ServerAccess access, int mostReply, int calls) {
        this(access, mostReply, calls, UnaryOperator.identity());
    }

    /**
     * For tests.
     *
     * @param ends gives, for the pool, the executor on which calls and streams end
     */
    HttpTransport(ServerAccess access, int mostReply, int calls, UnaryOperator<Executor> ends) {
        this.ends = ends.apply(threads);
        reply = Math.min(REPLY, mostReply);
        limiter = new InFlightLimiter(calls);
        this.access = access;
        String server = access.server().toString();
        this.base = server.endsWith("/") ? server.substring(0, server.length() - 1) : server;
        try {
            this.connections = new HttpConnections(
                    network.next(), threads, access.server(), access.tlsServerName(), Senders.tls(access));
            this.senders = new Senders(access, connections, threads);
        } catch (IllegalArgumentException e) {
            network.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            throw e;
        }
    }

    /** Uses another client certificate for new calls, unless the kubeconfig's plugin provides certificates. */
    public void renew(Identity identity) {
        senders.renew(identity);
    }

    /**
     * Completes when there is a credential; fails with {@link CredentialException} if the kubeconfig's plugin provides none.
     * Each call waits for that itself, before its deadline begins: a person may have to log in.
     */
    public CompletableFuture<Void> authenticated() {
        return senders.current().thenAccept(sender -> {});
    }

    /** The server's address and the user, without secrets. */
    @Override
    public String toString() {
        return access.toString();
    }

    /** The newest reading of the server's clock; empty if the server sends no dates. */
    public Optional<ServerDate> serverDate() {
        return serverClock.newest();
    }

    /**
     * This transport with {@code places} of its own for concurrent calls: they never wait for calls of others that hang. Closing it
     * has no effect.
     */
    public Transport reserved(int places) {
        return new Reserved(new InFlightLimiter(places));
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        return send(call, limiter);
    }

    private CompletableFuture<Reply> send(Call call, InFlightLimiter places) {
        return places.pass(() -> exchange(call));
    }

    @Override
    public CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
        return send(call, timer, deadline, limiter);
    }

    private CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline, InFlightLimiter places) {
        return places.pass(() ->
                authorized(call, sender -> Deadlines.within(timer, deadline, call.toString(), exchange(call, sender))));
    }

    private CompletableFuture<Reply> exchange(Call call) {
        return authorized(call, sender -> exchange(call, sender));
    }

    private CompletableFuture<Reply> exchange(Call call, Senders.Sender sender) {
        return exchange(call, sender, new WholeBody(reply));
    }

    /** Sends as soon as there is a credential. */
    private <R> CompletableFuture<R> authorized(Call call, Function<Senders.Sender, CompletableFuture<R>> sending) {
        CompletableFuture<Senders.Sender> current = senders.current();
        if (current.isDone() && !current.isCompletedExceptionally()) {
            return sending.apply(current.join());
        }
        CompletableFuture<R> result = new CompletableFuture<>();
        current.whenComplete((sender, error) -> {
            if (error != null) {
                result.completeExceptionally(failure(call, error));
            } else if (!result.isDone()) {
                CompletableFuture<R> sent = sending.apply(sender);
                sent.whenComplete((reply, failure) -> {
                    if (failure != null) {
                        result.completeExceptionally(failure);
                    } else {
                        result.complete(reply);
                    }
                });
                Futures.onCancel(result, () -> sent.cancel(true));
            }
        });
        return result;
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        CompletableFuture<Optional<Reply>> end =
                authorized(call, sender -> exchange(call, sender, new LineBody(handler)));
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
        senders.close();
        connections.close();
        network.shutdownGracefully(QUIET_MILLIS, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
                .addListener(ended -> threads.closeWhenIdle());
    }

    private <R> CompletableFuture<R> exchange(Call call, Senders.Sender sender, Body<R> body) {
        CompletableFuture<R> result = new CompletableFuture<>();
        Receiver<R> receiver = new Receiver<>(call, sender, body, result);
        HttpExchange exchange;
        try {
            // The path of the server's address comes first.
            URI uri = URI.create(base + call.target());
            String target = uri.getRawQuery() == null ? uri.getRawPath() : uri.getRawPath() + "?" + uri.getRawQuery();
            exchange = connections.send(
                    HttpMethod.valueOf(call.method()), target, headers(call, sender.bearer()), call.body(), receiver);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(failure(call, e));
        }
        Futures.onCancel(result, exchange::cancel);
        return result;
    }

    /** The same connections and credentials, with other places. */
    private final class Reserved implements Transport {
        private final InFlightLimiter places;

        Reserved(InFlightLimiter places) {
            this.places = places;
        }

        @Override
        public CompletableFuture<Reply> send(Call call) {
            return HttpTransport.this.send(call, places);
        }

        @Override
        public CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
            return HttpTransport.this.send(call, timer, deadline, places);
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            return HttpTransport.this.open(call, handler);
        }

        @Override
        public void close() {
            // Its owner closes the connections.
        }

        @Override
        public String toString() {
            return HttpTransport.this.toString();
        }
    }

    /** Reads the response to a call. */
    private final class Receiver<R> implements ResponseReceiver {
        private final Call call;
        private final Senders.Sender sender;
        private final Body<R> body;
        private final CompletableFuture<R> result;
        private final Instant sentAt = clock.wallTime();
        private final long sent = clock.nanoTime();

        Receiver(Call call, Senders.Sender sender, Body<R> body, CompletableFuture<R> result) {
            this.call = call;
            this.sender = sender;
            this.body = body;
            this.result = result;
        }

        @Override
        public void head(HttpResponse head) {
            if (head.status().code() == 401) {
                sender.refused().run();
            }
            serverClock.read(head.headers(), sentAt, sent, clock.nanoTime());
            body.begin(head.status().code());
        }

        @Override
        public void body(ByteBuf bytes) throws IOException {
            body.take(bytes);
        }

        @Override
        public CompletableFuture<Void> arrived() {
            return body.arrived();
        }

        @Override
        public void end() {
            R read = body.end();
            complete(() -> result.complete(read));
        }

        @Override
        public void failed(Throwable why) {
            complete(() -> result.completeExceptionally(failure(call, why)));
        }

        private void complete(Runnable completion) {
            try {
                ends.execute(completion);
            } catch (RejectedExecutionException | OutOfMemoryError e) {
                // The transport was closed, or the machine has no process id left for a thread. The caller is told on
                // this thread.
                completion.run();
            }
        }
    }

    private HttpHeaders headers(Call call, String bearer) {
        HttpHeaders headers = new DefaultHttpHeaders()
                .set(HttpHeaderNames.ACCEPT, "application/json")
                .set(HttpHeaderNames.USER_AGENT, userAgent);
        if (!call.contentType().isEmpty()) {
            headers.set(HttpHeaderNames.CONTENT_TYPE, call.contentType());
        }
        if (!bearer.isEmpty()) {
            headers.set(HttpHeaderNames.AUTHORIZATION, "Bearer " + bearer);
        }
        return headers;
    }

    private TransportException failure(Call call, Throwable error) {
        Throwable cause = Failures.cause(error);
        return cause instanceof TransportException known
                ? known
                : new TransportException(
                        call.method() + " " + base + call.target() + ": " + Failures.text(cause), cause);
    }
}
