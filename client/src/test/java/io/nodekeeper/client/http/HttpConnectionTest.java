package io.nodekeeper.client.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** One connection in virtual time. */
class HttpConnectionTest {
    private final List<HttpConnection> kept = new ArrayList<>();
    private final List<HttpConnection> gone = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final HttpConnection.Owner owner = new HttpConnection.Owner() {
        @Override
        public void keep(HttpConnection idle) {
            kept.add(idle);
        }

        @Override
        public void gone(HttpConnection closed) {
            gone.add(closed);
        }

        @Override
        public void again(HttpExchange exchange) {
            throw new AssertionError("no exchange here may be sent twice");
        }
    };
    private final HttpConnection connection = new HttpConnection(owner, channel);
    private CompletableFuture<Void> taken = CompletableFuture.completedFuture(null);

    private final ResponseReceiver receiver = new ResponseReceiver() {
        @Override
        public void head(HttpResponse head) {
            heard.add(head.status().code() + "");
        }

        @Override
        public void body(ByteBuf bytes) {}

        @Override
        public CompletableFuture<Void> arrived() {
            return taken;
        }

        @Override
        public void end() {
            heard.add("end");
        }

        @Override
        public void failed(Throwable why) {
            heard.add(why.getMessage());
        }
    };

    HttpConnectionTest() {
        channel.freezeTime();
        channel.pipeline().addLast(connection);
    }

    @Test
    void anIdleConnectionIsClosedAfterThirtySeconds() {
        connection.begin(exchange());
        answer();
        assertThat(kept).containsExactly(connection);

        after(29);
        assertThat(channel.isOpen()).isTrue();
        after(1);
        assertThat(channel.isOpen()).isFalse();
        assertThat(gone).contains(connection);
    }

    @Test
    void aConnectionInUseIsNotClosedForHavingBeenIdle() {
        connection.begin(exchange());
        answer();
        after(20);
        connection.begin(exchange());

        after(600);

        assertThat(channel.isOpen()).isTrue();
        assertThat(gone).isEmpty();
    }

    @Test
    void theEndThatTlsAnnouncesClosesTheConnectionAndEndsItsExchange() {
        connection.begin(exchange());
        channel.pipeline().fireChannelRead(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));

        channel.pipeline().fireUserEventTriggered(SslCloseCompletionEvent.SUCCESS);
        channel.runPendingTasks();

        assertThat(channel.isOpen()).isFalse();
        assertThat(heard).containsExactly("200", "the connection was closed before the end of the response");
    }

    @Test
    void theEndThatTlsAnnouncesToAnIdleConnectionKeepsItFromFurtherUse() {
        connection.begin(exchange());
        answer();

        channel.pipeline().fireUserEventTriggered(SslCloseCompletionEvent.SUCCESS);

        assertThat(gone).contains(connection);
    }

    @Test
    void aRetiredConnectionIsClosedAtOnceIfItIsIdleAndElseAfterItsExchange() {
        connection.begin(exchange());

        connection.retire();
        assertThat(channel.isOpen()).isTrue();
        answer();

        assertThat(heard).containsExactly("204", "end");
        assertThat(channel.isOpen()).isFalse();
        assertThat(kept).isEmpty();
    }

    @Test
    void anIdleConnectionThatIsRetiredIsClosed() {
        connection.begin(exchange());
        answer();

        connection.retire();

        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void moreIsReadOnlyWhenTheReceiverIsDone() {
        List<String> reads = new ArrayList<>();
        EmbeddedChannel counted = new EmbeddedChannel();
        counted.config().setAutoRead(false);
        counted.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext context) {
                reads.add("read");
            }
        });
        HttpConnection slow = new HttpConnection(owner, counted);
        counted.pipeline().addLast(slow);
        slow.begin(new HttpExchange(
                counted.eventLoop(), HttpMethod.GET, "/", new DefaultHttpHeaders(), new byte[0], receiver));
        int begun = reads.size();
        taken = new CompletableFuture<>();

        counted.pipeline().fireChannelRead(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        counted.pipeline().fireChannelReadComplete();
        assertThat(reads).hasSize(begun);

        taken.complete(null);
        assertThat(reads).hasSize(begun + 1);
    }

    private HttpExchange exchange() {
        return new HttpExchange(
                channel.eventLoop(), HttpMethod.PUT, "/", new DefaultHttpHeaders(), new byte[0], receiver);
    }

    private void answer() {
        channel.pipeline()
                .fireChannelRead(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NO_CONTENT));
    }

    private void after(int seconds) {
        channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
    }
}
