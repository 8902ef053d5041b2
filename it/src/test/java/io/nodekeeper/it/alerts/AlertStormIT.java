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
 * What operators are sent when 1,000 nodes fail at the same time. All times of the configuration are a twentieth, so a
 * second here is 20 s with the configuration as it is.
 */
@Order(3)
@Tag("long")
class AlertStormIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Longer than the delays of all alerts and groups together: 5 min + 90 s, or 20 s here. */
    private static final Duration STORM = Duration.ofSeconds(22);

    @TempDir
    Path directory;

    @Test
    void aThousandHungRuntimesMakeOneNotificationForEachCause() throws Exception {
        try (Monitoring monitoring = calm()) {
            monitoring.becomes(new ScrapedFleet(State.RUNTIME_HANGS, State.WELL));

            List<String> sent = afterTheStorm(monitoring, "NodekeeperPodNetworkUnavailable", ScrapedFleet.NODES);

            assertThat(monitoring.firing("NodekeeperPlegAboutToFail")).isEqualTo(ScrapedFleet.NODES);
            // One for the runtimes and one for the pod network; the warnings of the same nodes are muted.
            assertThat(sent).as("notifications").containsExactly("text-message", "text-message");
        }
    }

    @Test
    void aZonesOutageIsOnePageAndAtMostOneEarlyWarning() throws Exception {
        try (Monitoring monitoring = calm()) {
            monitoring.becomes(new ScrapedFleet(State.SILENT, State.WELL));
            Eventually.within(LIMIT, () -> monitoring.firing("NodekeeperManySuspects") == 1);
            monitoring.becomes(new ScrapedFleet(State.DOWN, State.WELL));

            List<String> sent = afterTheStorm(monitoring, "NodekeeperAgentDown", ScrapedFleet.NODES);

            assertThat(sent).as("notifications").hasSizeLessThanOrEqualTo(3).containsOnlyOnce("pager");
            assertThat(sent).doesNotContain("text-message");
        }
    }

    @Test
    void whileTheControllerIsBlindNoNodeIsReported() throws Exception {
        try (Monitoring monitoring = calm()) {
            monitoring.becomes(new ScrapedFleet(State.RUNTIME_HANGS, State.BLIND));

            List<String> sent = afterTheStorm(monitoring, "NodekeeperPodNetworkUnavailable", ScrapedFleet.NODES);

            assertThat(sent).as("notifications").containsExactly("pager");
        }
    }

    private Monitoring calm() throws Exception {
        Monitoring monitoring = new Monitoring(directory);
        try {
            Eventually.within(LIMIT, () -> monitoring.scraped() == ScrapedFleet.NODES);
        } catch (Exception | AssertionError e) {
            monitoring.close();
            throw e;
        }
        assertThat(monitoring.notifications()).isEmpty();
        return monitoring;
    }

    /** Waits until {@code count} alerts fire and all delays have passed; returns the receivers that were notified. */
    private static List<String> afterTheStorm(Monitoring monitoring, String alert, int count) throws Exception {
        Eventually.within(LIMIT, () -> monitoring.firing(alert) == count);
        Thread.sleep(STORM.toMillis());
        List<String> sent = monitoring.notifications();
        System.out.println(count + " nodes with " + alert + ": " + sent.size() + " notifications, " + sent);
        return sent;
    }
}
