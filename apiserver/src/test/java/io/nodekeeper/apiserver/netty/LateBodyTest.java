package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests whose headers arrive before their body, or without one, with the channel's frozen clock. */
class LateBodyTest {
    private static final long MEMORY = 1 << 20;
    private static final String GET = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

    /** More than is kept without knowing the sender. */
    private static final String LARGE = "X: " + "x".repeat(1_000) + "\r\n";

    private static String head(String headers) {
        return "POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n" + headers + "\r\n";
    }

    @Test
    void anonymousRequestIsRefusedBeforeItsBody() {
        EmbeddedConnection anonymous = new EmbeddedConnection(Optional.empty());
        // when the headers arrive
        anonymous.send(head(LARGE));
        // then they are answered at once
        assertThat(anonymous.received()).startsWith("HTTP/1.1 403 Forbidden\r\n");
        // and the body is dropped when it comes, in any parts
        anonymous.send("01234");
        anonymous.send("567890123456789" + GET);
        assertThat(anonymous.received()).startsWith("HTTP/1.1 200 OK\r\n").endsWith("ok");
    }

    @Test
    void requestWithAWrongTokenIsRefusedAndItsClientMaySendTheBodyBeforeItReads() {
        EmbeddedConnection unknown = new EmbeddedConnection(Optional.empty());
        unknown.send(head("Authorization: Bearer wrong\r\n" + LARGE));
        assertThat(unknown.received()).startsWith("HTTP/1.1 401 Unauthorized\r\n");
        // A connection that closed now would be reset, and the client would not see the answer.
        unknown.send("01234567890123456789" + GET);
        assertThat(unknown.received()).startsWith("HTTP/1.1 200 OK\r\n");
        assertThat(unknown.channel.isOpen()).isTrue();
    }

    @Test
    void headersOfAPermittedUserTakeFromTheShareUntilTheAnswer() {
        EmbeddedConnection admin = new EmbeddedConnection();
        // given headers of 7 KB without their body
        admin.send(head("X: " + "x".repeat(7_000) + "\r\n"));
        assertThat(admin.received()).isEmpty();
        // then they count
        assertThat(admin.serverContext.bodies.has("admin", MEMORY / 3 - 7_200)).isTrue();
        assertThat(admin.serverContext.bodies.has("admin", MEMORY / 3 - 7_000)).isFalse();
        // until the request is answered
        admin.send("01234567890123456789");
        assertThat(admin.received()).startsWith("HTTP/1.1 400 Bad Request\r\n");
        assertThat(admin.serverContext.bodies.has("admin", MEMORY / 3)).isTrue();
    }

    @Test
    void headersWithoutABodyAreGivenUpAfterAMinute() {
        EmbeddedConnection admin = new EmbeddedConnection();
        admin.send(head(""));
        admin.channel.advanceTimeBy(61, TimeUnit.SECONDS);
        admin.channel.runScheduledPendingTasks();
        assertThat(admin.received()).startsWith("HTTP/1.1 408 Request Timeout\r\n");
        assertThat(admin.serverContext.bodies.has("admin", MEMORY / 3)).isTrue();
    }

    @Test
    void headersOfAUserWithoutAShareAreRefused() {
        EmbeddedConnection admin = new EmbeddedConnection();
        assertThat(admin.serverContext.bodies.take("admin", MEMORY / 3)).isTrue();
        admin.send(head(LARGE));
        assertThat(admin.received()).startsWith("HTTP/1.1 429 Too Many Requests\r\n");
        // and the client, which may send the body before it reads that, is not cut off
        admin.send("01234567890123456789" + GET);
        assertThat(admin.received()).startsWith("HTTP/1.1 200 OK\r\n");
    }

    /** As a client's library sends them: the sender of each renewal would be checked twice. */
    @Test
    void smallHeadersWaitForTheirBody() {
        EmbeddedConnection anonymous = new EmbeddedConnection(Optional.empty());
        anonymous.send(head(""));
        assertThat(anonymous.received()).isEmpty();
        anonymous.send("01234567890123456789");
        assertThat(anonymous.received()).startsWith("HTTP/1.1 403 Forbidden\r\n");
    }

    @Test
    void headersKeepTheirShareWhileTheirBodyIsDropped() {
        // given headers of 7 KB, and a share for no more
        EmbeddedConnection admin = new EmbeddedConnection();
        admin.send(head("X: " + "x".repeat(7_000) + "\r\n"));
        long rest = MEMORY / 3 - 7_200;
        assertThat(admin.serverContext.bodies.take("admin", rest)).isTrue();
        while (admin.serverContext.bodies.take("admin", 1)) {
            rest++;
        }
        // when a part of the body comes
        admin.send("01234");
        // then it is not kept, but the headers still count
        assertThat(admin.serverContext.bodies.has("admin", 1)).isFalse();
        admin.send("567890123456789");
        assertThat(admin.received()).startsWith("HTTP/1.1 429 Too Many Requests\r\n");
        admin.serverContext.bodies.giveBack("admin", rest);
        assertThat(admin.serverContext.bodies.has("admin", MEMORY / 3)).isTrue();
    }
}
