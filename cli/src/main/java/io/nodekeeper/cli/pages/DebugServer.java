package io.nodekeeper.cli.pages;

import io.nodekeeper.client.pages.Pages;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the pages of a controller or an agent, by default over plain HTTP on the loopback address. There it answers
 * only requests whose Host header names this machine. On another address it uses TLS and answers only clients whom the
 * cluster lets in.
 */
public final class DebugServer {
    private static final Logger log = LoggerFactory.getLogger(DebugServer.class);

    private final PagesServer server;
    private final Optional<Exposure> exposure;

    private DebugServer(PagesServer server, Optional<Exposure> exposure) {
        this.server = server;
        this.exposure = exposure;
    }

    /**
     * Starts to serve.
     *
     * @param who the component: controller or agent
     * @param flag the flag that set the address, for the error message
     * @param orElseAny whether to use any free port if this one is taken
     * @param exposure how to serve other machines; empty for plain HTTP. It is closed with this server
     * @throws IOException naming the address if it cannot be used
     */
    public static DebugServer start(
            String who,
            String flag,
            InetSocketAddress address,
            boolean orElseAny,
            Pages pages,
            Optional<Exposure> exposure)
            throws IOException {
        DebugServer debug = new DebugServer(bind(flag, address, orElseAny, pages, exposure), exposure);
        log.info("The {} serves its pages at {}", who, debug.url());
        if (exposure.isPresent()) {
            log.info("The cluster decides who may read them: get on the path, a nonResourceURL");
        }
        return debug;
    }

    private static PagesServer bind(
            String flag, InetSocketAddress address, boolean orElseAny, Pages pages, Optional<Exposure> exposure)
            throws IOException {
        try {
            return PagesServer.start(address, pages, exposure);
        } catch (IOException e) {
            if (orElseAny && e.getCause() instanceof BindException) {
                log.info("{} is in use; using any free port", address);
                return PagesServer.start(new InetSocketAddress(address.getAddress(), 0), pages, exposure);
            }
            exposure.ifPresent(Exposure::close);
            throw new IOException(flag + " " + address + ": " + e.getMessage(), e);
        }
    }

    /** The URL for clients on this machine, or for all clients if it listens on one address. */
    public URI url() {
        InetSocketAddress bound = server.address();
        String host = bound.getAddress().isAnyLocalAddress()
                ? "127.0.0.1"
                : bound.getAddress().getHostAddress();
        String scheme = exposure.isPresent() ? "https" : "http";
        return URI.create(scheme + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + bound.getPort());
    }

    public void stop() {
        server.close();
        exposure.ifPresent(Exposure::close);
    }
}
