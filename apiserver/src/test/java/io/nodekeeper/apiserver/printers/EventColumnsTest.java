package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** The cells of an Event in {@code kubectl get events}. */
class EventColumnsTest {
    @Test
    void eventThatARecorderCounts() {
        Map<String, String> cells = Cells.of(
                Tables.EVENTS,
                "{'involvedObject':{'kind':'Node','name':'n1'},'count':2,'firstTimestamp':'2026-11-21T06:00:00Z',"
                        + "'lastTimestamp':'2026-11-21T06:59:00Z','source':{'component':'kubelet','host':'n1'}}");

        assertThat(cells)
                .containsEntry("Last Seen", "'60s'")
                .containsEntry("Object", "'node/n1'")
                .containsEntry("Source", "'kubelet, n1'")
                .containsEntry("First Seen", "'60m'")
                .containsEntry("Count", "2");
    }

    @Test
    void eventOfTheNewerApiThatOccurredOnce() {
        Map<String, String> cells = Cells.of(
                Tables.EVENTS,
                "{'involvedObject':{'kind':'Pod'},'count':0,'firstTimestamp':null,'lastTimestamp':null,"
                        + "'eventTime':'2026-11-21T06:50:00.000000Z','source':{},"
                        + "'reportingComponent':'default-scheduler','reportingInstance':'scheduler-1'}");

        assertThat(cells)
                .containsEntry("Last Seen", "'10m'")
                .containsEntry("Object", "'pod'")
                .containsEntry("Source", "'default-scheduler, scheduler-1'")
                .containsEntry("First Seen", "'10m'")
                .containsEntry("Count", "1");
    }

    @Test
    void seriesHasTheCountAndTheLastTime() {
        Map<String, String> cells = Cells.of(
                ClusterTables.NEW_EVENTS,
                "{'regarding':{'kind':'Pod','name':'p'},'deprecatedCount':1,'eventTime':'2026-11-21T06:00:00.000000Z',"
                        + "'deprecatedLastTimestamp':'2026-11-21T06:30:00Z','reportingController':'c',"
                        + "'series':{'count':9,'lastObservedTime':'2026-11-21T06:58:30.000000Z'}}");

        assertThat(cells)
                .containsEntry("Last Seen", "'90s'")
                .containsEntry("Source", "'c'")
                .containsEntry("First Seen", "'60m'")
                .containsEntry("Count", "9");
    }
}
