package io.nodekeeper.cri.docker;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The version of Docker's API that client and daemon agree on: the daemon names its own, and the smaller one is used. It is asked
 * once, and again after the daemon could not be reached, because another one may have been started. Thread-safe.
 */
final class ApiVersion {
    /** The oldest that has all that is used here; of Docker 1.12, the oldest that Kubernetes supported. */
    private static final int MIN = 24;
    /** The newest that this was tested with; of Docker 20.10. Newer daemons accept it up to Docker 28. */
    private static final int MAX = 41;

    private static final Pattern VERSION = Pattern.compile("1\\.([0-9]{1,4})");

    private volatile @Nullable Integer agreed;

    /** The path of {@code resource}, such as {@code /info}, in the agreed version. */
    String path(Exchange exchange, String resource) throws IOException {
        Integer known = agreed;
        return "/v1." + (known == null ? agree(exchange.request("GET", "/_ping")) : known) + resource;
    }

    /** Takes the daemon's version from its answer to {@code /_ping}; returns the second number of the agreed one. */
    int agree(HttpReply ping) throws IOException {
        int minor = Math.min(MAX, offered(ping));
        agreed = minor;
        return minor;
    }

    /** The version will be asked for again. */
    void forget() {
        agreed = null;
    }

    private static int offered(HttpReply ping) throws UnreadableException {
        String version = ping.header("api-version").orElse("");
        Matcher matcher = VERSION.matcher(version);
        if (!matcher.matches() || Integer.parseInt(matcher.group(1)) < MIN) {
            throw new UnreadableException("version 1." + MIN + " or newer of Docker's API was expected at /_ping, got "
                    + UnreadableException.quote(version) + " with status " + ping.status());
        }
        return Integer.parseInt(matcher.group(1));
    }
}
