package io.nodekeeper.client.config;

import java.net.URI;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/**
 * The address of an API server, the way to verify it, and the client's credentials. Immutable.
 *
 * @param server its address, {@code https://host:port}, with an optional path prefix; plain http is possible
 * @param authorities the certificate authorities to trust; empty for those of the Java installation
 * @param skipVerify whether to accept any certificate
 * @param tlsServerName the name that its certificate must have instead of the address's; empty for the address's
 * @param identity the client certificate, if there is one
 * @param identityFiles where that is from, if it is from files; read again every minute
 * @param token the bearer token; empty for none
 * @param tokenFile a file whose content is the token, read again every minute; takes precedence over {@code token}
 * @param plugin the program that provides token or certificate, if the others do not
 */
public record ServerAccess(
        URI server,
        List<X509Certificate> authorities,
        boolean skipVerify,
        String tlsServerName,
        Optional<Identity> identity,
        Optional<IdentityFiles> identityFiles,
        String token,
        Optional<Path> tokenFile,
        Optional<ExecPlugin> plugin) {

    /** Copies the list. */
    public ServerAccess {
        authorities = List.copyOf(authorities);
    }

    /** Access without a plugin, with a certificate that stays. */
    public ServerAccess(
            URI server,
            List<X509Certificate> authorities,
            boolean skipVerify,
            String tlsServerName,
            Optional<Identity> identity,
            String token,
            Optional<Path> tokenFile) {
        this(
                server,
                authorities,
                skipVerify,
                tlsServerName,
                identity,
                Optional.empty(),
                token,
                tokenFile,
                Optional.empty());
    }

    /** Access to another address with the same credentials and authorities. */
    public ServerAccess at(URI address) {
        return new ServerAccess(
                address, authorities, skipVerify, tlsServerName, identity, identityFiles, token, tokenFile, plugin);
    }

    /** The same access with another client certificate. */
    public ServerAccess as(Optional<Identity> other) {
        return new ServerAccess(
                server, authorities, skipVerify, tlsServerName, other, identityFiles, token, tokenFile, plugin);
    }

    /** Access with a client certificate to a server whose certificate {@code authority} signed. */
    public static ServerAccess withCertificate(URI server, X509Certificate authority, Identity identity) {
        return new ServerAccess(server, List.of(authority), false, "", Optional.of(identity), "", Optional.empty());
    }

    /** Access with a bearer token to a server whose certificate {@code authority} signed. */
    public static ServerAccess withToken(URI server, X509Certificate authority, String token) {
        return new ServerAccess(server, List.of(authority), false, "", Optional.empty(), token, Optional.empty());
    }

    /** The address and the user, without secrets. */
    @Override
    public String toString() {
        String shown = token.isEmpty() ? plugin.map(ExecPlugin::toString).orElse("anonymous") : "token";
        String user = identity.map(Identity::toString)
                .orElse(tokenFile.map(file -> "token of " + file).orElse(shown));
        return server + " as " + user;
    }
}
