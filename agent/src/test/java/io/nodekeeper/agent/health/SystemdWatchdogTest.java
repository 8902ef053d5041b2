package io.nodekeeper.agent.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When systemd hears of the agent. */
class SystemdWatchdogTest {
    private static final String USEC = "WATCHDOG_USEC";
    private static final String SOCKET = "NOTIFY_SOCKET";

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-29T07:00:00Z"));
    private final List<String> sent = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private Optional<String> wrong = Optional.empty();

    private void start(SystemdWatchdog.Notification systemd) {
        new SystemdWatchdog(Duration.ofSeconds(15), systemd)
                .start(time.loop("agent"), new HealthChecks("healthz", Map.of("syncloop", () -> wrong)));
        time.advance(Duration.ZERO);
    }

    private Optional<SystemdWatchdog> asked(Map<String, String> environment) {
        return SystemdWatchdog.of(environment, 7, faults);
    }

    @Test
    void systemdHearsTwiceInItsTimeWhileTheAgentIsHealthy() {
        start(sent::add);
        assertThat(sent).containsExactly("WATCHDOG=1");

        time.advance(Duration.ofSeconds(30));
        assertThat(sent).hasSize(3);

        // given a loop that is silent for too long
        wrong = Optional.of("silent for 6m0s");
        time.advance(Duration.ofSeconds(60));
        assertThat(sent).hasSize(3);

        // and that goes on, before systemd has restarted the agent
        wrong = Optional.empty();
        time.advance(Duration.ofSeconds(15));
        assertThat(sent).hasSize(4);
    }

    @Test
    void messageThatCannotBeSentIsFollowedByTheNext() {
        start(message -> {
            sent.add(message);
            throw new IOException("no such file");
        });
        time.advance(Duration.ofSeconds(30));
        assertThat(sent).hasSize(3);
    }

    @Test
    void onlyTheProcessThatSystemdAsksReports() {
        assertThat(asked(Map.of())).isEmpty();
        assertThat(asked(Map.of(USEC, "30000000"))).isEmpty();
        assertThat(asked(Map.of(SOCKET, "/run/notify"))).isEmpty();
        assertThat(asked(Map.of(USEC, "30000000", SOCKET, "/run/notify", "WATCHDOG_PID", "8")))
                .isEmpty();
        assertThat(asked(Map.of(USEC, "30000000", SOCKET, "/run/notify", "WATCHDOG_PID", "7")))
                .isPresent();
        assertThat(asked(Map.of(USEC, "30000000", SOCKET, "@name"))).isPresent();
        assertThat(faults).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "1000000, /run/notify, WatchdogSec of the systemd unit is 1s; expected more than 1s",
        "0, /run/notify, WatchdogSec of the systemd unit is 0s; expected more than 1s",
        "-1, /run/notify, 'WATCHDOG_USEC is \"-1\"; expected microseconds'",
        "9999999999999999999, /run/notify, 'WATCHDOG_USEC is \"9999999999999999999\"; expected microseconds'",
        "2000000, vsock:2:9, 'NOTIFY_SOCKET is \"vsock:2:9\"; expected the path of a socket, or one that begins with @'"
    })
    void whatCannotBeUsedIsAFault(String micros, String socket, String fault) {
        asked(Map.of(USEC, micros, SOCKET, socket));
        assertThat(faults).containsExactly(fault);
    }
}
