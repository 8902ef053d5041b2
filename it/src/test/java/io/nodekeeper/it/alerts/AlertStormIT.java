package io.nodekeeper.it.alerts;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.it.Eventually;
import io.nodekeeper.it.alerts.ScrapedFleet.State;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What operators are sent when 1,000 nodes fail at the same time. All times of the configuration are a twentieth or a
 * fifth, so a second here is 20 s or 5 s with the configuration as it is.
 */
@Order(3)
@Tag("long")
class AlertStormIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int TWENTIETH = 20;
    /** Longer than the delays of all alerts and groups together: 5 min + 90 s, or 20 s with {@link #TWENTIETH}. */
    private static final Duration STORM = Duration.ofSeconds(22);
    /**
     * Alerts of nodes leave after 90 s, and the blindness that mutes them is an alert after 60 s: 4.5 s and 3 s are too close for
     * Prometheus' and Alertmanager's rounds of a second each, 18 s and 12 s are not.
     */
    private static final int FIFTH = 5;
    /** The last alert of a node fires before this begins; with {@link #FIFTH} its notification would come after 18 s. */
    private static final Duration SLOW_STORM = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    void aThousandHungRuntimesMakeOneNotificationForEachCause() throws Exception {
        try (Monitoring monitoring = calm(TWENTIETH)) {
            monitoring.becomes(new ScrapedFleet(State.RUNTIME_HANGS, State.WELL));

            List<String> sent = afterTheStorm(monitoring, "NodekeeperPodNetworkUnavailable", STORM);

            assertThat(monitoring.firing("NodekeeperPlegAboutToFail")).isEqualTo(ScrapedFleet.NODES);
            // One for the runtimes and one for the pod network; the warnings of the same nodes are muted.
            assertThat(sent).as("notifications").containsExactly("text-message", "text-message");
        }
    }

    @Test
    void aZonesOutageIsOnePageAndAtMostOneEarlyWarning() throws Exception {
        try (Monitoring monitoring = calm(TWENTIETH)) {
            monitoring.becomes(new ScrapedFleet(State.SILENT, State.WELL));
            Eventually.within(LIMIT, () -> monitoring.firing("NodekeeperManySuspects") == 1);
            monitoring.becomes(new ScrapedFleet(State.DOWN, State.WELL));

            List<String> sent = afterTheStorm(monitoring, "NodekeeperAgentDown", STORM);

            assertThat(sent).as("notifications").hasSizeLessThanOrEqualTo(3).containsOnlyOnce("pager");
            assertThat(sent).doesNotContain("text-message");
        }
    }

    @Test
    void whileTheControllerIsBlindNoNodeIsReported() throws Exception {
        try (Monitoring monitoring = calm(FIFTH)) {
            monitoring.becomes(new ScrapedFleet(State.RUNTIME_HANGS, State.BLIND));

            List<String> sent = afterTheStorm(monitoring, "NodekeeperPodNetworkUnavailable", SLOW_STORM);

            assertThat(sent).as("notifications").containsExactly("pager");
        }
    }

    private Monitoring calm(int speed) throws Exception {
        Monitoring monitoring = new Monitoring(directory, speed);
        try {
            Eventually.within(LIMIT, () -> monitoring.scraped() == ScrapedFleet.NODES);
        } catch (Exception | AssertionError e) {
            monitoring.close();
            throw e;
        }
        assertThat(monitoring.notifications()).isEmpty();
        return monitoring;
    }

    /** Waits until the alert of all nodes fires and {@code storm} has passed; returns the receivers that were notified. */
    private static List<String> afterTheStorm(Monitoring monitoring, String alert, Duration storm) throws Exception {
        Eventually.within(LIMIT, () -> monitoring.firing(alert) == ScrapedFleet.NODES);
        Thread.sleep(storm.toMillis());
        List<String> sent = monitoring.notifications();
        System.out.println(
                ScrapedFleet.NODES + " nodes with " + alert + ": " + sent.size() + " notifications, " + sent);
        return sent;
    }
}
