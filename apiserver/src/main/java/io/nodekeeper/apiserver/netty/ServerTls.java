package io.nodekeeper.apiserver.netty;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The server's side of TLS. */
final class ServerTls {
    private static final char[] NO_PASSWORD = {};
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
            context.init(keys(identity).getKeyManagers(), trust(identity).getTrustManagers(), null);
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

    private static KeyManagerFactory keys(ServerIdentity identity) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        store.setKeyEntry(
                "server", identity.key(), NO_PASSWORD, identity.chain().toArray(Certificate[]::new));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory;
    }

    private static TrustManagerFactory trust(ServerIdentity identity) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        List<X509Certificate> authorities = identity.clientAuthorities();
        for (int i = 0; i < authorities.size(); i++) {
            store.setCertificateEntry("ca-" + i, authorities.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory;
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
