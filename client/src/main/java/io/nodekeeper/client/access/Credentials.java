package io.nodekeeper.client.access;

import java.util.Optional;

/**
 * What a request shows of its sender.
 *
 * @param certificate the user of the client certificate, which the handshake has verified
 * @param authorization the header {@code Authorization}; empty if there is none
 * @param source where the request comes from, an address without a port; its reviews are counted
 */
public record Credentials(Optional<Caller> certificate, String authorization, String source) {
    private static final String SCHEME = "Bearer ";

    /** The bearer token; empty without one, and for other schemes. */
    Optional<String> token() {
        return authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                ? Optional.of(authorization.substring(SCHEME.length()).strip()).filter(token -> !token.isEmpty())
                : Optional.empty();
    }

    /** Without the token. */
    @Override
    public String toString() {
        return certificate.map(Caller::name).orElse(token().isPresent() ? "a token" : "no credentials") + " from "
                + source;
    }
}
