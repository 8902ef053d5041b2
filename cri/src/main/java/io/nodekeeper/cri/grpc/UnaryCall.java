package io.nodekeeper.cri.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes calls with one request and one answer. Thread-safe. */
public final class UnaryCall {
    private UnaryCall() {}

    /**
     * Receives the end of a call, on a thread of gRPC.
     *
     * @param <A> the answer
     */
    public interface Listener<A> {
        /** The call ended with {@code status}; {@code answer} is empty if none came, whatever the status. */
        void ended(Status status, Optional<A> answer);
    }

    /** Sends {@code request}; the returned call is only there to be cancelled. */
    public static <Q, A> ClientCall<Q, A> send(
            Channel channel, MethodDescriptor<Q, A> method, CallOptions options, Q request, Listener<A> listener) {
        ClientCall<Q, A> call = channel.newCall(method, options);
        call.start(
                new ClientCall.Listener<>() {
                    private @Nullable A message;

                    @Override
                    public void onMessage(A came) {
                        message = came;
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        listener.ended(status, Optional.ofNullable(message));
                    }
                },
                new Metadata());
        // One more than needed: gRPC reports the end of a call only once it could deliver a second message.
        call.request(2);
        call.sendMessage(request);
        call.halfClose();
        return call;
    }
}
