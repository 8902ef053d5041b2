package io.nodekeeper.cri.docker;

import io.nodekeeper.time.VirtualThreads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A server on a unix socket that answers requests by their path, after the method if it is not GET, with prepared bytes.
 * {@code /_ping} is answered as Docker 20.10 does, unless prepared otherwise. A path that is not prepared gets status 404.
 */
public final class FakeDocker implements AutoCloseable {
    /** What Docker 20.10.24 of Debian 12 answers to {@code GET /_ping}. */
    static final String PING = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nDocker-Experimental: false\r\nOstype: linux\r\n"
            + "Server: Docker/20.10.24+dfsg1 (linux)\r\nContent-Length: 2\r\n"
            + "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nOK";

    private static final Logger log = Logger.getLogger(FakeDocker.class.getName());

    private final ServerSocketChannel server;
    private final VirtualThreads threads = new VirtualThreads("fake-docker");
    private final Map<String, Reply> replies = new ConcurrentHashMap<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final AtomicInteger made = new AtomicInteger();
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** What happens on a connection once its request was read. */
    public interface Reply {
        /** Writes to the connection, which is closed afterwards. */
        void to(SocketChannel connection) throws IOException;
    }

    /** Listens at {@code socket}. */
    public FakeDocker(Path socket) throws IOException {
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        raw("/_ping", PING);
        threads.execute(this::accept);
    }

    /** Answers GET of {@code path} with exactly these characters. */
    public FakeDocker raw(String path, String bytes) {
        return reply(path, connection -> write(connection, bytes));
    }

    /** Answers GET of {@code path} with this JSON, in chunks as Docker does. */
    FakeDocker json(String path, String json) {
        return raw(path, chunked(200, json));
    }

    /** Answers GET of {@code path} with that status and Docker's form of an error. */
    FakeDocker error(String path, int status, String message) {
        return raw(path, chunked(status, "{\"message\":\"" + message + "\"}\n"));
    }

    /** Never answers GET of {@code path}. */
    FakeDocker hang(String path) {
        return reply(path, connection -> {
            // Until the client closes it.
            while (connection.read(ByteBuffer.allocate(16)) >= 0) {
                continue;
            }
        });
    }

    FakeDocker reply(String path, Reply reply) {
        replies.put(path, reply);
        return this;
    }

    static void write(SocketChannel connection, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            connection.write(bytes);
        }
    }

    /** An answer in two chunks. */
    static String chunked(int status, String body) {
        String first = body.substring(0, body.length() / 2);
        String second = body.substring(first.length());
        StringBuilder answer = new StringBuilder("HTTP/1.1 " + status
                + " Whatever\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (String part : List.of(first, second)) {
            int size = part.getBytes(StandardCharsets.UTF_8).length;
            if (size > 0) {
                answer.append(Integer.toHexString(size))
                        .append("\r\n")
                        .append(part)
                        .append("\r\n");
            }
        }
        return answer + "0\r\n\r\n";
    }

    /** The request lines without method and protocol, in their order. */
    List<String> requests() {
        return requests;
    }

    /** How many connections are open. */
    int connections() {
        return open.size();
    }

    /** How many connections clients made. */
    public int connectionsMade() {
        return made.get();
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel connection = server.accept();
                made.incrementAndGet();
                open.add(connection);
                threads.execute(() -> serve(connection));
            }
        } catch (IOException e) {
            log.log(Level.FINE, "the server was closed", e);
        } finally {
            closed.countDown();
        }
    }

    private void serve(SocketChannel connection) {
        try (connection) {
            Map<String, String> head = head(connection);
            String path = head.get("");
            if (path == null) {
                // As Go's server answers the beginning of HTTP/2.
                write(
                        connection,
                        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n400 Bad Request");
            } else {
                requests.add(path);
                replies.getOrDefault(path, at -> write(at, chunked(404, "{\"message\":\"page not found\"}\n")))
                        .to(connection);
            }
        } catch (IOException e) {
            log.log(Level.FINE, "the client closed the connection, which many tests want", e);
        } finally {
            open.remove(connection);
        }
    }

    /** The headers by name, and under the empty name the path. */
    private static Map<String, String> head(SocketChannel connection) throws IOException {
        BufferedReader reader = new BufferedReader(
                new InputStreamReader(Channels.newInputStream(connection), StandardCharsets.ISO_8859_1));
        Map<String, String> head = new LinkedHashMap<>();
        String first = reader.readLine();
        if (first != null && first.endsWith(" HTTP/1.1")) {
            head.put("", first.replaceFirst("^GET ", "").replaceFirst(" HTTP/1.1$", ""));
        }
        for (String line = reader.readLine(); line != null && !line.isEmpty(); line = reader.readLine()) {
            head.put(line.replaceFirst(":.*", ""), line.replaceFirst("[^:]*: *", ""));
        }
        return head;
    }

    /** Ends the server. Later connections are refused: the socket listens until the thread that accepts has ended. */
    @Override
    public void close() throws IOException {
        server.close();
        threads.close();
        try {
            if (!closed.await(10, TimeUnit.SECONDS)) {
                throw new IOException("the server has not ended in 10 s");
            }
        } catch (InterruptedException e) {
            throw new IOException("interrupted while the server ends", e);
        }
    }
}
