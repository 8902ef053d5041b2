package io.nodekeeper.agent.companion;

import io.nodekeeper.client.config.ServerAccess;
import java.net.URI;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/**
 * How a companion reaches the kubelet of its machine, always over the loopback address. Immutable.
 *
 * @param healthPort the port of the health check over plain HTTP (10248)
 * @param port the port of the kubelet's API over TLS (10250)
 * @param authorities what the kubelet's serving certificate is verified with: its authority, or itself; empty if the
 *     metrics are not to be read
 */
public record KubeletAccess(int healthPort, int port, List<X509Certificate> authorities) {
    /** The kubelet's default of {@code healthzPort}. */
    public static final int HEALTH_PORT = 10_248;
    /** The kubelet's default of {@code port}. */
    public static final int PORT = 10_250;

    /** Copies the list. */
    public KubeletAccess {
        authorities = List.copyOf(authorities);
    }

    ServerAccess health() {
        return new ServerAccess(
                URI.create("http://127.0.0.1:" + healthPort),
                List.of(),
                false,
                "",
                Optional.empty(),
                "",
                Optional.empty());
    }

    /**
     * The metrics, with the credentials for the API server: the kubelet asks it about them. The certificate must be for the
     * node's name. Empty without an authority: credentials are sent only to a kubelet that is verified.
     */
    Optional<ServerAccess> metrics(ServerAccess server, String nodeName) {
        return authorities.isEmpty()
                ? Optional.empty()
                : Optional.of(new ServerAccess(
                        URI.create("https://127.0.0.1:" + port),
                        authorities,
                        false,
                        nodeName,
                        server.identity(),
                        server.identityFiles(),
                        server.token(),
                        server.tokenFile(),
                        Optional.empty()));
    }
}
