package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
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

    private static final String REVIEW = "Webhook";
    private static final String ALLOW = "AlwaysAllow";

    /** Reads {@code address}, the fields of TLS, and those inside of {@code authentication} and {@code authorization}. */
    static NodeApiConfig read(ConfigFields fields) {
        ConfigFields access = fields.inside("authentication", "authorization");
        return new NodeApiConfig(
                fields.address("address").orElse(DEFAULT.address),
                fields.path("tlsCertFile"),
                fields.path("tlsPrivateKeyFile"),
                access.path("authentication.x509.clientCAFile"),
                fields.bool("serverTLSBootstrap").orElse(DEFAULT.issued),
                access.bool("authentication.anonymous.enabled").orElse(DEFAULT.anonymous),
                access.bool("authentication.webhook.enabled").orElse(DEFAULT.reviewTokens),
                access.either("authorization.mode", REVIEW, ALLOW)
                        .map(REVIEW::equals)
                        .orElse(DEFAULT.authorize),
                ttl(access, "authentication.webhook.cacheTTL", DEFAULT.tokenTtl),
                ttl(access, "authorization.webhook.cacheAuthorizedTTL", DEFAULT.allowedTtl),
                ttl(access, "authorization.webhook.cacheUnauthorizedTTL", DEFAULT.deniedTtl));
    }

    /** A duration; 0 means the default, as in Kubernetes. */
    private static Duration ttl(ConfigFields fields, String path, Duration usual) {
        return fields.duration(path, "a duration like 2m", ttl -> !ttl.isNegative())
                .filter(ttl -> !ttl.isZero())
                .orElse(usual);
    }

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
