package io.nodekeeper.apiserver.netty;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Randoms;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** What connections of a server share, without a network. */
final class ServerContexts {
    private ServerContexts() {}

    /** Of an empty server on {@code loop}, with {@code memory} bytes for unread responses. */
    static ServerContext of(Loop loop, long memory) {
        return new ServerContext(
                new ApiServer(
                        new IndexedStore(loop, Journal.NONE),
                        loop,
                        Randoms.seeded(1),
                        new Authenticator(Map.of()),
                        "127.0.0.1:6443"),
                new HttpsOptions(
                        new InetSocketAddress("127.0.0.1", 0),
                        loop.clock(),
                        Runnable::run,
                        Duration.ofSeconds(1),
                        memory),
                Optional.empty());
    }
}
