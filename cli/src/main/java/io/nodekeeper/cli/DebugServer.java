package io.nodekeeper.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the pages of a controller or an agent over plain HTTP, to anybody who reaches the address: on the loopback one
 * unless told otherwise.
 */
final class DebugServer {
    private static final Logger log = LoggerFactory.getLogger(DebugServer.class);
    /** Enough for a scrape, a probe and a few people. Chosen. */
    private static final int THREADS = 4;
    /** Seconds for a client to send its request, and to take the answer: it may not keep a thread. Chosen. */
    private static final String CLIENT_SECONDS = "10";

    private final HttpServer server;
    private final ThreadPool threads;
    private final Pages pages;

    private DebugServer(String who, HttpServer server, Pages pages) {
        this.server = server;
        this.pages = pages;
        threads = new ThreadPool(who + "-http", THREADS);
    }

    /**
     * Starts to serve.
     *
     * @param who whose pages these are: controller or agent
     * @param flag which flag said where, for the error
     * @param orElseAny whether any free port will do if this one is taken
     * @throws IOException naming the address if that cannot be had
     */
    static DebugServer start(String who, String flag, InetSocketAddress address, boolean orElseAny, Pages pages)
            throws IOException {
        System.setProperty("sun.net.httpserver.maxReqTime", CLIENT_SECONDS);
        System.setProperty("sun.net.httpserver.maxRspTime", CLIENT_SECONDS);
        DebugServer debug = new DebugServer(who, bind(flag, address, orElseAny), pages);
        debug.server.createContext("/", debug::handle);
        debug.server.setExecutor(debug.threads);
        debug.server.start();
        log.info("The {}'s pages are at {}", who, debug.url());
        if (!address.getAddress().isLoopbackAddress()) {
            log.warn("Anybody who reaches {} can read what the {} knows", debug.url(), who);
        }
        return debug;
    }

    private static HttpServer bind(String flag, InetSocketAddress address, boolean orElseAny) throws IOException {
        try {
            return HttpServer.create(address, 0);
        } catch (BindException e) {
            if (orElseAny) {
                log.info("{} is taken; any free port will do", address);
                return HttpServer.create(new InetSocketAddress(address.getAddress(), 0), 0);
            }
            throw new IOException(flag + " " + address + ": " + e.getMessage(), e);
        }
    }

    /** Where it is, for clients on this machine, or for all if it listens on an address of its own. */
    URI url() {
        InetSocketAddress bound = server.getAddress();
        String host = bound.getAddress().isAnyLocalAddress()
                ? "127.0.0.1"
                : bound.getAddress().getHostAddress();
        return URI.create("http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + bound.getPort());
    }

    void stop() {
        server.stop(0);
        threads.close();
    }

    private void handle(HttpExchange exchange) {
        if (!exchange.getRequestMethod().equals("GET")) {
            answer(exchange, Page.text(405, exchange.getRequestMethod() + " is not allowed; expected GET"));
            return;
        }
        URI uri = exchange.getRequestURI();
        String path = uri.getRawPath() == null ? "/" : uri.getRawPath();
        String query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
        // Not where the page is made: that may be the process's loop, which must not wait for a client.
        pages.get(path, query).thenAcceptAsync(page -> answer(exchange, page), threads);
    }

    private static void answer(HttpExchange exchange, Page page) {
        try (exchange;
                OutputStream out = exchange.getResponseBody()) {
            exchange.getResponseHeaders().set("Content-Type", page.type());
            exchange.sendResponseHeaders(page.status(), page.body().length);
            out.write(page.body());
        } catch (IOException e) {
            log.debug("{} was not answered: {}", exchange.getRequestURI(), e.getMessage());
        }
    }
}
