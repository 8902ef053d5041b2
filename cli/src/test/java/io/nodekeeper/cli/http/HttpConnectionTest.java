package io.nodekeeper.cli.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests that one read brings, and requests after an answer. */
class HttpConnectionTest {
    /** Remembers the requests that are to be answered. */
    private static final class Remembering extends HttpConnection<String> {
        private final List<String> begun = new ArrayList<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, String request) {
            if (begin(context)) {
                begun.add(request);
            }
        }

        void answer(EmbeddedChannel channel) {
            send(
                    channel.pipeline().firstContext(),
                    response(HttpResponseStatus.OK, "text/plain", new byte[0], true),
                    10,
                    10,
                    () -> {});
            channel.runPendingTasks();
        }
    }

    private final Remembering connection = new Remembering();
    private final EmbeddedChannel channel = new EmbeddedChannel(connection);

    @Test
    void requestsBeforeTheAnswerCloseTheConnection() {
        // when one read brings three requests
        channel.writeInbound("first", "second", "third");

        // then
        assertThat(connection.begun).containsExactly("first");
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void theNextRequestAfterTheAnswerIsBegun() {
        // given an answered request
        channel.writeInbound("first");
        assertThat(channel.config().isAutoRead()).isFalse();
        connection.answer(channel);
        assertThat(channel.config().isAutoRead()).isTrue();

        // when
        channel.writeInbound("second");

        // then
        assertThat(connection.begun).containsExactly("first", "second");
        assertThat(channel.isOpen()).isTrue();
        assertThat(channel.config().isAutoRead()).isFalse();
    }
}
