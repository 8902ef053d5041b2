package io.nodekeeper.cri.socket;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import javax.net.SocketFactory;

/** Connects to one unix socket, whatever address is asked for. Thread-safe. */
final class UnixSockets extends SocketFactory {
    private final Path path;
    private final Listener listener;

    /** Receives each socket before it is connected. */
    interface Listener {
        /** Takes {@code socket}, or refuses it with an error. */
        void made(UnixSocket socket) throws IOException;
    }

    /** A factory of connections to {@code path}, shown to {@code listener}, which may close them while they are made. */
    UnixSockets(Path path, Listener listener) {
        this.path = path;
        this.listener = listener;
    }

    @Override
    public Socket createSocket() throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            UnixSocket socket = new UnixSocket(channel);
            listener.made(socket);
            // This blocks while the peer's queue of new connections is full, until the socket is closed.
            channel.connect(UnixDomainSocketAddress.of(path));
            return socket;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
            throws IOException {
        return createSocket();
    }
}
