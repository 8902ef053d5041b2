package io.nodekeeper.client.config;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStore.PasswordProtection;
import java.security.KeyStore.PrivateKeyEntry;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.crypto.spec.PBEParameterSpec;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/** Gives keys and authorities to TLS, which takes them only from key stores. The stores exist in memory only. */
public final class TlsStores {
    private static final char[] NO_PASSWORD = {};
    /** How a key in a store is encrypted. The password is empty, so nothing needs to be derived from it 10,000 times. */
    private static final String ENCRYPTION = "PBEWithHmacSHA256AndAES_256";

    private static final PBEParameterSpec ONCE = new PBEParameterSpec(new byte[8], 1);

    private TlsStores() {}

    /**
     * The keys of one side.
     *
     * @param chain the certificate of {@code key}, then its issuers
     * @throws GeneralSecurityException if key and certificate cannot be used
     */
    public static KeyManagerFactory keys(PrivateKey key, List<X509Certificate> chain)
            throws GeneralSecurityException, IOException {
        PrivateKeyEntry entry;
        try {
            entry = new PrivateKeyEntry(key, chain.toArray(Certificate[]::new));
        } catch (IllegalArgumentException e) {
            throw new KeyStoreException(e.getMessage(), e);
        }
        KeyStore store = empty();
        store.setEntry("key", entry, new PasswordProtection(NO_PASSWORD, ENCRYPTION, ONCE));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory;
    }

    /** What trusts {@code authorities}. Without any it trusts nothing. */
    public static TrustManagerFactory trust(List<X509Certificate> authorities)
            throws GeneralSecurityException, IOException {
        KeyStore store = empty();
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
