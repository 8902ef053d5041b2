package io.nodekeeper.apiserver.netty.nodes;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.nodekeeper.client.config.TlsStores;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/**
 * How the server shows itself to the APIs of nodes. Immutable.
 *
 * @param chain its certificate as a client, and those that lead to its authority
 * @param authorities who signs the certificates of nodes; empty to accept any, as Kubernetes does by default
 */
public record NodeIdentity(PrivateKey key, List<X509Certificate> chain, List<X509Certificate> authorities) {
    /** Keeps copies. */
    public NodeIdentity {
        chain = List.copyOf(chain);
        authorities = List.copyOf(authorities);
    }

    /** Without the key. */
    @Override
    public String toString() {
        return chain.getFirst().getSubjectX500Principal().getName();
    }

    /**
     * The TLS of connections to nodes.
     *
     * @throws IllegalArgumentException if key and certificate cannot be used
     */
    public Tls tls() {
        try {
            // Nodes' names are often not in their certificates, and most certificates are self-signed.
            SslContext open = builder()
                    .trustManager(InsecureTrustManagerFactory.INSTANCE)
                    .endpointIdentificationAlgorithm(null)
                    .build();
            Optional<SslContext> verifying = authorities.isEmpty()
                    ? Optional.empty()
                    : Optional.of(builder()
                            .trustManager(authorities.toArray(X509Certificate[]::new))
                            .endpointIdentificationAlgorithm("HTTPS")
                            .build());
            return new Tls(open, verifying);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException(this + " cannot be used for TLS: " + e.getMessage(), e);
        }
    }

    private SslContextBuilder builder() throws GeneralSecurityException, IOException {
        return SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .keyManager(TlsStores.keys(key, chain))
                .protocols("TLSv1.3", "TLSv1.2");
    }

    /**
     * The server's side of TLS with nodes. Immutable.
     *
     * @param open accepts any certificate
     * @param verifying accepts those of known authorities, if there are any
     */
    public record Tls(SslContext open, Optional<SslContext> verifying) {

        /** What a call uses. */
        public SslContext context(boolean verified) {
            return verified ? verifying.orElse(open) : open;
        }
    }
}
