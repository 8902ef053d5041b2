package io.nodekeeper.cli.pages;

import io.nodekeeper.client.pages.Pages;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the pages of a controller or an agent over plain HTTP, by default on the loopback address. There it answers
 * only requests whose Host header names this machine; on another address it answers all requests.
 */
public final class DebugServer {
    private static final Logger log = LoggerFactory.getLogger(DebugServer.class);

    private final PagesServer server;

    private DebugServer(PagesServer server) {
        this.server = server;
    }

    /**
     * Starts to serve.
     *
     * @param who the component: controller or agent
     * @param flag the flag that set the address, for the error message
     * @param orElseAny whether to use any free port if this one is taken
     * @throws IOException naming the address if it cannot be used
     */
    public static DebugServer start(String who, String flag, InetSocketAddress address, boolean orElseAny, Pages pages)
            throws IOException {
        DebugServer debug = new DebugServer(bind(flag, address, orElseAny, pages));
        log.info("The {} serves its pages at {}", who, debug.url());
        if (!address.getAddress().isLoopbackAddress()) {
            log.warn("Any client that can reach {} can read the state of the {}", debug.url(), who);
        }
        return debug;
    }

    private static PagesServer bind(String flag, InetSocketAddress address, boolean orElseAny, Pages pages)
            throws IOException {
        try {
            return PagesServer.start(address, pages);
        } catch (IOException e) {
            if (orElseAny && e.getCause() instanceof BindException) {
                log.info("{} is in use; using any free port", address);
                return PagesServer.start(new InetSocketAddress(address.getAddress(), 0), pages);
            }
            throw new IOException(flag + " " + address + ": " + e.getMessage(), e);
        }
    }

    /** The URL for clients on this machine, or for all clients if it listens on one address. */
    public URI url() {
        InetSocketAddress bound = server.address();
        String host = bound.getAddress().isAnyLocalAddress()
                ? "127.0.0.1"
                : bound.getAddress().getHostAddress();
        return URI.create("http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + bound.getPort());
    }

    public void stop() {
        server.close();
    }
}
