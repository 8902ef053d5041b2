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
 * The connection to one member of the cluster, and whether the member responds. Results complete on gRPC's threads. Thread-safe.
 */
final class EtcdMember {
    /** The minimum that gRPC allows. Detects connections that were lost without a close. Calls have their own deadlines. */
    private static final Duration KEEPALIVE = Duration.ofSeconds(10);

    private static final Duration KEEPALIVE_TIMEOUT = Duration.ofSeconds(5);
    /** A member with pending calls and no response for this time gets no more calls. A slow disk takes some 100 ms. */
    private static final Duration SILENCE = Duration.ofSeconds(1);

    private final String name;
    private final ManagedChannel channel;
    private final Clock clock;
    private final AtomicInteger waiting = new AtomicInteger();
    /** The time of the last response, or of the first pending call. */
    private volatile long silentSince;

    EtcdMember(URI address, EtcdOptions options, Clock clock) {
        this.name = address.getHost() + ":" + address.getPort();
        this.clock = clock;
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(address.getHost(), address.getPort())
                .keepAliveTime(KEEPALIVE.toNanos(), TimeUnit.NANOSECONDS)
                .keepAliveTimeout(KEEPALIVE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)
                .maxInboundMessageSize(Integer.MAX_VALUE)
                // Callbacks hand results to the store's loop and do nothing else.
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

    /** Host and port, for messages. */
    String name() {
        return name;
    }

    /** Whether calls are pending and the member has not responded for {@link #SILENCE}. */
    boolean silent() {
        return waiting.get() > 0 && clock.nanoTime() - silentSince > SILENCE.toNanos();
    }

    /** Resets the backoff of connection attempts, so that the next call connects at once. */
    void reconnect() {
        channel.resetConnectBackoff();
    }

    /** Makes one call. Fails with {@link CallFailure}. */
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
                            Status why = status.isOk() ? Status.INTERNAL.withDescription("no response") : status;
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

    /** An open watch. */
    interface Feed {
        /** Cancels the watch. */
        void cancel();
    }

    /** Watches a range of keys. {@code ended} receives the reason when the watch ends. */
    Feed watch(WatchCreateRequest request, Consumer<WatchResponse> heard, Consumer<CallFailure> ended) {
        // A member without a leader sends no events. With this header it ends the watch instead.
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

    /** Records whether a call was sent. Only a call that was not sent may be retried at another member. */
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
