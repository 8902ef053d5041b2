package io.nodekeeper.apiserver.netty;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.nodekeeper.client.config.TlsStores;
import java.io.IOException;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;

/** The server's side of TLS. */
final class ServerTls {
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

    private ServerTls() {}

    /**
     * TLS 1.2 and newer, with HTTP/2 before HTTP/1.1 and optional client certificates. The context is the JDK's. Netty's
     * builder of server contexts would load BouncyCastle to test the JDK with a key of its own, which takes 0.2 s of each start.
     *
     * @throws IllegalArgumentException if the identity cannot be used
     */
    static SslContext context(ServerIdentity identity) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    TlsStores.keys(identity.key(), identity.chain()).getKeyManagers(),
                    TlsStores.trust(identity.clientAuthorities()).getTrustManagers(),
                    null);
            return new JdkSslContext(
                    context,
                    false,
                    null,
                    SupportedCipherSuiteFilter.INSTANCE,
                    new ApplicationProtocolConfig(
                            ApplicationProtocolConfig.Protocol.ALPN,
                            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                            ApplicationProtocolNames.HTTP_2,
                            ApplicationProtocolNames.HTTP_1_1),
                    ClientAuth.OPTIONAL,
                    PROTOCOLS,
                    false);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException(identity + " cannot be used for TLS: " + e.getMessage(), e);
        }
    }
}
