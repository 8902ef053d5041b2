package io.nodekeeper.cri;

import io.grpc.ManagedChannel;
import io.nodekeeper.cri.socket.UnixChannel;
import io.nodekeeper.time.ThreadPool;
import io.nodekeeper.time.TimerThread;
import java.nio.file.Path;

/** Channels for tests that speak CRI themselves, with the generated stubs. */
public final class CriChannels {
    private CriChannels() {}

    /** A channel to the runtime at {@code socket}; connects and reconnects when needed. Thread-safe; must be shut down. */
    public static ManagedChannel open(Path socket) {
        return new UnixChannel(
                        socket, Connection.MAX_MESSAGE, new ThreadPool("cri-test", 3), TimerThread.named("cri-test"))
                .grpc();
    }
}
