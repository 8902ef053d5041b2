package io.nodekeeper.apiserver.netty;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.client.certificates.Subject;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The client of a connection. */
final class Peer {
    private static final Logger log = LoggerFactory.getLogger(Peer.class);

    private Peer() {}

    /** The certificate of the client, if it sent one. The handshake has verified it. */
    static Optional<X509Certificate> certificate(SslHandler tls) {
        try {
            return Optional.of((X509Certificate) tls.engine().getSession().getPeerCertificates()[0]);
        } catch (SSLPeerUnverifiedException e) {
            // The client sent no certificate, which is allowed.
            return Optional.empty();
        }
    }

    /** The user of a certificate, CN is the name, each O a group, and how long it is valid. */
    static Optional<ClientCertificate> user(X509Certificate certificate) {
        Subject subject;
        try {
            subject = Subject.of(certificate.getSubjectX500Principal());
        } catch (IllegalArgumentException e) {
            log.warn("cannot read the subject of a client certificate: {}", e.getMessage());
            return Optional.empty();
        }
        return subject.commonName().isEmpty()
                ? Optional.empty()
                : Optional.of(new ClientCertificate(
                        User.authenticated(subject.commonName(), subject.organizations()),
                        certificate.getNotAfter().toInstant()));
    }

    /** The address of the client, for messages. The channel may also be a stream of a connection. */
    static String address(Channel channel) {
        Channel connection = channel.parent() != null && channel.remoteAddress() == null ? channel.parent() : channel;
        return String.valueOf(connection.remoteAddress());
    }
}
