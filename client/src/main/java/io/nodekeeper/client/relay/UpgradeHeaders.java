package io.nodekeeper.client.relay;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Locale;

/**
 * The headers with which a client asks for another protocol. Only these are passed on: credentials and whatever else a
 * client sends stay here.
 */
public final class UpgradeHeaders {
    private static final String PROTOCOLS = "sec-websocket-protocol";
    /** The prefix of a WebSocket protocol that is a bearer token, as browsers send it. */
    private static final String TOKEN = "base64url.bearer.authorization.k8s.io.";

    private static final List<String> PASSED = List.of(
            "upgrade",
            "x-stream-protocol-version",
            "sec-websocket-key",
            "sec-websocket-version",
            "sec-websocket-extensions");

    private UpgradeHeaders() {}

    /** Whether a request with these headers asks for another protocol. */
    public static boolean wanted(HttpHeaders headers) {
        return headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)
                && headers.contains(HttpHeaderNames.UPGRADE);
    }

    /** Copies the headers of such a request. */
    public static void copy(HttpHeaders from, HttpHeaders to) {
        to.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE);
        for (String name : PASSED) {
            if (from.contains(name)) {
                to.set(name, from.getAll(name));
            }
        }
        List<String> protocols = from.getAllAsString(PROTOCOLS).stream()
                .flatMap(line -> List.of(line.split(",")).stream())
                .map(String::strip)
                .filter(protocol -> !protocol.toLowerCase(Locale.ROOT).startsWith(TOKEN))
                .toList();
        if (!protocols.isEmpty()) {
            to.set(PROTOCOLS, String.join(", ", protocols));
        }
    }
}
