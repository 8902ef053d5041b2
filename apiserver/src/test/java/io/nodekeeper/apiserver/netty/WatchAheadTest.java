package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What a client sends during its watch, which lasts for hours. */
class WatchAheadTest {
    private static final String GET = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

    private final EmbeddedConnection connection = new EmbeddedConnection();

    WatchAheadTest() {
        connection.send("GET /api/v1/nodes?watch=true HTTP/1.1\r\nHost: x\r\n\r\n");
        connection.channel.runPendingTasks();
        assertThat(connection.received()).startsWith("HTTP/1.1 200 OK\r\n");
    }

    private void assertIsDisconnected() {
        assertThat(connection.channel.isOpen()).isFalse();
        connection.channel.finishAndReleaseAll();
        assertThat(connection.buffered()).isZero();
    }

    @Test
    void fewRequestsWait() {
        connection.send(GET);
        connection.send(GET);
        assertThat(connection.channel.isOpen()).isTrue();
    }

    @Test
    void clientThatSends64KilobytesIsDisconnected() {
        connection.send("POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
        for (int i = 0; i < 7; i++) {
            connection.send("x".repeat(8 << 10));
        }
        assertThat(connection.channel.isOpen()).isTrue();
        connection.send("x".repeat(8 << 10));
        assertIsDisconnected();
    }

    @Test
    void clientThatSendsManySmallRequestsIsDisconnected() {
        for (int i = 0; i < 8; i++) {
            connection.send(GET);
        }
        assertThat(connection.channel.isOpen()).isTrue();
        connection.send(GET);
        assertIsDisconnected();
    }
}
