package io.nodekeeper.cli;

import io.nodekeeper.client.Identity;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** The client's side of TLS, for an etcd that asks for it. */
final class ClientTls {
    private static final char[] NO_PASSWORD = {};

    private ClientTls() {}

    /**
     * A context for a client that shows {@code identity}, if any, and takes servers signed by {@code authorities}, or by
     * whom this machine trusts.
     */
    static SSLContext context(Optional<Identity> identity, Optional<List<X509Certificate>> authorities)
            throws IOException {
        try {
            KeyStore keys = empty();
            if (identity.isPresent()) {
                keys.setKeyEntry(
                        "client",
                        identity.get().key(),
                        NO_PASSWORD,
                        identity.get().chain().toArray(Certificate[]::new));
            }
            KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keyManagers.init(keys, NO_PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    keyManagers.getKeyManagers(), authorities.isPresent() ? trusting(authorities.get()) : null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS as a client cannot be set up: " + e.getMessage(), e);
        }
    }

    private static TrustManager[] trusting(List<X509Certificate> authorities)
            throws GeneralSecurityException, IOException {
        KeyStore trusted = empty();
        for (int i = 0; i < authorities.size(); i++) {
            trusted.setCertificateEntry("ca-" + i, authorities.get(i));
        }
        TrustManagerFactory trustManagers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trustManagers.init(trusted);
        return trustManagers.getTrustManagers();
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
