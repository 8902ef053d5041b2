package io.nodekeeper.store.etcd;

import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.nodekeeper.time.Clock;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;

/**
 * One member of the cluster: a connection, and whether it answers. Results come on gRPC's threads. Thread-safe.
 */
final class Member {
    /** The least that gRPC allows; finds connections that died without a word. Calls have deadlines of their own. */
    private static final Duration KEEPALIVE = Duration.ofSeconds(10);

    private static final Duration KEEPALIVE_TIMEOUT = Duration.ofSeconds(5);
    /** A member that owes answers and has given none for so long gets no more calls. Chosen: far above a slow disk. */
    private static final Duration SILENCE = Duration.ofSeconds(1);

    private final String name;
    private final ManagedChannel channel;
    private final Clock clock;
    private final AtomicInteger waiting = new AtomicInteger();
    /** Since when the member owes an answer, if it does. */
    private volatile long silentSince;

    Member(URI address, EtcdOptions options, Clock clock) {
        this.name = address.getHost() + ":" + address.getPort();
        this.clock = clock;
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(address.getHost(), address.getPort())
                .keepAliveTime(KEEPALIVE.toNanos(), TimeUnit.NANOSECONDS)
                .keepAliveTimeout(KEEPALIVE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)
                .maxInboundMessageSize(Integer.MAX_VALUE)
                // Whatever comes is handed to the store's loop at once.
                .directExecutor();
        if (address.getScheme().equals("https")) {
            options.tls().ifPresent(tls -> builder.sslContext(http2(tls)));
        } else {
            builder.usePlaintext();
        }
        channel = builder.build();
    }

    private static SslContext http2(SSLContext tls) {
        ApplicationProtocolConfig protocols = new ApplicationProtocolConfig(
                ApplicationProtocolConfig.Protocol.ALPN,
                ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                ApplicationProtocolNames.HTTP_2);
        return new JdkSslContext(
                tls,
                true,
                null,
                IdentityCipherSuiteFilter.INSTANCE,
                protocols,
                ClientAuth.NONE,
                new String[] {"TLSv1.3", "TLSv1.2"},
                false);
    }

    /** Its address, for people. */
    String name() {
        return name;
    }

    /** Whether it owes answers but keeps silent. */
    boolean silent() {
        return waiting.get() > 0 && clock.nanoTime() - silentSince > SILENCE.toNanos();
    }

    /** Has the next call try to connect even if that failed a moment ago. */
    void reconnect() {
        channel.resetConnectBackoff();
    }

    /** One call; it fails with {@link CallFailure}. */
    <Q, A> CompletableFuture<A> call(MethodDescriptor<Q, A> method, Q request, Duration deadline) {
        CompletableFuture<A> result = new CompletableFuture<>();
        Departure departure = new Departure();
        ClientCall<Q, A> call = channel.newCall(
                method,
                CallOptions.DEFAULT
                        .withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)
                        .withStreamTracerFactory(departure));
        if (waiting.get() == 0) {
            silentSince = clock.nanoTime();
        }
        waiting.incrementAndGet();
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(A answer) {
                        result.complete(answer);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        waiting.decrementAndGet();
                        if (status.getCode() != Status.Code.DEADLINE_EXCEEDED) {
                            silentSince = clock.nanoTime();
                        }
                        if (!result.isDone()) {
                            Status why = status.isOk() ? Status.INTERNAL.withDescription("no answer") : status;
                            result.completeExceptionally(new CallFailure(name, why, departure.sent));
                        }
                    }
                },
                new Metadata());
        call.request(2);
        call.sendMessage(request);
        call.halfClose();
        return result;
    }

    /** A watch under way. */
    interface Feed {
        /** Ends it. */
        void cancel();
    }

    /** Follows a range of keys until {@code ended}, which is told why. */
    Feed watch(WatchCreateRequest request, Consumer<WatchResponse> heard, Consumer<CallFailure> ended) {
        // A member without a leader cannot know what happens: better to hear so than nothing.
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER), "true");
        ClientCall<WatchRequest, WatchResponse> call = channel.newCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(WatchResponse response) {
                        heard.accept(response);
                        call.request(1);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        ended.accept(new CallFailure(name, status, true));
                    }
                },
                headers);
        call.request(1);
        call.sendMessage(WatchRequest.newBuilder().setCreateRequest(request).build());
        return () -> call.cancel("no longer needed", null);
    }

    /** Ends all calls and closes the connection. */
    void close() {
        channel.shutdownNow();
    }

    /** Notes whether a call left this machine: only one that did not may be made again elsewhere. */
    private static final class Departure extends ClientStreamTracer.Factory {
        private volatile boolean sent;

        @Override
        public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
            return new ClientStreamTracer() {
                @Override
                public void outboundHeaders() {
                    sent = true;
                }
            };
        }
    }
}
