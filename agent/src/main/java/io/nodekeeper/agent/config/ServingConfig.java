package io.nodekeeper.agent.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * The address of the agent's HTTP pages.
 *
 * @param bindAddress where it listens (127.0.0.1)
 * @param port its port (10248); 0 for no pages
 * @param orElseAny whether any free port may be used if this one is taken; true unless the port was configured
 * @param kubeletPort what the Node's status names as the port of the node's API (10250), where the agent
 *     serves it with the gate {@code PodLifecycle}
 */
public record ServingConfig(InetAddress bindAddress, int port, boolean orElseAny, int kubeletPort) {
    /** The address; empty for no pages. */
    public Optional<InetSocketAddress> address() {
        return port == 0 ? Optional.empty() : Optional.of(new InetSocketAddress(bindAddress, port));
    }
}
