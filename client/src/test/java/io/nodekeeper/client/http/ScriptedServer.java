package io.nodekeeper.client.http;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Accepts connections one after another on 127.0.0.1; each gets the next script: what to answer to its first request, to its second, and so
 * on. An empty answer closes the connection; after the last one it stays open until it is closed by the client, or as told.
 */
final class ScriptedServer implements AutoCloseable {
    private static final Pattern LENGTH = Pattern.compile("content-length: (\\d+)");
    private static final long PATIENCE_SECONDS = 10;

    private final ServerSocket listener;
    private final BlockingQueue<List<String>> scripts = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private final BlockingQueue<Socket> connections = new LinkedBlockingQueue<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean closesAfterAnswer;
    private volatile int accepted;

    ScriptedServer() {
        try {
            listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    void onRequests(String... answers) {
        scripts.add(List.of(answers));
    }

    /** From now on a connection is closed after the last answer of its script. */
    void closeAfterAnswer() {
        closesAfterAnswer = true;
    }

    int accepted() {
        return accepted;
    }

    /** The next request, complete. */
    String request() throws InterruptedException {
        return requests.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** Writes to the connections that are open. */
    void write(String text) throws IOException {
        for (Socket connection : connections) {
            if (!connection.isClosed()) {
                send(connection, text);
            }
        }
    }

    void closeConnections() throws IOException {
        for (Socket connection : connections) {
            connection.close();
        }
    }

    /** Waits until a client has closed a connection. */
    void awaitClosed() throws InterruptedException {
        if (!closed.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("no client closed its connection");
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
            closeConnections();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket connection = listener.accept();
                accepted++;
                connections.add(connection);
                List<String> script = scripts.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
                Thread.ofVirtual().start(() -> serve(connection, script == null ? List.of() : script));
            } catch (IOException | InterruptedException e) {
                // Closed.
                return;
            }
        }
    }

    private void serve(Socket connection, List<String> script) {
        try (connection) {
            InputStream in = new BufferedInputStream(connection.getInputStream());
            for (String answer : script) {
                String request = read(in);
                if (request.isEmpty()) {
                    closed.countDown();
                    return;
                }
                requests.add(request);
                if (answer.isEmpty()) {
                    return;
                }
                send(connection, answer);
            }
            if (!closesAfterAnswer) {
                in.read();
                closed.countDown();
            }
        } catch (IOException e) {
            closed.countDown();
        }
    }

    private static void send(Socket connection, String text) throws IOException {
        connection.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** One request with its body; empty at the end of the connection. */
    private static String read(InputStream in) throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                return "";
            }
            text.append((char) next);
        }
        Matcher length = LENGTH.matcher(text);
        if (length.find()) {
            text.append(new String(in.readNBytes(Integer.parseInt(length.group(1))), StandardCharsets.UTF_8));
        }
        return text.toString();
    }
}
