package io.nodekeeper.client.config;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * Who one side of a TLS connection is, and the proof. Immutable.
 *
 * @param key the private key
 * @param chain its certificate first, then those that lead to the authority
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

    /** The subject's name; the key stays secret. */
    @Override
    public String toString() {
        return certificate().getSubjectX500Principal().getName();
    }
}
