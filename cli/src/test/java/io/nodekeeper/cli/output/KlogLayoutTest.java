package io.nodekeeper.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

/** What others choose, such as the output of a probe, is part of messages. */
class KlogLayoutTest {
    private static final String FORGED = "no\nE1121 09:07:17.123456 agent] forged \u001b[2J\u0085\u2028";

    private final KlogLayout layout = new KlogLayout(ZoneOffset.UTC);

    @Test
    void messageIsOneLineWithoutControlCharacters() {
        assertThat(layout.doLayout(event(FORGED)))
                .isEqualTo("I1121 09:07:17.123456 agent] the probe says: no E1121 09:07:17.123456 agent] forged"
                        + " U+001B[2JU+0085U+2028\n");
    }

    @Test
    void stackTraceHasItsLinesButTheMessagesInItHaveOneEach() {
        LoggingEvent event = event("no");
        event.setThrowableProxy(
                new ThrowableProxy(new IllegalStateException("the first", new IOException("read: " + FORGED))));

        assertThat(layout.doLayout(event))
                .startsWith("I1121 09:07:17.123456 agent] the probe says: no\n"
                        + "java.lang.IllegalStateException: the first\n\tat ")
                .contains("\nCaused by: java.io.IOException: read: no E1121 09:07:17.123456 agent] forged"
                        + " U+001B[2JU+0085U+2028\n")
                .doesNotContain("\nE1121");
    }

    private static LoggingEvent event(String quoted) {
        LoggingEvent event = new LoggingEvent();
        event.setLoggerContext(new LoggerContext());
        event.setLoggerName("io.nodekeeper.agent.probes.Probes");
        event.setLevel(Level.INFO);
        event.setMessage("the probe says: {}");
        event.setArgumentArray(new Object[] {quoted});
        event.setInstant(Instant.parse("2026-11-21T09:07:17.123456Z"));
        return event;
    }
}
