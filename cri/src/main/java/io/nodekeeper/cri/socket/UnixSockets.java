package io.nodekeeper.cri.socket;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.function.Consumer;
import javax.net.SocketFactory;

/** Connects to one unix socket, whatever address is asked for. Thread-safe. */
public final class UnixSockets extends SocketFactory {
    private final Path path;
    private final Consumer<UnixSocket> made;

    /**
     * A factory of connections to {@code path}.
     *
     * @param made receives each socket before it is connected, which may block until the socket is closed
     */
    public UnixSockets(Path path, Consumer<UnixSocket> made) {
        this.path = path;
        this.made = made;
    }

    @Override
    public Socket createSocket() throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            UnixSocket socket = new UnixSocket(channel);
            made.accept(socket);
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
