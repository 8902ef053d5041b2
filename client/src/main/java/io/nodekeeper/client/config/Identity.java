package io.nodekeeper.client.config;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * The certificate and key of one side of a TLS connection. Immutable.
 * @param key the private key
 * @param chain its certificate, followed by intermediate certificates
 */
public record Identity(PrivateKey key, List<X509Certificate> chain) {

    /** Rejects a key without a certificate. */
    public Identity {
        chain = List.copyOf(chain);
        if (chain.isEmpty()) {
            throw new IllegalArgumentException("an identity needs at least one certificate");
        }
    }

    /** The certificate of the key. */
    public X509Certificate certificate() {
        return chain.getFirst();
    }

    /** The subject's name, without the key. */
    @Override
    public String toString() {
        return certificate().getSubjectX500Principal().getName();
    }
}
