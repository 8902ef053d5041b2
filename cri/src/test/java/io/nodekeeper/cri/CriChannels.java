package io.nodekeeper.cri;

import io.grpc.ManagedChannel;
import io.nodekeeper.time.TimerThread;
import java.nio.file.Path;
import java.util.concurrent.Executors;

/** Channels for tests that speak CRI themselves, with the generated stubs. */
public final class CriChannels {
    private CriChannels() {}

    /** A channel to the runtime at {@code socket}; connects and reconnects when needed. Thread-safe; must be shut down. */
    public static ManagedChannel open(Path socket) {
        return new Connection(socket, Executors.newVirtualThreadPerTaskExecutor(), TimerThread.named("cri-test"))
                .channel();
    }
}
