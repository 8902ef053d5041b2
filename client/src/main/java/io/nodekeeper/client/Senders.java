package io.nodekeeper.client;

import io.netty.channel.EventLoop;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.ExecCredentials;
import io.nodekeeper.client.config.ExecPlugin;
import io.nodekeeper.client.config.ExecRun;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.config.TokenSource;
import io.nodekeeper.client.http.HttpConnections;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.ThreadLoop;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Knows how a call authenticates: over which connections, because each client certificate has its own, and with which token. Both may
 * change, and a plugin may have to provide them first. Thread-safe.
 */
final class Senders {
    private final ServerAccess access;
    private final EventLoop network;
    private final Executor threads;
    private final TokenSource token;
    private final Optional<Plugin> plugin;
    private volatile Way way;

    /** The connections and the token for a call, and what to do if the server refuses them with 401. */
    record Sender(HttpConnections http, String bearer, Runnable refused) {}

    /** The connections of one client certificate. */
    private record Way(Optional<Identity> identity, HttpConnections http) {}

    /** A credential plugin with its loop. */
    private record Plugin(ThreadLoop loop, ExecRun run, ExecCredentials credentials) {
        static Plugin of(ExecPlugin plugin) {
            ThreadLoop loop = new ThreadLoop("credentials");
            ExecRun run = new ExecRun(plugin, loop);
            return new Plugin(loop, run, new ExecCredentials(loop, run::run));
        }

        void close() {
            run.close();
            loop.close();
        }
    }

    /** @throws IllegalArgumentException if the keys, certificates or the token file of {@code access} cannot be used */
    Senders(ServerAccess access, EventLoop network, Executor threads) {
        this.access = access;
        this.network = network;
        this.threads = threads;
        this.token = new TokenSource(access, new SystemClock(), threads);
        this.way = new Way(access.identity(), connections(access.identity()));
        // A static credential has precedence over a plugin, as in client-go.
        this.plugin = access.token().isEmpty() && access.tokenFile().isEmpty()
                ? access.plugin().map(Plugin::of)
                : Optional.empty();
    }

    /** The sender for a call now; fails with CredentialException if the plugin provides no credential. */
    CompletableFuture<Sender> current() {
        if (plugin.isEmpty()) {
            return CompletableFuture.completedFuture(new Sender(way.http, token.current(), () -> {}));
        }
        ExecCredentials credentials = plugin.get().credentials;
        return credentials
                .current()
                .thenApply(credential -> new Sender(
                        http(credential.identity().or(access::identity)),
                        credential.token(),
                        () -> credentials.refused(credential)));
    }

    /** Uses another client certificate from now on, unless the plugin provides certificates. */
    void renew(Identity identity) {
        if (plugin.isEmpty()) {
            http(Optional.of(identity));
        }
    }

    void close() {
        plugin.ifPresent(Plugin::close);
    }

    /** The connections for that certificate. A new certificate needs new connections; the old ones end with their calls. */
    private synchronized HttpConnections http(Optional<Identity> identity) {
        Way now = way;
        if (!now.identity.equals(identity)) {
            way = new Way(identity, connections(identity));
            now.http.retire();
        }
        return way.http;
    }

    private HttpConnections connections(Optional<Identity> identity) {
        boolean isTls = "https".equals(access.server().getScheme());
        return new HttpConnections(
                network,
                threads,
                access.server(),
                isTls ? Optional.of(ClientTls.context(access.as(identity))) : Optional.empty());
    }
}
