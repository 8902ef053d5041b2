package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Timeouts of idle and slow connections, with the channel's frozen clock. */
class ConnectionTimeoutsTest {
    private boolean busy;
    private ConnectionTimeouts timeouts = ConnectionTimeouts.withRequests(() -> busy);
    private final EmbeddedChannel channel = new EmbeddedChannel();

    private void begin() {
        channel.freezeTime();
        channel.pipeline().addLast(timeouts);
    }

    private void beginStreams() {
        timeouts = ConnectionTimeouts.withStreams(() -> busy);
        begin();
    }

    private void pass(int seconds) {
        for (int i = 0; i < seconds; i += 10) {
            channel.advanceTimeBy(10, TimeUnit.SECONDS);
            channel.runPendingTasks();
        }
    }

    private void bytes() {
        channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {'G'}));
    }

    private void assertClosedAfterTenMinutes() {
        pass(600);
        assertThat(channel.isOpen()).isTrue();
        pass(10);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void idleConnectionIsClosedAfterTenMinutes() {
        begin();
        assertClosedAfterTenMinutes();
    }

    @Test
    void slowRequestIsClosed() {
        begin();
        pass(300);
        bytes();
        pass(20);
        bytes();
        assertThat(channel.isOpen()).isTrue();
        pass(20);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void connectionIsIdleAfterARequestWhoseBodyCameLater() {
        begin();
        bytes();
        timeouts.heard();
        busy = true;
        bytes();
        busy = false;
        assertClosedAfterTenMinutes();
    }

    @Test
    void connectionWithAnActiveRequestStaysOpen() {
        begin();
        bytes();
        timeouts.heard();
        busy = true;
        pass(10_000);
        assertThat(channel.isOpen()).isTrue();
        busy = false;
        assertClosedAfterTenMinutes();
    }

    @Test
    void shortRequestsOnStreamsKeepAConnectionOpen() {
        beginStreams();
        for (int i = 0; i < 4; i++) {
            // A stream begins and ends between two ticks; then comes an acknowledgement.
            bytes();
            timeouts.heard();
            bytes();
            pass(300);
        }
        assertThat(channel.isOpen()).isTrue();
        pass(300);
        assertThat(channel.isOpen()).isTrue();
        pass(10);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void bytesWithoutARequestDoNotKeepAConnectionWithStreamsOpen() {
        beginStreams();
        bytes();
        for (int i = 0; i < 6; i++) {
            pass(100);
            bytes();
        }
        assertThat(channel.isOpen()).isTrue();
        pass(10);
        assertThat(channel.isOpen()).isFalse();
    }
}
