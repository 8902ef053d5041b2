package io.nodekeeper.apiserver.netty;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * How a server proves itself, and whom it believes about clients.
 *
 * @param key the private key
 * @param chain the certificate of the key, then those that vouch for it
 * @param clientAuthorities who may vouch for clients; at least one, since none would mean the authorities of the machine
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

    /** Names no key. */
    @Override
    public String toString() {
        return "ServerIdentity[" + chain.getFirst().getSubjectX500Principal() + "]";
    }
}
