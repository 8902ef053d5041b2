package io.nodekeeper.cri;

import io.nodekeeper.cri.socket.UnixSocket;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listening unix-domain channel as a {@link ServerSocket}; keeps a list of accepted connections. */
final class UnixServerSocket extends ServerSocket {
    private final ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    private final List<UnixSocket> accepted = new CopyOnWriteArrayList<>();

    UnixServerSocket() throws IOException {}

    /** Closes all connections; accepts new ones. */
    void disconnect() throws IOException {
        for (UnixSocket socket : accepted) {
            socket.close();
        }
        accepted.clear();
    }

    @Override
    public void bind(SocketAddress address, int backlog) throws IOException {
        channel.bind(address, backlog);
    }

    @Override
    public void bind(SocketAddress address) throws IOException {
        bind(address, 128);
    }

    @Override
    public Socket accept() throws IOException {
        UnixSocket socket = new UnixSocket(channel.accept());
        accepted.removeIf(UnixSocket::isClosed);
        accepted.add(socket);
        return socket;
    }

    @Override
    public void close() throws IOException {
        channel.close();
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
