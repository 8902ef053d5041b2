package io.nodekeeper.cli.pages;

import java.net.InetAddress;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Checks the {@code Host} header of requests to a server on the loopback address. A browser that a foreign name led to
 * this machine (DNS rebinding) sends that name; a client on this machine sends the address or {@code localhost}. A
 * server on another address serves other machines, which may use any name for it. Immutable.
 */
final class HostCheck {
    private final Set<String> allowed;

    private HostCheck(Set<String> allowed) {
        this.allowed = allowed;
    }

    /** The check for a server that listens on {@code bound}. */
    static HostCheck of(InetAddress bound) {
        if (!bound.isLoopbackAddress()) {
            return new HostCheck(Set.of());
        }
        String address = bound.getHostAddress();
        Set<String> allowed = new TreeSet<>(Set.of("localhost", "127.0.0.1", "[::1]"));
        allowed.add(address.contains(":") ? "[" + address + "]" : address);
        return new HostCheck(allowed);
    }

    /** The reason to refuse a request with that header, if any; {@code host} is empty if there is no header. */
    Optional<String> fault(String host) {
        if (allowed.isEmpty() || allowed.contains(name(host))) {
            return Optional.empty();
        }
        return Optional.of("Host \"" + host + "\" is not allowed; expected " + String.join(", ", allowed));
    }

    /** {@code host} without its port. */
    private static String name(String host) {
        int end = host.startsWith("[") ? host.indexOf(']') + 1 : host.indexOf(':');
        return (end <= 0 ? host : host.substring(0, end)).toLowerCase(Locale.ROOT);
    }
}
