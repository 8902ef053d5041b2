package io.nodekeeper.cli.ui;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A proxy as the API server's to services: it serves a server below a path of its own, removes that path and the
 * credentials of requests, and passes answers on as they are. It remembers requests to other paths.
 */
final class PrefixingProxy implements AutoCloseable {
    /** The path of a service whose pages use TLS. */
    static final String PREFIX = "/api/v1/namespaces/kube-system/services/https:nodekeeper-controller:10257/proxy";

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<String> outside = new CopyOnWriteArrayList<>();
    private final HttpServer server;
    private final String target;

    /** Serves {@code target}, such as http://127.0.0.1:10257. */
    PrefixingProxy(String target) throws IOException {
        this.target = target;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::refuse);
        server.createContext(PREFIX + "/", this::pass);
        server.start();
    }

    /** The address that stands for {@code target}. */
    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + PREFIX;
    }

    /** The requests to paths that are not below the prefix. */
    List<String> outside() {
        return List.copyOf(outside);
    }

    private void refuse(HttpExchange exchange) throws IOException {
        outside.add(exchange.getRequestURI().toString());
        exchange.sendResponseHeaders(404, -1);
        exchange.close();
    }

    private void pass(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().toString().substring(PREFIX.length());
        HttpRequest request = HttpRequest.newBuilder(URI.create(target + path)).build();
        try (exchange) {
            HttpResponse<InputStream> response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
            response.headers().map().forEach((name, values) -> {
                if (!name.equals("content-length") && !name.equals("transfer-encoding") && !name.equals("connection")) {
                    exchange.getResponseHeaders().put(name, values);
                }
            });
            exchange.sendResponseHeaders(response.statusCode(), 0);
            try (InputStream in = response.body();
                    OutputStream out = exchange.getResponseBody()) {
                byte[] buffer = new byte[1 << 16];
                int count = in.read(buffer);
                while (count >= 0) {
                    out.write(buffer, 0, count);
                    out.flush();
                    count = in.read(buffer);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        server.stop(0);
        http.shutdownNow();
        threads.shutdownNow();
    }
}
