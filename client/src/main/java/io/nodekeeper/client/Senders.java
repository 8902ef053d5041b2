package io.nodekeeper.client;

import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.ExecCredentials;
import io.nodekeeper.client.config.ExecPlugin;
import io.nodekeeper.client.config.ExecRun;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentitySource;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.config.TokenSource;
import io.nodekeeper.client.http.HttpConnections;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLContext;

/**
 * Knows how a call authenticates: with which token, and with which client certificate, for which it renews the connections. Both may
 * change, and a plugin may have to provide them first. Thread-safe.
 */
final class Senders {
    private final ServerAccess access;
    private final HttpConnections connections;
    private final TokenSource token;
    private final Optional<Plugin> plugin;
    /** Empty if the certificate is not from files, or a plugin provides one. */
    private final Optional<IdentitySource> files;

    /** Fails when this is closed; never completes otherwise. */
    private final CompletableFuture<Sender> closed = new CompletableFuture<>();

    private Optional<Identity> shown;

    /** The token for a call, and what to do if the server refuses it with 401. */
    record Sender(String bearer, Runnable refused) {}

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

    /**
     * Senders for connections that show the certificate of {@code access}, if there is one.
     *
     * @throws IllegalArgumentException if the token file of {@code access} cannot be used
     */
    Senders(ServerAccess access, HttpConnections connections, Executor threads) {
        this.access = access;
        this.connections = connections;
        this.shown = access.identity();
        this.token = new TokenSource(access, new SystemClock(), threads);
        // A static credential has precedence over a plugin, as in client-go.
        this.plugin = access.token().isEmpty() && access.tokenFile().isEmpty()
                ? access.plugin().map(Plugin::of)
                : Optional.empty();
        this.files = plugin.isPresent()
                ? Optional.empty()
                : access.identityFiles()
                        .flatMap(paths -> access.identity()
                                .map(read -> new IdentitySource(paths, read, new SystemClock(), threads, this::renew)));
    }

    /** The sender for a call now; fails with CredentialException if the plugin provides no credential. */
    CompletableFuture<Sender> current() {
        files.ifPresent(IdentitySource::look);
        if (plugin.isEmpty()) {
            return CompletableFuture.completedFuture(new Sender(token.current(), () -> {}));
        }
        ExecCredentials credentials = plugin.get().credentials;
        return credentials
                .current()
                .thenApply(credential -> {
                    show(credential.identity().or(access::identity));
                    return new Sender(credential.token(), () -> credentials.refused(credential));
                })
                .applyToEither(closed, sender -> sender);
    }

    /** Uses another client certificate from now on, unless the plugin provides certificates. */
    void renew(Identity identity) {
        if (plugin.isEmpty()) {
            show(Optional.of(identity));
        }
    }

    /** Ends the plugin, and fails what waits for it. */
    void close() {
        plugin.ifPresent(Plugin::close);
        closed.completeExceptionally(new IOException("the client is closed"));
    }

    private synchronized void show(Optional<Identity> identity) {
        if (!shown.equals(identity)) {
            // First, because a certificate and a key may not fit.
            Optional<SSLContext> context = tls(access.as(identity));
            shown = identity;
            connections.renew(context);
        }
    }

    /**
     * TLS for the connections of {@code access}; empty for plain HTTP.
     *
     * @throws IllegalArgumentException if keys or certificates cannot be used
     */
    static Optional<SSLContext> tls(ServerAccess access) {
        return "https".equals(access.server().getScheme()) ? Optional.of(ClientTls.context(access)) : Optional.empty();
    }
}
