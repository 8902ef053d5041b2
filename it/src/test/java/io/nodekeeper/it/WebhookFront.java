package io.nodekeeper.it;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.ServerAccess;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * An API server with webhook configurations: keeps one itself, and passes all other requests on to a real API server,
 * which has none. Plain HTTP on the loopback address.
 */
final class WebhookFront implements AutoCloseable {
    private static final String WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

    private final ServerAccess access;
    private final HttpClient client;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private volatile JsonObject webhook = JsonObject.EMPTY;

    WebhookFront(ServerAccess access) throws IOException {
        this.access = access;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(ClientTls.context(access))
                .build();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** The stored webhook configuration; empty if there is none. */
    JsonObject webhook() {
        return webhook;
    }

    /** Stores another one, as kubectl would. */
    void store(JsonObject json) {
        webhook = json;
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String target = exchange.getRequestURI().toString();
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (target.startsWith(WEBHOOKS)) {
                keep(exchange, body);
            } else {
                pass(exchange, target, body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void keep(HttpExchange exchange, byte[] body) throws IOException {
        switch (exchange.getRequestMethod()) {
            case "POST", "PUT" -> webhook = Json.parseObject(body);
            case "DELETE" -> webhook = JsonObject.EMPTY;
            default -> {}
        }
        byte[] answer = webhook.isEmpty()
                ? "{\"kind\":\"Status\",\"code\":404}".getBytes(StandardCharsets.US_ASCII)
                : Json.writeBytes(webhook);
        exchange.sendResponseHeaders(webhook.isEmpty() ? 404 : 200, answer.length);
        exchange.getResponseBody().write(answer);
    }

    private void pass(HttpExchange exchange, String target, byte[] body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(access.server() + target))
                .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        if (type != null) {
            request.header("Content-Type", type);
        }
        HttpResponse<InputStream> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        exchange.sendResponseHeaders(answer.statusCode(), 0);
        byte[] buffer = new byte[16_384];
        try (InputStream in = answer.body();
                OutputStream out = exchange.getResponseBody()) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                out.write(buffer, 0, read);
                // A watch sends its events at once.
                out.flush();
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        client.shutdownNow();
    }
}
