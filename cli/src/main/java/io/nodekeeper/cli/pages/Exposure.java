package io.nodekeeper.cli.pages;

import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.nodekeeper.cli.certs.CertificateReload;
import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.cli.http.PeerCertificate;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.access.Caller;
import io.nodekeeper.client.access.Credentials;
import io.nodekeeper.client.access.DelegatedAccess;
import io.nodekeeper.client.access.PageRight;
import io.nodekeeper.client.access.Refusal;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.tls.TlsTurns;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;

/**
 * Protects pages that other machines may read: TLS with a certificate that is read again when its files change, or that
 * this process generates, and callers whom the cluster authenticates and authorizes. It has its own loop and its own
 * connections to the API server, so that a busy controller delays no check, and an observing one keeps to reading.
 * Thread-safe.
 */
public final class Exposure implements AutoCloseable {
    /** When a generated certificate is replaced: well before the year for which it is valid ends. */
    private static final Duration REPLACED_AFTER = Duration.ofDays(30);
    /** The deadline for reading small files: only a file system that hangs takes longer. */
    private static final Duration FILES_LIMIT = Duration.ofSeconds(10);
    /** The timeout of a TLS handshake; clients have 10 s for their whole request. */
    private static final Duration HANDSHAKE = Duration.ofSeconds(5);
    /** The default deadline of calls; reviews have their own, which is shorter. */
    private static final Duration CALL_LIMIT = Duration.ofSeconds(10);

    private final ThreadLoop loop = new ThreadLoop("pages-access");
    private final Workers files = new Workers("pages-files", 1, loop);
    private final TlsTurns turns = new TlsTurns(HANDSHAKE, loop.clock());
    private final Settings settings;
    private final HttpTransport transport;
    private final DelegatedAccess access;
    /** Empty until the first certificate is there. */
    private volatile Optional<SslContext> tls = Optional.empty();

    /**
     * What the flags say.
     *
     * @param identity where the certificate is; empty to generate one
     * @param clientAuthorities signed the certificates of clients; if empty, clients need bearer tokens
     * @param open whether every client may read the page at a path
     * @param rights path → what its readers must be allowed to get
     * @param times how long the cluster's decisions are kept
     */
    public record Settings(
            Optional<IdentityFiles> identity,
            List<X509Certificate> clientAuthorities,
            Predicate<String> open,
            Function<String, PageRight> rights,
            DelegatedAccess.Times times) {
        /** Keeps a copy. */
        public Settings {
            clientAuthorities = List.copyOf(clientAuthorities);
        }
    }

    private Exposure(Settings settings, ServerAccess server) {
        this.settings = settings;
        transport = new HttpTransport(server);
        access = new DelegatedAccess(new KubeClient(transport, loop, CALL_LIMIT), settings.times());
    }

    private void identify(InetAddress address) throws IOException {
        Optional<IdentityFiles> given = settings.identity();
        Identity identity =
                given.isPresent() ? given.get().read("--tls-cert-file", "--tls-private-key-file") : generated(address);
        use(identity);
        given.ifPresentOrElse(
                shown -> new CertificateReload(
                                loop,
                                shown,
                                () -> files.call("reading the pages' certificate", FILES_LIMIT, shown::read),
                                identity,
                                this::use)
                        .start(),
                () -> replaceLater(address));
    }

    /**
     * Begins with {@code settings}, for pages at {@code address}; {@code server} decides who may read them.
     *
     * @throws IOException if a file cannot be read
     */
    public static Exposure start(Settings settings, InetAddress address, ServerAccess server) throws IOException {
        Exposure exposure = new Exposure(settings, server);
        try {
            exposure.identify(address);
        } catch (IOException | RuntimeException e) {
            exposure.close();
            throw e;
        }
        return exposure;
    }

    /** The same without a certificate: handshakes fail until {@link #use} brings one. */
    public static Exposure withoutCertificate(Settings settings, ServerAccess server) {
        return new Exposure(settings, server);
    }

    /** Asks the cluster with another client certificate. */
    public void renew(Identity identity) {
        transport.renew(identity);
    }

    /** Uses {@code identity} for new connections. IllegalArgumentException if it is unusable. */
    public void use(Identity identity) {
        tls = Optional.of(context(identity));
    }

    private void replaceLater(InetAddress address) {
        loop.schedule(REPLACED_AFTER, () -> {
            use(generated(address));
            replaceLater(address);
        });
    }

    /** An identity whose keys never leave this process. Clients cannot verify it, as with a kubelet's own. */
    private Identity generated(InetAddress address) {
        Set<String> names = new LinkedHashSet<>(List.of("localhost", "127.0.0.1"));
        if (!address.isAnyLocalAddress()) {
            names.add(address.getHostAddress());
        }
        return Issuer.selfMade("nodekeeper-pages", names, loop.clock().wallTime(), Randoms.secure());
    }

    private SslContext context(Identity identity) {
        try {
            SslContextBuilder builder = SslContextBuilder.forServer(
                            identity.key(), identity.chain().toArray(X509Certificate[]::new))
                    .protocols("TLSv1.3", "TLSv1.2");
            if (!settings.clientAuthorities().isEmpty()) {
                builder.trustManager(settings.clientAuthorities().toArray(X509Certificate[]::new))
                        .clientAuth(ClientAuth.OPTIONAL);
            }
            return builder.build();
        } catch (SSLException e) {
            throw new IllegalArgumentException("the certificate " + identity + " is unusable: " + e.getMessage(), e);
        }
    }

    /** Adds TLS to the end of a new connection's pipeline. */
    public void secure(Channel connection) {
        if (tls.isEmpty()) {
            connection.pipeline().addLast(new NoCertificateHandler());
        } else {
            turns.secure(connection, tls.get());
        }
    }

    /** The page that refuses {@code request} for {@code path}; empty if its sender may read it. Never fails. */
    CompletableFuture<Optional<Page>> check(Channel connection, HttpRequest request, String path) {
        if (settings.open().test(path)) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return access.check(
                        credentials(connection, request.headers().get(HttpHeaderNames.AUTHORIZATION, "")),
                        settings.rights().apply(path))
                .thenApply(refusal -> refusal.map(Refusal::page));
    }

    /** The reason to refuse a request that requires {@code right}, for any path; empty if there is none. Never fails. */
    public CompletableFuture<Optional<Refusal>> check(Credentials credentials, PageRight right) {
        return access.check(credentials, right);
    }

    /** The reason to refuse a caller who may do everything once he is known; empty if he is. Never fails. */
    public CompletableFuture<Optional<Refusal>> check(Credentials credentials) {
        return access.check(credentials);
    }

    /**
     * What the client of {@code connection} shows, with its header {@code Authorization}, which may be empty. A
     * certificate that has ended since the handshake does not count.
     */
    public Credentials credentials(Channel connection, String authorization) {
        String source = connection.remoteAddress() instanceof InetSocketAddress address
                ? address.getAddress().getHostAddress()
                : String.valueOf(connection.remoteAddress());
        Instant now = loop.clock().wallTime();
        Optional<X509Certificate> current =
                PeerCertificate.of(connection).filter(shown -> !PeerCertificate.hasEnded(shown, now));
        return new Credentials(current.flatMap(Caller::of), authorization, source);
    }

    @Override
    public void close() {
        files.close();
        transport.close();
        loop.close();
    }
}
