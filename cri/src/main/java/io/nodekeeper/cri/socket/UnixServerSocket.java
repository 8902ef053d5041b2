package io.nodekeeper.cri.socket;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.net.ServerSocketFactory;

/**
 * A unix-domain channel that listens already, as the {@link ServerSocket} that gRPC requires. One thread accepts; the other
 * methods are thread-safe.
 */
public final class UnixServerSocket extends ServerSocket {
    /** The pauses, nanoseconds, between attempts to accept that fail: from the first to the second, doubled each time. */
    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

    private final ServerSocketChannel channel;
    private final int most;
    private final Consumer<Optional<String>> failure;
    /** At most {@link #most}. */
    private final List<UnixSocket> open = new CopyOnWriteArrayList<>();

    /** A connection that waits for {@link #accept}. */
    private Optional<SocketChannel> first = Optional.empty();

    /**
     * Wraps {@code channel}.
     *
     * @param most the most connections at the same time; further ones are closed
     * @param failure receives why no connection can be accepted for now, and nothing when one was accepted after that
     */
    public UnixServerSocket(ServerSocketChannel channel, int most, Consumer<Optional<String>> failure)
            throws IOException {
        this.channel = channel;
        this.most = most;
        this.failure = failure;
    }

    /** Waits for the first connection, which {@link #accept} gives. To be called before a server has this socket. */
    public void awaitFirst() throws IOException {
        first = Optional.of(connection());
    }

    /** A factory that gives a server this socket, whatever port is asked for. */
    public ServerSocketFactory factory() {
        return new GivenServerSocket(this);
    }

    @Override
    public Socket accept() throws IOException {
        while (true) {
            SocketChannel next = first.isPresent() ? first.get() : connection();
            first = Optional.empty();
            open.removeIf(UnixSocket::isClosed);
            if (open.size() < most) {
                UnixSocket socket = new UnixSocket(next);
                open.add(socket);
                return socket;
            }
            next.close();
        }
    }

    /** Tries again for as long as the channel is open: gRPC's server accepts no more after an error, which may pass (EMFILE). */
    private SocketChannel connection() throws IOException {
        long pause = SHORTEST_PAUSE;
        while (true) {
            try {
                SocketChannel accepted = channel.accept();
                if (pause > SHORTEST_PAUSE) {
                    failure.accept(Optional.empty());
                }
                return accepted;
            } catch (IOException e) {
                if (e instanceof ClosedChannelException || !channel.isOpen()) {
                    throw e;
                }
                if (pause == SHORTEST_PAUSE) {
                    failure.accept(Optional.of(String.valueOf(e.getMessage())));
                }
            }
            LockSupport.parkNanos(this, pause);
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
    }

    /** Does nothing: the channel listens. */
    @Override
    public void bind(SocketAddress address) {}

    /** Does nothing: the channel listens. */
    @Override
    public void bind(SocketAddress address, int backlog) {}

    /** Closes all connections, too. */
    @Override
    public void close() throws IOException {
        channel.close();
        disconnect();
    }

    /** Closes all connections; further ones are accepted. */
    public void disconnect() throws IOException {
        for (UnixSocket socket : open) {
            socket.close();
        }
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        try {
            return channel.getLocalAddress();
        } catch (IOException e) {
            throw new IllegalStateException("a closed socket has no address", e);
        }
    }
}
