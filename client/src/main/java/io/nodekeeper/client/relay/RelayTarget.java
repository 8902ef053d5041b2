package io.nodekeeper.client.relay;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * The server that a request is passed on to. Immutable.
 *
 * @param address its address, resolved
 * @param tls how to connect to it; empty for plain TCP
 * @param transport the kind of connection that fits the client's event loop
 */
public record RelayTarget(InetSocketAddress address, Optional<SslContext> tls, Class<? extends Channel> transport) {}
