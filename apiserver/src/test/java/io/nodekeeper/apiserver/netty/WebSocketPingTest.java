package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Pings of a client that does not read the pongs, with the channel's frozen clock. */
class WebSocketPingTest {
    /** Netty's limit of what waits in a channel, and some small frames above it. */
    private static final long BOUND = (64 << 10) + 1_000;

    private final EmbeddedConnection connection = new EmbeddedConnection();

    WebSocketPingTest() {
        connection.send(EmbeddedConnection.upgrade("/api/v1/nodes?watch=true"));
        connection.channel.runPendingTasks();
        assertThat(connection.received()).startsWith("HTTP/1.1 101 ");
    }

    /** A frame of a client, masked with zeros. */
    private static byte[] ping(String text) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write(0x89);
        frame.write(0x80 | text.length());
        frame.writeBytes(new byte[4]);
        frame.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
        return frame.toByteArray();
    }

    private static String pong(String text) {
        return "\u008a" + (char) text.length() + text;
    }

    private void flood(int thousands) {
        ByteArrayOutputStream many = new ByteArrayOutputStream();
        for (int i = 0; i < 1_000; i++) {
            many.writeBytes(ping("x".repeat(125)));
        }
        for (int i = 0; i < thousands; i++) {
            connection.send(many.toByteArray());
        }
    }

    private void pass(int seconds) {
        for (int i = 0; i < seconds; i++) {
            connection.channel.advanceTimeBy(1, TimeUnit.SECONDS);
            connection.channel.runPendingTasks();
        }
    }

    @Test
    void pongsOfAClientThatDoesNotReadTakeBoundedMemoryAndTheLastPingIsAnswered() {
        // given a client that does not read
        connection.reads(false);
        // when it sends 13 MB of pings
        flood(100);
        // then the server keeps pongs until the channel is full, and nothing for the other pings
        assertThat(connection.pending()).isBetween(1L, BOUND);
        assertThat(connection.buffered()).isLessThan(2 * BOUND);
        // when it sends one more, and reads
        connection.send(ping("last"));
        connection.reads(true);
        // then the last ping is answered, once
        assertThat(connection.received()).endsWith(pong("x".repeat(125)) + pong("last"));
        // and so are further ones
        connection.send(ping("another"));
        assertThat(connection.received()).isEqualTo(pong("another"));
        assertThat(connection.pending()).isZero();
    }

    @Test
    void pingWhosePongFillsAndEmptiesTheChannelIsAnsweredOnce() {
        // given a channel with room for less than one more pong
        connection.reads(false);
        connection.send(ping("x".repeat(125)));
        long size = connection.pending();
        while (connection.channel.bytesBeforeUnwritable() >= size) {
            connection.send(ping("x".repeat(125)));
        }
        assertThat(connection.channel.isWritable()).isTrue();
        // when the client reads again with the next pong
        connection.readsWithTheNextWrite();
        connection.send(ping("y".repeat(125)));
        // then it gets that once
        assertThat(connection.received()).endsWith(pong("x".repeat(125)) + pong("y".repeat(125)));
        assertThat(connection.pending()).isZero();
    }

    @Test
    void clientThatReadsNoPongForAMinuteIsDisconnected() {
        connection.reads(false);
        flood(1);
        pass(59);
        assertThat(connection.channel.isOpen()).isTrue();
        // It goes on to send.
        flood(1);
        pass(2);
        assertThat(connection.channel.isOpen()).isFalse();
        connection.channel.finishAndReleaseAll();
        assertThat(connection.buffered()).isZero();
    }

    @Test
    void clientThatReadsNoCloseFrameForAMinuteIsDisconnected() {
        connection.reads(false);
        connection.send("\u0088\u0080\0\0\0\0");
        pass(59);
        assertThat(connection.channel.isOpen()).isTrue();
        pass(2);
        assertThat(connection.channel.isOpen()).isFalse();
    }

    @Test
    void clientThatReadsItsPongsStaysConnected() {
        for (int i = 0; i < 10; i++) {
            connection.reads(false);
            flood(1);
            pass(30);
            connection.reads(true);
        }
        assertThat(connection.channel.isOpen()).isTrue();
    }
}
