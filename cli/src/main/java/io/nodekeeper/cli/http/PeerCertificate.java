package io.nodekeeper.cli.http;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.SSLPeerUnverifiedException;

/** The certificate that the client of a connection over TLS showed. Stateless. */
public final class PeerCertificate {
    private PeerCertificate() {}

    /** The certificate, which the handshake has verified and which may have ended since; empty if the client showed none. */
    public static Optional<X509Certificate> of(Channel connection) {
        SslHandler handler = connection.pipeline().get(SslHandler.class);
        try {
            return Optional.of((X509Certificate) handler.engine().getSession().getPeerCertificates()[0]);
        } catch (SSLPeerUnverifiedException e) {
            return Optional.empty();
        }
    }

    /** Whether {@code certificate} has ended before {@code now}. */
    public static boolean hasEnded(X509Certificate certificate, Instant now) {
        return certificate.getNotAfter().toInstant().isBefore(now);
    }
}
