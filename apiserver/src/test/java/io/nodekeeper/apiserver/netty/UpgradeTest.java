package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.testing.TestServer;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a client sends together with the request of another protocol. */
class UpgradeTest {
    private static final String REQUEST = "POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n";

    private final EmbeddedConnection connection = new EmbeddedConnection();

    /** A watch of a future version, which is answered when the version is there. */
    private String future() {
        long version = connection.server.store.revision() + 1;
        return "/api/v1/nodes?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion="
                + version;
    }

    private void arrive() {
        connection.server.ask(
                TestServer.ADMIN,
                "POST",
                "/api/v1/namespaces/default/configmaps",
                Map.of(),
                "{\"metadata\":{\"name\":\"c\"}}");
        connection.server.time.advance(Duration.ofSeconds(1));
        connection.channel.runPendingTasks();
    }

    private void assertNothingIsLeft() {
        connection.channel.close();
        connection.channel.finishAndReleaseAll();
        assertThat(connection.buffered()).isZero();
        assertThat(connection.serverContext.bodies.take("admin", (1 << 20) / 3)).isTrue();
    }

    @Test
    void whatIsSentAheadOfAWebSocketIsReleased() {
        // given a whole request, a part of another one, and bytes that are not HTTP, all behind an upgrade that waits
        connection.send(EmbeddedConnection.upgrade(future()) + REQUEST + "01234567890123456789" + REQUEST + "01234");
        connection.send("56789");
        assertThat(connection.received()).isEmpty();
        // when the protocol changes
        arrive();
        // then the watch works
        assertThat(connection.received()).startsWith("HTTP/1.1 101 ");
        connection.send("\u0089\u0080\0\0\0\0");
        assertThat(connection.received()).isEqualTo("\u008a\0");
        // and all buffers are released at its end
        assertNothingIsLeft();
    }

    @Test
    void bytesThatAreNoRequestAheadOfAWebSocketAreReleased() {
        connection.send(EmbeddedConnection.upgrade(future()) + "no line");
        arrive();
        assertThat(connection.received()).startsWith("HTTP/1.1 101 ");
        assertNothingIsLeft();
    }

    /** As the relay of exec does when a node changes the protocol. */
    @Test
    void whatWaitsForAHandlerThatIsRemovedIsReleased() {
        connection.send("GET " + future() + " HTTP/1.1\r\nHost: x\r\n\r\n" + REQUEST + "01234567890123456789");
        connection.channel.pipeline().remove(RequestHandler.class);
        assertNothingIsLeft();
    }

    @Test
    void bodyOfAHandlerThatIsRemovedIsReleased() {
        connection.send(REQUEST + "01234");
        connection.send("56789");
        assertThat(connection.buffered()).isPositive();
        connection.channel.pipeline().remove(RequestHandler.class);
        assertNothingIsLeft();
    }
}
