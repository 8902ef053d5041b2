package io.nodekeeper.api;

import java.net.InetAddress;
import java.util.Optional;
import java.util.regex.Pattern;

/** IP addresses as text. Looks nothing up. */
public final class IpLiteral {
    private static final Pattern FOUR_PARTS = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

    private IpLiteral() {}

    /** Whether {@code text} is an address, not a DNS name. */
    public static boolean is(String text) {
        return of(text).isPresent();
    }

    /**
     * The address that {@code text} is, as Kubernetes decides it: an IPv4 address has four decimal parts. Java would also take
     * {@code 1234} and {@code 10.1}, which may be names of nodes. Empty if it is none.
     */
    public static Optional<InetAddress> of(String text) {
        if (text.indexOf(':') < 0 && !FOUR_PARTS.matcher(text).matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(InetAddress.ofLiteral(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
