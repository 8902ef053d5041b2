package io.nodekeeper.client.http;

import io.nodekeeper.api.IpLiteral;
import java.net.InetAddress;
import java.net.URI;
import java.util.Optional;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * How a server is named.
 *
 * @param host its name or address, an IPv6 address without brackets
 * @param port its port
 * @param authority what the header {@code Host} says
 * @param literal the address, if the host is one
 * @param shown the name that TLS shows to the server, by which it chooses its certificate; may be an address
 */
record ServerName(String host, int port, String authority, Optional<InetAddress> literal, String shown) {

    /** The name of {@code server}; {@code shown} is the one that TLS shows, that of the host if it is empty. */
    static ServerName of(URI server, boolean isTls, String shown) {
        String name = server.getHost();
        if (name == null) {
            throw new IllegalArgumentException("the server \"" + server + "\" has no host name");
        }
        int named = server.getPort();
        int usual = isTls ? 443 : 80;
        int port = named < 0 ? usual : named;
        if (port == 0 || port > 65_535) {
            throw new IllegalArgumentException(
                    "the server \"" + server + "\" has port " + port + "; expected 1 to 65535");
        }
        String host = name.startsWith("[") ? name.substring(1, name.length() - 1) : name;
        return new ServerName(
                host, port, named < 0 ? name : name + ":" + port, IpLiteral.of(host), shown.isEmpty() ? host : shown);
    }

    /** TLS for one connection; the server's certificate must be for this host. */
    SSLEngine engine(SSLContext context) {
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setServerNames(shownName().stream().toList());
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** The name that TLS shows to the server: not an address (RFC 6066, 3), and not a name with a dot at its end. */
    private Optional<SNIServerName> shownName() {
        try {
            return IpLiteral.is(shown) ? Optional.empty() : Optional.of(new SNIHostName(shown));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
