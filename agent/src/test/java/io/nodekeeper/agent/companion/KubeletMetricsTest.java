package io.nodekeeper.agent.companion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class KubeletMetricsTest {
    private static byte[] line(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static KubeletMetrics read(String text) {
        KubeletMetrics.Reader reader = new KubeletMetrics.Reader();
        text.lines().forEach(each -> assertThat(reader.line(line(each))).isTrue());
        return reader.metrics();
    }

    @Test
    void theSamplesOfThePlegAreFoundAmongTheOthers() {
        KubeletMetrics metrics = read("""
                # HELP kubelet_pleg_last_seen_seconds [ALPHA] Timestamp in seconds when PLEG was last seen active.
                # TYPE kubelet_pleg_last_seen_seconds gauge
                kubelet_pleg_last_seen_seconds 1.767225494e+09
                kubelet_pleg_relist_duration_seconds_bucket{le="0.005"} 12
                kubelet_pleg_relist_duration_seconds_sum 41.5
                kubelet_pleg_relist_duration_seconds_count 1200
                kubelet_runtime_operations_errors_total{operation_type="container_status"} 3
                kubelet_runtime_operations_errors_total{operation_type="exec_sync"} 1 1767225494000
                kubelet_evented_pleg_connection_success_count 0
                kubelet_node_name{node="kubelet_pleg_last_seen_seconds 5"} 1
                """);

        assertThat(metrics.lastRelist()).hasValue(Instant.parse("2025-12-31T23:58:14Z"));
        assertThat(metrics.relists()).isEqualTo(new KubeletMetrics.Relists(1200, 41.5));
        assertThat(metrics.errors()).containsOnly(entry("container_status", 3.0), entry("exec_sync", 1.0));
        assertThat(metrics.evented()).isFalse();
    }

    @Test
    void eventsInUseAreSeenAndAMissingOrZeroTimeIsNone() {
        assertThat(read("kubelet_evented_pleg_connection_success_count 1").evented())
                .isTrue();
        assertThat(read("kubelet_pleg_last_seen_seconds 0").lastRelist()).isEmpty();
        assertThat(read("").lastRelist()).isEmpty();
    }

    @Test
    void valuesThatAreNoFiniteTimesAreLeftOut() {
        for (String value : new String[] {"NaN", "+Inf", "-1", "1e300", "x", "", "253402300800"}) {
            assertThat(read("kubelet_pleg_last_seen_seconds " + value).lastRelist())
                    .as(value)
                    .isEmpty();
        }
    }

    @Test
    void theTimeOfRelistsIsThatSinceTheScrapeBefore() {
        KubeletMetrics first = scrape(10, 20);

        assertThat(first.relistTime()).isEmpty();
        KubeletMetrics second = scrape(12, 80).since(first);
        assertThat(second.relistTime()).hasValue(Duration.ofSeconds(30));
        assertThat(scrape(12, 80).since(second).relistTime()).hasValue(Duration.ofSeconds(30));
        assertThat(scrape(1, 1).since(second).relistTime()).isEmpty();
        assertThat(scrape(13, 1e300).since(second).relistTime()).hasValue(Duration.ofDays(1));
    }

    private static KubeletMetrics scrape(double count, double seconds) {
        return read("kubelet_pleg_relist_duration_seconds_sum " + seconds
                + "\nkubelet_pleg_relist_duration_seconds_count " + count);
    }

    @Test
    void aScrapeHasABoundInBytesAndInOperations() {
        KubeletMetrics.Reader reader = new KubeletMetrics.Reader();
        for (int i = 0; i < 1_000; i++) {
            reader.line(line("kubelet_runtime_operations_errors_total{operation_type=\"op" + i + "\"} 1"));
        }
        byte[] long1 = new byte[1 << 20];
        int taken = 0;
        while (taken < 100 && reader.line(long1)) {
            taken++;
        }

        assertThat(reader.metrics().errors()).hasSize(64);
        assertThat(taken).isEqualTo(7);
    }

    @Property
    void noLineBreaksTheReader(@ForAll String text, @ForAll byte[] bytes) {
        KubeletMetrics.Reader reader = new KubeletMetrics.Reader();

        reader.line(bytes);
        reader.line(line("kubelet_pleg_last_seen_seconds" + text));
        reader.line(line("kubelet_runtime_operations_errors_total" + text));
        reader.line(line("kubelet_runtime_operations_errors_total{operation_type=\"" + text));

        assertThat(reader.metrics()).isNotNull();
    }
}
