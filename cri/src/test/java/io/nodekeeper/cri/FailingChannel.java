package io.nodekeeper.cri;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** A channel that listens at a unix socket and accepts nothing while it fails, as if the process had no file descriptors left. */
public final class FailingChannel extends ServerSocketChannel {
    private final ServerSocketChannel channel;
    private final AtomicInteger failures = new AtomicInteger();

    private FailingChannel(ServerSocketChannel channel) {
        super(channel.provider());
        this.channel = channel;
    }

    /** Listens at {@code path}, where no file may exist. */
    public static FailingChannel at(Path path) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(path), 128);
        return new FailingChannel(channel);
    }

    /** The next {@code times} calls of {@link #accept} fail. One that waits already does not. */
    public void fail(int times) {
        failures.set(times);
    }

    @Override
    public SocketChannel accept() throws IOException {
        if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new IOException("Too many open files");
        }
        return channel.accept();
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        return channel.getLocalAddress();
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) {
        throw new UnsupportedOperationException("it listens already");
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public ServerSocket socket() {
        throw new UnsupportedOperationException("a unix socket has none");
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        channel.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        channel.configureBlocking(block);
    }
}
