package io.nodekeeper.agent.facts;

import java.net.InetAddress;
import java.util.List;

/**
 * The addresses of the host.
 *
 * @param resolved the resolver's answer for the node's name, in its order
 * @param interfaces the addresses of all network interfaces
 * @param defaultRoute the addresses of the interface that holds the default route
 */
public record HostAddresses(List<InetAddress> resolved, List<InetAddress> interfaces, List<InetAddress> defaultRoute) {

    /** Copies the lists. */
    public HostAddresses {
        resolved = List.copyOf(resolved);
        interfaces = List.copyOf(interfaces);
        defaultRoute = List.copyOf(defaultRoute);
    }
}
