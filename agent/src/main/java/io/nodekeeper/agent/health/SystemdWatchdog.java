package io.nodekeeper.agent.health;

import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells systemd that the agent works, as sd_notify(3) describes: a unit with {@code WatchdogSec=} restarts an agent that hangs. The
 * agent reports twice in that time from its own loop, as long as every check of {@code /healthz} passes. A kubelet does the same with the gate
 * SystemdWatchdog, which is on since Kubernetes 1.32. Confined to the loop.
 */
public final class SystemdWatchdog {
    private static final Logger log = LoggerFactory.getLogger(SystemdWatchdog.class);

    /** A kubelet refuses this and less, too. */
    private static final Duration TOO_SHORT = Duration.ofSeconds(1);

    private final Duration period;
    private final Notification systemd;

    /** Sends a message to systemd; never waits. */
    interface Notification {
        /** Sends {@code message}, or fails. */
        void send(String message) throws IOException;
    }

    SystemdWatchdog(Duration period, Notification systemd) {
        this.period = period;
        this.systemd = systemd;
    }

    /**
     * The watchdog that systemd asks the process {@code pid} for; empty if it does not.
     *
     * @param environment the process' environment variables
     * @param faults receives what is wrong with it
     */
    public static Optional<SystemdWatchdog> of(Map<String, String> environment, long pid, List<String> faults) {
        String micros = environment.getOrDefault("WATCHDOG_USEC", "");
        String path = environment.getOrDefault("NOTIFY_SOCKET", "");
        String other = environment.getOrDefault("WATCHDOG_PID", "");
        if (micros.isEmpty() || path.isEmpty() || !(other.isEmpty() || other.equals(Long.toString(pid)))) {
            return Optional.empty();
        }
        Optional<Duration> limit = parse(micros);
        if (limit.isEmpty()) {
            faults.add("WATCHDOG_USEC is \"" + micros + "\"; expected microseconds");
        } else if (limit.get().compareTo(TOO_SHORT) <= 0) {
            faults.add("WatchdogSec of the systemd unit is " + GoDuration.format(limit.get()) + "; expected more than "
                    + GoDuration.format(TOO_SHORT));
        }
        if (!NotifySocket.isAddress(path)) {
            faults.add("NOTIFY_SOCKET is \"" + path + "\"; expected the path of a socket, or one that begins with @");
        }
        return limit.map(whole -> new SystemdWatchdog(whole.dividedBy(2), new NotifySocket(path)::send));
    }

    private static Optional<Duration> parse(String micros) {
        // At most 31 years, so that nanoseconds do not overflow.
        return micros.matches("[0-9]{1,15}")
                ? Optional.of(Duration.ofNanos(Long.parseLong(micros) * 1_000))
                : Optional.empty();
    }

    /** Reports from now on, until the loop is closed. */
    public void start(Loop loop, HealthChecks checks) {
        log.info("Reporting to systemd every {}", GoDuration.format(period));
        loop.execute(() -> report(loop, checks));
    }

    private void report(Loop loop, HealthChecks checks) {
        loop.schedule(period, () -> report(loop, checks));
        List<String> failed = checks.run().entrySet().stream()
                .filter(check -> check.getValue().isPresent())
                .map(check -> check.getKey() + ": " + check.getValue().get())
                .toList();
        if (!failed.isEmpty()) {
            log.error("Not reporting to systemd, which will restart the agent: {}", String.join("; ", failed));
            return;
        }
        try {
            systemd.send("WATCHDOG=1");
        } catch (IOException e) {
            log.warn("Reporting to systemd failed: {}", e.getMessage());
        }
    }
}
