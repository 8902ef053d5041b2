package io.nodekeeper.cri.docker;

import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of one call, one after another, each on a connection of its own: connecting to a unix socket costs
 * microseconds, and a request that hangs then holds nothing that another one needs. One thread makes the requests; any
 * thread may {@link #end} them, which closes the connection and with it the request at dockerd.
 */
final class Exchange {
    /** The largest answer in bytes, as in CRI: a list of 110 pods with their labels has below 1 MiB. */
    static final int MAX_BODY = 16 << 20;

    /** From one attempt to the next while the queue of new connections is full: ms. Below the shortest deadline, 1 s. */
    private static final long AGAIN_MILLIS = 50;

    private static final Logger log = LoggerFactory.getLogger(Exchange.class);
    /**
     * The kernel's words once the queue of new connections is full, which is so after a daemon was frozen for hours: for
     * connecting, and for writing to what Java then takes for connected.
     */
    private static final List<String> QUEUE_FULL = List.of(
            "Resource temporarily unavailable", "Transport endpoint is not connected", "Socket is not connected");

    private final Path socket;
    private final CountDownLatch ended = new CountDownLatch(1);
    private @Nullable SocketChannel open;

    Exchange(Path socket) {
        this.socket = socket;
    }

    /**
     * Sends a request without a body and reads the whole answer. While the daemon's queue of new connections is full, this tries
     * again until {@link #end}: a connection that waits in the queue would wait as long.
     */
    HttpReply request(String method, String path) throws IOException {
        while (true) {
            try (SocketChannel connection = connect()) {
                HttpReader reader = send(connection, method, path);
                InputStream body = reader.body();
                return new HttpReply(reader.status(), reader.headers(), HttpReader.readAll(body, MAX_BODY));
            } catch (IOException e) {
                if (QUEUE_FULL.stream().noneMatch(String.valueOf(e.getMessage())::contains)) {
                    throw e;
                }
            }
            pause();
        }
    }

    private void pause() throws ClosedChannelException {
        try {
            if (!ended.await(AGAIN_MILLIS, TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new ClosedChannelException();
    }

    /** Sends a request; the reader has read the head. The connection is closed by {@link #end} or by the server. */
    HttpReader stream(String path) throws IOException {
        return send(connect(), "GET", path);
    }

    /** Closes the connection; requests of this call fail from now on. Idempotent, thread-safe. */
    void end() {
        SocketChannel last;
        synchronized (this) {
            ended.countDown();
            last = open;
        }
        close(last);
    }

    private static void close(@Nullable SocketChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                log.debug("cannot close {}", channel, e);
            }
        }
    }

    private HttpReader send(SocketChannel connection, String method, String path) throws IOException {
        String head = method + " " + path + " HTTP/1.1\r\nHost: docker\r\nUser-Agent: nodekeeper\r\n"
                + (method.equals("GET") ? "" : "Content-Length: 0\r\n") + "Connection: close\r\n\r\n";
        ByteBuffer bytes = ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII));
        while (bytes.hasRemaining()) {
            connection.write(bytes);
        }
        HttpReader reader = new HttpReader(Channels.newInputStream(connection));
        reader.readHead();
        return reader;
    }

    private SocketChannel connect() throws IOException {
        SocketChannel next = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            synchronized (this) {
                if (ended.getCount() == 0) {
                    throw new ClosedChannelException();
                }
                open = next;
            }
            next.connect(UnixDomainSocketAddress.of(socket));
            return next;
        } catch (IOException | RuntimeException e) {
            next.close();
            throw e;
        }
    }
}
