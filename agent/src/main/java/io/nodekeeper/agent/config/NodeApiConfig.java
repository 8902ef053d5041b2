package io.nodekeeper.agent.config;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Options of the node's API on the kubelet's port, which is served with the gate {@code PodLifecycle}. Immutable.
 *
 * @param address where it listens (0.0.0.0)
 * @param certificate {@code tlsCertFile}; without it the agent makes a certificate
 * @param key {@code tlsPrivateKeyFile}, with {@code certificate}
 * @param clientAuthorities {@code authentication.x509.clientCAFile}: who signs the certificates of clients
 * @param issued whether the cluster issues the certificate ({@code serverTLSBootstrap}, false)
 * @param anonymous whether clients without credentials are {@code system:anonymous} (false)
 * @param reviewTokens whether the API server is asked for the users of bearer tokens (true)
 * @param authorize whether the API server is asked what a user may do (true); otherwise every user may do everything
 * @param tokenTtl how long a valid token is remembered (2 min)
 * @param allowedTtl how long a right is remembered (5 min)
 * @param deniedTtl how long the lack of a right is remembered (30 s)
 */
public record NodeApiConfig(
        InetAddress address,
        Optional<Path> certificate,
        Optional<Path> key,
        Optional<Path> clientAuthorities,
        boolean issued,
        boolean anonymous,
        boolean reviewTokens,
        boolean authorize,
        Duration tokenTtl,
        Duration allowedTtl,
        Duration deniedTtl) {
    /** The kubelet's defaults. */
    public static final NodeApiConfig DEFAULT = new NodeApiConfig(
            InetAddress.ofLiteral("0.0.0.0"),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            false,
            false,
            true,
            true,
            Duration.ofMinutes(2),
            Duration.ofMinutes(5),
            Duration.ofSeconds(30));

    /** The same at another address. */
    public NodeApiConfig at(InetAddress other) {
        return new NodeApiConfig(
                other,
                certificate,
                key,
                clientAuthorities,
                issued,
                anonymous,
                reviewTokens,
                authorize,
                tokenTtl,
                allowedTtl,
                deniedTtl);
    }
}
