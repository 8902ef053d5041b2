package io.nodekeeper.it;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.ServerAccess;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;

/**
 * An API server with webhook configurations: keeps one itself, and passes all other requests on to a real API server,
 * which has none. Plain HTTP on the loopback address, one connection to the API server for each of a client. Thread-safe.
 */
final class WebhookFront implements AutoCloseable {
    private static final String WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

    private final ServerAccess access;
    private final SSLContext tls;
    private final ServerSocket listener = new ServerSocket();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile JsonObject webhook = JsonObject.EMPTY;

    WebhookFront(ServerAccess access) throws IOException {
        this.access = access;
        this.tls = ClientTls.context(access);
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread.ofVirtual().name("front").start(this::accept);
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    /** The stored webhook configuration; empty if there is none. */
    JsonObject webhook() {
        return webhook;
    }

    /** Stores another one, as kubectl would. */
    void store(JsonObject json) {
        webhook = json;
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                open.add(client);
                Thread.ofVirtual().name("front-requests").start(() -> serve(client));
            }
        } catch (IOException e) {
            // The listener was closed.
        }
    }

    private void serve(Socket client) {
        try (client;
                Socket server = tls.getSocketFactory()
                        .createSocket(access.server().getHost(), access.server().getPort())) {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            Thread.ofVirtual().name("front-answers").start(() -> answers(server, client));
            InputStream in = new BufferedInputStream(client.getInputStream(), 16_384);
            OutputStream out = server.getOutputStream();
            for (byte[] head = Relay.head(in); head.length > 0; head = Relay.head(in)) {
                String text = new String(head, StandardCharsets.ISO_8859_1);
                byte[] body = in.readNBytes(Relay.contentLength(text));
                String[] line = text.split(" ", 3);
                if (line[1].startsWith(WEBHOOKS)) {
                    // The client waits for this answer, so no other one is on its way.
                    client.getOutputStream().write(kept(line[0], body));
                } else {
                    out.write(head);
                    out.write(body);
                    out.flush();
                }
            }
        } catch (IOException e) {
            // Either side may leave at any time.
        } finally {
            open.remove(client);
        }
    }

    private static void answers(Socket from, Socket to) {
        try (to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // As above.
        }
    }

    private byte[] kept(String method, byte[] body) {
        switch (method) {
            case "POST", "PUT" -> webhook = Json.parseObject(body);
            case "DELETE" -> webhook = JsonObject.EMPTY;
            default -> {}
        }
        JsonObject now = webhook;
        String answer = now.isEmpty() ? "{\"kind\":\"Status\",\"code\":404}" : Json.write(now);
        return """
                HTTP/1.1 %s\r
                Content-Type: application/json\r
                Content-Length: %d\r
                \r
                %s""".formatted(
                        now.isEmpty() ? "404 Not Found" : "200 OK",
                        answer.getBytes(StandardCharsets.UTF_8).length,
                        answer)
                .getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        try {
            listener.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
