package io.nodekeeper.client.config;

import java.net.URI;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/**
 * Where an API server is, how to know it, and how to be known to it. Immutable.
 *
 * @param server its address, {@code https://host:port} and maybe a path in front of all others; plain http is possible
 * @param authorities the certificate authorities that may vouch for it; empty for those of the Java installation
 * @param skipVerify whether any certificate will do
 * @param tlsServerName the name that its certificate must bear instead of the address's; empty for the address's own
 * @param identity the client certificate, if there is one
 * @param token the bearer token; empty for none
 * @param tokenFile a file whose content is the token, read again every minute; goes before {@code token}
 */
public record ServerAccess(
        URI server,
        List<X509Certificate> authorities,
        boolean skipVerify,
        String tlsServerName,
        Optional<Identity> identity,
        String token,
        Optional<Path> tokenFile) {

    /** Copies the list. */
    public ServerAccess {
        authorities = List.copyOf(authorities);
    }

    /** Access with a client certificate, the server being vouched for by {@code authority}. */
    public static ServerAccess withCertificate(URI server, X509Certificate authority, Identity identity) {
        return new ServerAccess(server, List.of(authority), false, "", Optional.of(identity), "", Optional.empty());
    }

    /** Access with a bearer token, the server being vouched for by {@code authority}. */
    public static ServerAccess withToken(URI server, X509Certificate authority, String token) {
        return new ServerAccess(server, List.of(authority), false, "", Optional.empty(), token, Optional.empty());
    }

    /** The address and the user, without secrets. */
    @Override
    public String toString() {
        String user = identity.map(Identity::toString)
                .orElse(tokenFile.map(file -> "token of " + file).orElse(token.isEmpty() ? "anonymous" : "token"));
        return server + " as " + user;
    }
}
