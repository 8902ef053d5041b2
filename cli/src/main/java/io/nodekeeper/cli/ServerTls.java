package io.nodekeeper.cli;

import io.nodekeeper.client.Identity;
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

    private ServerTls() {}

    /** A context that shows {@code identity} and takes client certificates signed by {@code clientAuthorities}. */
    static SSLContext context(Identity identity, List<X509Certificate> clientAuthorities) throws IOException {
        try {
            KeyStore keys = empty();
            keys.setKeyEntry(
                    "server", identity.key(), NO_PASSWORD, identity.chain().toArray(Certificate[]::new));
            KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keyManagers.init(keys, NO_PASSWORD);
            KeyStore trusted = empty();
            for (int i = 0; i < clientAuthorities.size(); i++) {
                trusted.setCertificateEntry("ca-" + i, clientAuthorities.get(i));
            }
            TrustManagerFactory trustManagers =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trustManagers.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keyManagers.getKeyManagers(), trustManagers.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS with certificate " + identity + " cannot be set up: " + e.getMessage(), e);
        }
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
