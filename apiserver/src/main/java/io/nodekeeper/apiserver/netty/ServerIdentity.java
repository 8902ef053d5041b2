package io.nodekeeper.apiserver.netty;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * The certificate of a server, and the authorities of client certificates.
 *
 * @param key the private key
 * @param chain the certificate of the key, then its issuers
 * @param clientAuthorities the trusted authorities of clients; at least one, because none would mean those of the system
 */
public record ServerIdentity(PrivateKey key, List<X509Certificate> chain, List<X509Certificate> clientAuthorities) {
    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException if a list is empty
     */
    public ServerIdentity {
        chain = List.copyOf(chain);
        clientAuthorities = List.copyOf(clientAuthorities);
        if (chain.isEmpty() || clientAuthorities.isEmpty()) {
            throw new IllegalArgumentException("a server needs its certificate and an authority for clients, given: "
                    + chain.size() + " and " + clientAuthorities.size());
        }
    }

    /** Does not contain the key. */
    @Override
    public String toString() {
        return "ServerIdentity[" + chain.getFirst().getSubjectX500Principal() + "]";
    }
}
