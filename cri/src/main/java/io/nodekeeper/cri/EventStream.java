package io.nodekeeper.cri;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.nodekeeper.cri.containerd.EventsGrpc;
import io.nodekeeper.cri.containerd.SubscribeRequest;
import io.nodekeeper.cri.v1.GetEventsRequest;
import io.nodekeeper.cri.v1.RuntimeServiceGrpc;
import io.nodekeeper.time.Loop;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One subscription: to CRI's events or, if the runtime has none, to containerd's own. The next event is requested when the
 * loop has processed the last one, so backpressure leaves a flood of events at the runtime. Thread-safe.
 */
final class EventStream {
    private static final Logger log = LoggerFactory.getLogger(EventStream.class);
    private static final String METHOD = "GetContainerEvents";
    /** Selects events of Kubernetes' containers that are about their processes. */
    private static final String FILTER = "namespace==k8s.io,topic~=\"^/tasks/\"";

    private final Connection connection;
    private final Loop loop;
    private final Failures failures;
    private final Consumer<ContainerEvent> listener;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** Converts a failed call to an exception. */
    interface Failures {
        RuntimeCallException of(String method, Connection connection, Status status);
    }

    private interface Reader<A> {
        Optional<ContainerEvent> read(A message) throws InvalidProtocolBufferException;
    }

    /** A subscription on {@code connection}, for {@code listener} on {@code loop}. */
    EventStream(Connection connection, Loop loop, Failures failures, Consumer<ContainerEvent> listener) {
        this.connection = connection;
        this.loop = loop;
        this.failures = failures;
        this.listener = listener;
    }

    /** Subscribes; returns the future of {@link ContainerRuntime#events}. */
    CompletableFuture<Void> start() {
        subscribe(
                RuntimeServiceGrpc.getGetContainerEventsMethod(),
                GetEventsRequest.getDefaultInstance(),
                Happenings::of,
                this::startContainerd);
        return ended;
    }

    private void startContainerd(Status missing) {
        log.debug("the runtime has no {} ({}); trying containerd's own events", METHOD, missing.getDescription());
        subscribe(
                EventsGrpc.getSubscribeMethod(),
                SubscribeRequest.newBuilder().addFilters(FILTER).build(),
                Happenings::of,
                this::fail);
    }

    private void fail(Status status) {
        ended.completeExceptionally(failures.of(METHOD, connection, status));
    }

    private <Q, A> void subscribe(
            MethodDescriptor<Q, A> method, Q request, Reader<A> reader, Consumer<Status> unimplemented) {
        ClientCall<Q, A> call = connection.channel().newCall(method, CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<A>() {
                    @Override
                    public void onMessage(A message) {
                        loop.execute(() -> {
                            try {
                                deliver(reader, message);
                            } finally {
                                call.request(1);
                            }
                        });
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        loop.execute(() -> close(status, unimplemented));
                    }
                },
                new Metadata());
        call.request(1);
        call.sendMessage(request);
        call.halfClose();
        ended.whenComplete((end, error) -> call.cancel("the subscription was cancelled", null));
    }

    private <A> void deliver(Reader<A> reader, A message) {
        if (ended.isDone()) {
            return;
        }
        try {
            reader.read(message).ifPresent(listener);
        } catch (InvalidProtocolBufferException e) {
            log.debug("skipping an event that cannot be parsed", e);
        }
    }

    private void close(Status status, Consumer<Status> unimplemented) {
        if (ended.isDone()) {
            return;
        }
        if (status.isOk()) {
            ended.complete(null);
        } else if (status.getCode() == Status.Code.UNIMPLEMENTED) {
            unimplemented.accept(status);
        } else {
            fail(status);
        }
    }
}
