package io.nodekeeper.cli.guard;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.nodekeeper.client.access.Caller;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * Who may send reviews: the API server's client certificate proves that it is one. Immutable.
 *
 * @param authorities sign the certificates of clients; if empty, every client may send reviews
 * @param names the common names that their certificates may have; if empty, any
 */
record ReviewClients(List<X509Certificate> authorities, List<String> names) {
    /** Every client. */
    static final ReviewClients ALL = new ReviewClients(List.of(), List.of());

    ReviewClients {
        authorities = List.copyOf(authorities);
        names = List.copyOf(names);
    }

    /** Demands a certificate in each handshake. */
    SslContextBuilder demand(SslContextBuilder tls) {
        return authorities.isEmpty()
                ? tls
                : tls.trustManager(authorities.toArray(X509Certificate[]::new)).clientAuth(ClientAuth.REQUIRE);
    }

    /**
     * Why the client of {@code connection} may send no reviews. The handshake has verified its certificate, which may
     * have ended since.
     */
    Optional<String> fault(Channel connection, Instant now) {
        if (authorities.isEmpty() && names.isEmpty()) {
            return Optional.empty();
        }
        Optional<X509Certificate> certificate = certificate(connection);
        Optional<Instant> ended =
                certificate.map(shown -> shown.getNotAfter().toInstant()).filter(end -> end.isBefore(now));
        if (ended.isPresent()) {
            return Optional.of("the client's certificate ended at " + ended.get());
        }
        if (names.isEmpty()) {
            return Optional.empty();
        }
        String name = certificate.flatMap(Caller::of).map(Caller::name).orElse("");
        return names.contains(name)
                ? Optional.empty()
                : Optional.of("the client \"" + name + "\" is none of those in --guard-client-names");
    }

    private static Optional<X509Certificate> certificate(Channel connection) {
        SslHandler handler = connection.pipeline().get(SslHandler.class);
        try {
            return Optional.of((X509Certificate) handler.engine().getSession().getPeerCertificates()[0]);
        } catch (SSLPeerUnverifiedException e) {
            return Optional.empty();
        }
    }
}
