package io.nodekeeper.agent.companion;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KubeletOutlookTest {
    private static final Instant BEGIN = Instant.parse("2026-01-01T01:00:00Z");

    private final List<String> events = new ArrayList<>();
    private final KubeletOutlook outlook =
            new KubeletOutlook(event -> events.add(event.type() + " " + event.reason() + " " + event.message()));

    private void stalled(int second, String pod) {
        Instant now = BEGIN.plusSeconds(second);
        outlook.update(
                new Forecast.Facts(
                        true,
                        Optional.empty(),
                        Optional.of(KubeletMetrics.lastRelist(Optional.of(BEGIN), false)),
                        now,
                        Optional.empty(),
                        Optional.empty(),
                        List.of(new Forecast.Stuck(pod, BEGIN))),
                true,
                now);
    }

    @Test
    void aStallIsAnnouncedOnceAndItsEndIsTold() {
        for (int second = 0; second < 120; second++) {
            stalled(second, "shop/cart");
        }
        assertThat(outlook.condition().status()).isEqualTo("True");
        assertThat(outlook.condition().reason()).isEqualTo("PLEGStalled");

        outlook.update(Forecast.Facts.NONE, true, BEGIN.plusSeconds(121));

        assertThat(outlook.condition().status()).isEqualTo("False");
        assertThat(outlook.condition().reason()).isEqualTo("KubeletHealthy");
        assertThat(events)
                .containsExactly(
                        "Warning PLEGStalled the kubelet's PLEG will call this node NotReady in 2m30s because of pod"
                                + " shop/cart: its last relist began at 2026-01-01T01:00:00Z, threshold 3m0s",
                        "Normal KubeletForecastCleared resolved: PLEGStalled, the node is Ready");
    }

    @Test
    void anotherPodIsAnotherCause() {
        stalled(40, "shop/cart");
        stalled(41, "shop/till");

        assertThat(events).hasSize(2).last().asString().contains("because of pod shop/till");
    }

    @Test
    void aKubeletThatNothingIsKnownOfIsNotCalledHealthy() {
        outlook.update(Forecast.Facts.NONE, false, BEGIN);

        assertThat(outlook.condition().status()).isEqualTo("Unknown");
        assertThat(outlook.condition().reason()).isEqualTo("KubeletNotObserved");
        assertThat(events).isEmpty();
    }
}
