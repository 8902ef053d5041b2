package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The server accepts a limited number of connections per time window. */
class AcceptRateTest {
    private final EmbeddedChannel server = new EmbeddedChannel(new AcceptRate(3));

    @Test
    void connectionsAboveTheLimitWaitForTheNextWindow() {
        server.freezeTime();
        // when as many connections arrive as the limit of a window
        server.writeInbound("1", "2");
        assertThat(server.config().isAutoRead()).isTrue();
        server.writeInbound("3");
        // then these are served, and no more are accepted
        assertThat(server.config().isAutoRead()).isFalse();
        assertThat(server.inboundMessages()).containsExactly("1", "2", "3");

        server.advanceTimeBy(AcceptRate.WINDOW_MILLIS - 1, TimeUnit.MILLISECONDS);
        server.runScheduledPendingTasks();
        assertThat(server.config().isAutoRead()).isFalse();

        // when the window has ended
        server.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        server.runScheduledPendingTasks();
        // then the next one accepts as many
        assertThat(server.config().isAutoRead()).isTrue();
        server.writeInbound("4", "5");
        assertThat(server.config().isAutoRead()).isTrue();
        server.writeInbound("6");
        assertThat(server.config().isAutoRead()).isFalse();
    }

    @Test
    void slowConnectionsNeverWait() {
        server.freezeTime();
        for (int i = 0; i < 100; i++) {
            server.writeInbound("c" + i);
            assertThat(server.config().isAutoRead()).isTrue();
            server.advanceTimeBy(AcceptRate.WINDOW_MILLIS, TimeUnit.MILLISECONDS);
            server.runScheduledPendingTasks();
        }
        assertThat(server.inboundMessages()).hasSize(100);
    }
}
