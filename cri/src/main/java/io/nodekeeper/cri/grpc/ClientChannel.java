package io.nodekeeper.cri.grpc;

import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import javax.net.SocketFactory;

/** Makes gRPC's channels without TLS that run on given threads only, resolve no proxies and repeat no calls. Stateless. */
public final class ClientChannel {
    private ClientChannel() {}

    /**
     * The channel of {@code builder}, which has the address.
     *
     * @param threads never refuses a task; a connection needs one thread for reading and one for writing; while one
     *     connection replaces another, a third
     * @param timer for gRPC's own deadlines
     * @param maxMessage the largest message that may be received, in bytes
     */
    public static ManagedChannel of(
            OkHttpChannelBuilder builder,
            SocketFactory sockets,
            Executor threads,
            ScheduledExecutorService timer,
            int maxMessage,
            String userAgent) {
        return builder.usePlaintext()
                .socketFactory(sockets)
                .transportExecutor(threads)
                .offloadExecutor(threads)
                .scheduledExecutorService(timer)
                .directExecutor()
                .proxyDetector(address -> null)
                .disableServiceConfigLookUp()
                .disableRetry()
                .maxTraceEvents(0)
                .maxInboundMessageSize(maxMessage)
                .userAgent(userAgent)
                .build();
    }
}
