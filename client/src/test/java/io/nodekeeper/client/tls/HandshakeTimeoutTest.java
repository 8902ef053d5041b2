package io.nodekeeper.client.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.time.SystemClock;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that connects and sends nothing. */
class HandshakeTimeoutTest {
    /** It takes half a second. */
    @SuppressWarnings("NullAway.Init")
    private static SslContext context;

    @BeforeAll
    static void makeContext() throws Exception {
        Identity identity = TestCertificates.make("CN=server", "ip:127.0.0.1");
        context = SslContextBuilder.forServer(identity.key(), identity.chain().toArray(X509Certificate[]::new))
                .build();
    }

    /** The API server has 32 s, the pages have 5 s. Netty's default is 10 s. */
    @ParameterizedTest
    @ValueSource(ints = {32, 5})
    void connectionEndsWhenItsHandshakeTakesLongerThanTheTimeout(int seconds) {
        // given a connection that is already open when it gets TLS, as accepted ones are
        EmbeddedChannel connection = new EmbeddedChannel();
        connection.freezeTime();
        new TlsTurns(Duration.ofSeconds(seconds), new SystemClock()).secure(connection, context);

        // when the timeout is nearly over, then it is open
        pass(connection, seconds * 1_000L - 1);
        assertThat(connection.isOpen()).isTrue();

        // and when it is over, it is closed
        pass(connection, 1);
        assertThat(connection.isOpen()).isFalse();
    }

    private static void pass(EmbeddedChannel connection, long millis) {
        connection.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        connection.runScheduledPendingTasks();
    }
}
