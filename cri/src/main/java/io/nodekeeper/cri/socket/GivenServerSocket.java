package io.nodekeeper.cri.socket;

import java.net.InetAddress;
import java.net.ServerSocket;
import javax.net.ServerSocketFactory;

/** Gives a server the same socket, whatever port is asked for. Immutable. */
final class GivenServerSocket extends ServerSocketFactory {
    private final ServerSocket socket;

    GivenServerSocket(ServerSocket socket) {
        this.socket = socket;
    }

    @Override
    public ServerSocket createServerSocket() {
        return socket;
    }

    @Override
    public ServerSocket createServerSocket(int port) {
        return socket;
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog) {
        return socket;
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog, InetAddress address) {
        return socket;
    }
}
