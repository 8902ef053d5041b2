package io.nodekeeper.apiserver.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** An HTTP/1.1 connection without TLS and sockets, in virtual time, all of whose buffers are counted. */
final class EmbeddedConnection {
    private static final long MEMORY = 1 << 20;

    final TestServer server;
    final ServerContext serverContext;
    final EmbeddedChannel channel = new EmbeddedChannel();
    private final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(false);
    /** Whether the client reads what the server sends. */
    private boolean reads = true;

    /** An administrator's. */
    EmbeddedConnection() {
        this(Optional.of(ClientCertificate.of(TestServer.ADMIN)));
    }

    /** A connection whose client showed this certificate. */
    EmbeddedConnection(Optional<ClientCertificate> certificate) {
        this(new TestServer(), certificate);
    }

    private EmbeddedConnection(TestServer server, Optional<ClientCertificate> certificate) {
        this(server, ServerContexts.of(server, MEMORY), certificate);
    }

    /** One of several connections of {@code server}. */
    EmbeddedConnection(TestServer server, ServerContext serverContext, Optional<ClientCertificate> certificate) {
        this.server = server;
        this.serverContext = serverContext;
        channel.freezeTime();
        channel.config().setAllocator(buffers);
        channel.pipeline()
                .addLast(new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void flush(ChannelHandlerContext context) {
                        if (reads) {
                            context.flush();
                        }
                    }
                })
                .addLast(new HttpServerCodec())
                .addLast(new HttpServerKeepAliveHandler())
                .addLast(new RequestHandler(serverContext, certificate, () -> {}, name -> {}));
    }

    /** The request of a WebSocket. */
    static String upgrade(String uri) {
        return "GET " + uri + " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    }

    void send(String text) {
        send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    void send(byte[] bytes) {
        channel.writeInbound(buffers.buffer(bytes.length).writeBytes(bytes));
    }

    /** The bytes that the client has read since the last call. */
    String received() {
        StringBuilder all = new StringBuilder();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            all.append(part.toString(StandardCharsets.ISO_8859_1));
            part.release();
        }
        return all.toString();
    }

    void reads(boolean now) {
        reads = now;
        channel.flush();
    }

    void readsWithTheNextWrite() {
        reads = true;
    }

    /** The bytes that the server keeps for the client. */
    long pending() {
        return channel.unsafe().outboundBuffer().totalPendingWriteBytes();
    }

    /** The bytes of all buffers that were not released. */
    long buffered() {
        return buffers.metric().usedHeapMemory() + buffers.metric().usedDirectMemory();
    }
}
