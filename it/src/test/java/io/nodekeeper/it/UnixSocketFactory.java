package io.nodekeeper.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import javax.net.SocketFactory;

final class UnixSocketFactory extends SocketFactory {
    private final Path path;
    UnixSocketFactory(Path path) { this.path = path; }
    @Override public Socket createSocket() throws IOException { return new S(SocketChannel.open(UnixDomainSocketAddress.of(path))); }
    @Override public Socket createSocket(String h, int p) throws IOException { return createSocket(); }
    @Override public Socket createSocket(String h, int p, InetAddress a, int q) throws IOException { return createSocket(); }
    @Override public Socket createSocket(InetAddress h, int p) throws IOException { return createSocket(); }
    @Override public Socket createSocket(InetAddress h, int p, InetAddress a, int q) throws IOException { return createSocket(); }
    private static final class S extends Socket {
        private final SocketChannel c;
        S(SocketChannel c) { this.c = c; }
        @Override public InputStream getInputStream() {
            return new InputStream() {
                @Override public int read() throws IOException { byte[] b = new byte[1]; return read(b, 0, 1) < 0 ? -1 : b[0] & 255; }
                @Override public int read(byte[] b, int o, int l) throws IOException { return c.read(ByteBuffer.wrap(b, o, l)); }
            };
        }
        @Override public OutputStream getOutputStream() {
            return new OutputStream() {
                @Override public void write(int b) throws IOException { write(new byte[] {(byte) b}, 0, 1); }
                @Override public void write(byte[] b, int o, int l) throws IOException { ByteBuffer x = ByteBuffer.wrap(b, o, l); while (x.hasRemaining()) c.write(x); }
            };
        }
        @Override public void close() throws IOException { c.close(); }
        @Override public boolean isClosed() { return !c.isOpen(); }
        @Override public boolean isConnected() { return true; }
        @Override public void setTcpNoDelay(boolean b) {}
        @Override public void setSoTimeout(int t) {}
        @Override public int getSoTimeout() { return 0; }
        @Override public void shutdownOutput() throws IOException { c.shutdownOutput(); }
        @Override public void shutdownInput() throws IOException { c.shutdownInput(); }
        @Override public SocketAddress getRemoteSocketAddress() { return new InetSocketAddress("localhost", 1); }
        @Override public SocketAddress getLocalSocketAddress() { return new InetSocketAddress("localhost", 2); }
        @Override public InetAddress getInetAddress() { return InetAddress.getLoopbackAddress(); }
        @Override public InetAddress getLocalAddress() { return InetAddress.getLoopbackAddress(); }
    }
}
