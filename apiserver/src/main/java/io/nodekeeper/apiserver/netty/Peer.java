package io.nodekeeper.apiserver.netty;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.request.User;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.security.auth.x500.X500Principal;
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
        try {
            X500Principal subject = certificate.getSubjectX500Principal();
            String name = "";
            List<String> groups = new ArrayList<>();
            for (Rdn part : new LdapName(subject.getName()).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")) {
                    name = part.getValue().toString();
                } else if (part.getType().equalsIgnoreCase("O")) {
                    groups.add(part.getValue().toString());
                }
            }
            return name.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new ClientCertificate(
                            User.authenticated(name, groups),
                            certificate.getNotAfter().toInstant()));
        } catch (InvalidNameException e) {
            log.warn("cannot read the subject of a client certificate: {}", e.getMessage());
            return Optional.empty();
        }
    }

    /** The address of the client, for messages. The channel may also be a stream of a connection. */
    static String address(Channel channel) {
        Channel connection = channel.parent() != null && channel.remoteAddress() == null ? channel.parent() : channel;
        return String.valueOf(connection.remoteAddress());
    }
}
