package io.nodekeeper.apiserver.netty;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLException;

/** The server's side of TLS. */
final class ServerTls {
    private ServerTls() {}

    /**
     * TLS 1.2 and newer, with HTTP/2 before HTTP/1.1 and optional client certificates. Uses OpenSSL if available: its
     * handshakes cost a quarter of the JDK's, which matters when a whole fleet reconnects; records cost the same.
     */
    static SslContext context(ServerIdentity identity) {
        try {
            return SslContextBuilder.forServer(identity.key(), identity.chain().toArray(X509Certificate[]::new))
                    .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK)
                    .trustManager(identity.clientAuthorities().toArray(X509Certificate[]::new))
                    .clientAuth(ClientAuth.OPTIONAL)
                    .protocols("TLSv1.3", "TLSv1.2")
                    .applicationProtocolConfig(new ApplicationProtocolConfig(
                            ApplicationProtocolConfig.Protocol.ALPN,
                            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                            ApplicationProtocolNames.HTTP_2,
                            ApplicationProtocolNames.HTTP_1_1))
                    .build();
        } catch (SSLException e) {
            throw new IllegalArgumentException(identity + " cannot be used for TLS: " + e.getMessage(), e);
        }
    }
}
