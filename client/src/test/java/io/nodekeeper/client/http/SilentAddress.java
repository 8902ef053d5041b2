package io.nodekeeper.client.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/** An address whose connections are never made, as if its machine were gone: a listener that accepts none and whose queue is full. */
final class SilentAddress implements AutoCloseable {
    /** Linux has room for one more than the backlog. */
    private static final int MOST = 16;

    private final ServerSocket listener;
    private final List<Socket> queued = new ArrayList<>();

    private SilentAddress(ServerSocket listener) {
        this.listener = listener;
    }

    static SilentAddress at(String address, int port) throws IOException {
        SilentAddress silent = new SilentAddress(new ServerSocket(port, 1, InetAddress.getByName(address)));
        for (int i = 0; i < MOST; i++) {
            Socket socket = new Socket();
            silent.queued.add(socket);
            try {
                socket.connect(new InetSocketAddress(address, port), 200);
            } catch (SocketTimeoutException e) {
                return silent;
            }
        }
        silent.close();
        throw new IOException(MOST + " connections to " + address + " were made; expected a full queue");
    }

    InetAddress address() {
        return listener.getInetAddress();
    }

    @Override
    public void close() throws IOException {
        for (Socket socket : queued) {
            socket.close();
        }
        listener.close();
    }
}
