package io.nodekeeper.apiserver.netty.nodes;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.nodekeeper.apiserver.request.NodeCall;
import io.nodekeeper.apiserver.request.NodeReader;
import io.nodekeeper.client.tls.TlsTurns;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Gets pages of nodes' APIs, each with a connection of its own. Thread-safe. */
public final class NodeReads implements NodeReader {
    private final EventLoopGroup threads;
    private final Supplier<Optional<NodeIdentity.Tls>> tls;

    /** Reads on {@code threads}, with the newest TLS of the server; without one every read fails. */
    public NodeReads(EventLoopGroup threads, Supplier<Optional<NodeIdentity.Tls>> tls) {
        this.threads = threads;
        this.tls = tls;
    }

    @Override
    public CompletableFuture<byte[]> read(NodeCall call, int most) {
        Optional<NodeIdentity.Tls> current = tls.get();
        if (current.isEmpty()) {
            return NONE.read(call, most);
        }
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral(call.host()), call.port());
        ChannelFuture connecting = new Bootstrap()
                .group(threads)
                .channel(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        connection
                                .pipeline()
                                .addLast(TlsTurns.toServer(
                                        current.get().context(call.verified()),
                                        connection.alloc(),
                                        call.host(),
                                        call.port()))
                                .addLast(new HttpClientCodec())
                                .addLast(new HttpObjectAggregator(most))
                                .addLast(new Receiver(answer));
                    }
                })
                .connect(address);
        connecting.addListener((ChannelFutureListener) connected -> {
            if (connected.isSuccess()) {
                connected.channel().writeAndFlush(request(call));
            } else {
                answer.completeExceptionally(connected.cause());
            }
        });
        answer.whenComplete((body, error) -> connecting.channel().close());
        return answer;
    }

    private static FullHttpRequest request(NodeCall call) {
        FullHttpRequest request =
                new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, call.target(), Unpooled.EMPTY_BUFFER);
        String host = call.host().contains(":") ? "[" + call.host() + "]" : call.host();
        request.headers()
                .set(HttpHeaderNames.HOST, host + ":" + call.port())
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
                .set(NodeCall.RELAYED, "1");
        return request;
    }

    /** Confined to the connection's event loop. */
    private static final class Receiver extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final CompletableFuture<byte[]> answer;

        private Receiver(CompletableFuture<byte[]> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            if (response.decoderResult().isFailure()) {
                answer.completeExceptionally(new IOException("malformed answer"));
            } else if (!response.status().equals(HttpResponseStatus.OK)) {
                answer.completeExceptionally(new IOException("the node answered " + response.status()));
            } else {
                answer.complete(ByteBufUtil.getBytes(response.content()));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            answer.completeExceptionally(new IOException("the connection was closed without an answer"));
            context.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            answer.completeExceptionally(cause);
            context.close();
        }
    }
}
