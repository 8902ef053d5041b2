package io.nodekeeper.client.relay;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The server that a request is passed on to. Immutable.
 *
 * @param address its address, resolved
 * @param tls how to connect to it; empty for plain TCP
 * @param transport the kind of connection that fits the client's event loop
 * @param receiveBuffer bytes that the kernel may hold for a client that does not read; 0 for the kernel's own choice, which is
 *     megabytes. Where a connection ends, epoll reads all of them at once.
 * @param spdySeconds how long a client of SPDY has time to close a connection that ended behind it, in order; see {@link Passage}
 * @param hasClosed whether the server is known to have closed a connection from which not everything was read yet: bytes of the
 *     client that reached it then would make the kernel drop the rest
 */
public record RelayTarget(
        InetSocketAddress address,
        Optional<SslContext> tls,
        Class<? extends Channel> transport,
        int receiveBuffer,
        int spdySeconds,
        Predicate<Channel> hasClosed) {}
