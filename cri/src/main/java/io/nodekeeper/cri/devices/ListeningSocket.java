package io.nodekeeper.cri.devices;

import io.nodekeeper.cri.socket.UnixSocket;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A unix-domain channel that listens already, as the {@link ServerSocket} that gRPC requires. The first connection is one that
 * was accepted before. One thread accepts; the other methods are thread-safe.
 */
final class ListeningSocket extends ServerSocket {
    private final ServerSocketChannel channel;
    private final int most;
    private final Consumer<String> failed;
    /** At most {@link #most}. */
    private final List<UnixSocket> open = new CopyOnWriteArrayList<>();

    private @Nullable SocketChannel first;

    /**
     * Wraps {@code channel}.
     *
     * @param most the most connections at the same time; further ones are closed
     * @param failed receives why no further connections can be accepted
     */
    ListeningSocket(ServerSocketChannel channel, SocketChannel first, int most, Consumer<String> failed)
            throws IOException {
        this.channel = channel;
        this.first = first;
        this.most = most;
        this.failed = failed;
    }

    @Override
    public Socket accept() throws IOException {
        while (true) {
            SocketChannel next = first;
            first = null;
            if (next == null) {
                next = connection();
            }
            open.removeIf(UnixSocket::isClosed);
            if (open.size() < most) {
                UnixSocket socket = new UnixSocket(next);
                open.add(socket);
                return socket;
            }
            next.close();
        }
    }

    private SocketChannel connection() throws IOException {
        try {
            return channel.accept();
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            failed.accept(String.valueOf(e.getMessage()));
            throw e;
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
