package io.nodekeeper.cli.pages;

import io.nodekeeper.client.pages.Pages;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the pages of a controller or an agent over plain HTTP, on the loopback address unless told otherwise. There it
 * answers only requests that name this machine; on another address it answers all requests.
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
     * @param who whose pages these are: controller or agent
     * @param flag which flag said where, for the error
     * @param orElseAny whether any free port will do if this one is taken
     * @throws IOException naming the address if that cannot be had
     */
    public static DebugServer start(String who, String flag, InetSocketAddress address, boolean orElseAny, Pages pages)
            throws IOException {
        DebugServer debug = new DebugServer(bind(flag, address, orElseAny, pages));
        log.info("The {}'s pages are at {}", who, debug.url());
        if (!address.getAddress().isLoopbackAddress()) {
            log.warn("Anybody who reaches {} can read what the {} knows", debug.url(), who);
        }
        return debug;
    }

    private static PagesServer bind(String flag, InetSocketAddress address, boolean orElseAny, Pages pages)
            throws IOException {
        try {
            return PagesServer.start(address, pages);
        } catch (IOException e) {
            if (orElseAny && e.getCause() instanceof BindException) {
                log.info("{} is taken; any free port will do", address);
                return PagesServer.start(new InetSocketAddress(address.getAddress(), 0), pages);
            }
            throw new IOException(flag + " " + address + ": " + e.getMessage(), e);
        }
    }

    /** Where it is, for clients on this machine, or for all if it listens on an address of its own. */
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
