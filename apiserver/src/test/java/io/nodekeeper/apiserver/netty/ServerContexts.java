package io.nodekeeper.apiserver.netty;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Randoms;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/** What connections of a server share, without a network. */
final class ServerContexts {
    private ServerContexts() {}

    /** Of an empty server on {@code loop}, with {@code memory} bytes for unread responses. */
    static ServerContext of(Loop loop, long memory) {
        return of(loop, memory, Runnable::run);
    }

    /** The same, with {@code workers}. */
    static ServerContext of(Loop loop, long memory, Executor workers) {
        return of(
                new ApiServer(
                        new IndexedStore(loop, Journal.NONE),
                        loop,
                        Randoms.seeded(1),
                        new Authenticator(Map.of()),
                        "127.0.0.1:6443"),
                loop,
                memory,
                workers);
    }

    /** Of {@code server}, with {@code memory} bytes for bodies and as many for unread responses. */
    static ServerContext of(TestServer server, long memory) {
        return of(server, memory, Runnable::run);
    }

    /** The same, with {@code workers}. */
    static ServerContext of(TestServer server, long memory, Executor workers) {
        return of(server.server, server.loop, memory, workers);
    }

    /** Of {@code server}, whose store is on {@code loop}. */
    static ServerContext of(ApiServer server, Loop loop, long memory, Executor workers) {
        return new ServerContext(
                server,
                new HttpsOptions(
                        new InetSocketAddress("127.0.0.1", 0), loop.clock(), workers, Duration.ofSeconds(1), memory),
                Optional.empty());
    }
}
