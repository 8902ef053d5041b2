package io.nodekeeper.cli.guard;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContextBuilder;
import io.nodekeeper.cli.http.PeerCertificate;
import io.nodekeeper.client.access.Caller;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

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
        Optional<X509Certificate> certificate = PeerCertificate.of(connection);
        Optional<X509Certificate> ended = certificate.filter(shown -> PeerCertificate.hasEnded(shown, now));
        if (ended.isPresent()) {
            return ended.map(shown ->
                    "the client's certificate ended at " + shown.getNotAfter().toInstant());
        }
        if (names.isEmpty()) {
            return Optional.empty();
        }
        String name = certificate.flatMap(Caller::of).map(Caller::name).orElse("");
        return names.contains(name)
                ? Optional.empty()
                : Optional.of("the client \"" + name + "\" is none of those in --guard-client-names");
    }
}
