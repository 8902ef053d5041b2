package io.nodekeeper.cri.socket;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Wraps a connected unix-domain channel as a {@link Socket}, which gRPC's transport requires and the JDK does not
 * offer. One thread may read while another writes. {@link #close} unblocks threads that hang in either.
 */
public final class UnixSocket extends Socket {
    private final SocketChannel channel;
    private volatile long received;

    /** Wraps {@code channel}, which is connected or about to be, and in blocking mode. */
    public UnixSocket(SocketChannel channel) {
        this.channel = channel;
    }

    /** How many bytes have been received. */
    public long received() {
        return received;
    }

    @Override
    public InputStream getInputStream() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                int count = channel.read(ByteBuffer.wrap(bytes, offset, length));
                if (count > 0) {
                    count(count);
                }
                return count;
            }
        };
    }

    @Override
    public OutputStream getOutputStream() {
        return new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                ByteBuffer rest = ByteBuffer.wrap(bytes, offset, length);
                while (rest.hasRemaining()) {
                    channel.write(rest);
                }
            }
        };
    }

    private synchronized void count(int bytes) {
        received += bytes;
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
    public boolean isConnected() {
        return channel.isConnected();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return address(true);
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return address(false);
    }

    private SocketAddress address(boolean remote) {
        try {
            return remote ? channel.getRemoteAddress() : channel.getLocalAddress();
        } catch (IOException e) {
            throw new IllegalStateException("a closed socket has no address", e);
        }
    }

    @Override
    public void shutdownInput() throws IOException {
        channel.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        channel.shutdownOutput();
    }

    /** Does nothing: unix sockets have no Nagle algorithm. */
    @Override
    public void setTcpNoDelay(boolean on) {}

    /** Does nothing: callers set deadlines themselves. */
    @Override
    public void setSoTimeout(int timeout) {}

    @Override
    public int getSoTimeout() {
        return 0;
    }

    @Override
    public String toString() {
        return "UnixSocket[" + channel + "]";
    }
}
