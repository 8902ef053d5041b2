package io.nodekeeper.agent.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SummaryTest {
    private static JsonObject summary(Snapshot values) {
        return new Summary(values, false).json();
    }

    private static JsonObject pod(JsonObject summary) {
        return summary.array("pods").objects().findFirst().orElseThrow();
    }

    @Test
    @Tag("A91")
    void theNodeHasTheFormOfAKubeletAndEachPartItsOwnTime() {
        assertThat(summary(StatsFixture.snapshot()).object("node")).isEqualTo(Json.parseObject("""
                {"nodeName":"n1",
                 "systemContainers":[
                   {"name":"kubelet","startTime":"2026-03-01T10:00:00Z",
                    "cpu":{"time":"2026-03-01T12:00:00Z","usageNanoCores":200000000,"usageCoreNanoSeconds":3000000000},
                    "memory":{"time":"2026-03-01T12:00:00Z","usageBytes":80,"workingSetBytes":70,"rssBytes":5,
                              "pageFaults":3,"majorPageFaults":1},
                    "swap":{"time":"2026-03-01T12:00:00Z","swapUsageBytes":0}}],
                 "startTime":"2026-03-01T00:00:00Z",
                 "cpu":{"time":"2026-03-01T12:00:00Z","usageNanoCores":2000000000,"usageCoreNanoSeconds":30000000000},
                 "memory":{"time":"2026-03-01T12:00:00Z","availableBytes":8589934592,"usageBytes":8589934602,
                           "workingSetBytes":8589934592,"rssBytes":5,"pageFaults":3,"majorPageFaults":1,
                           "psi":{"full":{"total":7,"avg10":0,"avg60":0,"avg300":0},
                                  "some":{"total":4000000,"avg10":1.5,"avg60":0.75,"avg300":0.1}}},
                 "swap":{"time":"2026-03-01T12:00:00Z","swapAvailableBytes":1073737728,"swapUsageBytes":4096},
                 "network":{"time":"2026-03-01T12:00:00Z","name":"eth0","rxBytes":100,"rxErrors":1,"txBytes":200,
                            "txErrors":2,
                            "interfaces":[{"name":"eth0","rxBytes":100,"rxErrors":1,"txBytes":200,"txErrors":2}]},
                 "fs":{"time":"2026-03-01T11:59:55Z","availableBytes":400,"capacityBytes":1000,"usedBytes":550,
                       "inodesFree":60,"inodes":100,"inodesUsed":40},
                 "runtime":{
                   "imageFs":{"time":"2026-03-01T11:59:55Z","availableBytes":700,"capacityBytes":2000,
                              "usedBytes":1100,"inodesFree":80,"inodes":90,"inodesUsed":8},
                   "containerFs":{"time":"2026-03-01T11:59:55Z","availableBytes":700,"capacityBytes":2000,
                                  "usedBytes":1100,"inodesFree":80,"inodes":90,"inodesUsed":8}},
                 "rlimit":{"time":"2026-03-01T11:59:55Z","maxpid":32768,"curproc":3518}}"""));
    }

    @Test
    void aPodWithoutACgroupOfItsOwnIsTheSumOfSandboxAndContainers() {
        assertThat(pod(summary(StatsFixture.snapshot()))).isEqualTo(Json.parseObject("""
                {"podRef":{"name":"web","namespace":"default","uid":"u1"},
                 "startTime":"2026-03-01T11:00:00Z",
                 "containers":[
                   {"name":"main","startTime":"2026-03-01T11:00:01Z",
                    "cpu":{"time":"2026-03-01T12:00:00Z","usageNanoCores":200000000,"usageCoreNanoSeconds":3000000000},
                    "memory":{"time":"2026-03-01T12:00:00Z","availableBytes":50,"usageBytes":110,"workingSetBytes":100,
                              "rssBytes":5,"pageFaults":3,"majorPageFaults":1},
                    "swap":{"time":"2026-03-01T12:00:00Z","swapUsageBytes":0},
                    "rootfs":{"time":"2026-03-01T11:59:55Z","availableBytes":700,"capacityBytes":2000,"usedBytes":30,
                              "inodesFree":80,"inodes":90,"inodesUsed":3},
                    "logs":{"time":"2026-03-01T11:59:55Z","availableBytes":400,"capacityBytes":1000,"usedBytes":12,
                            "inodesFree":60,"inodes":100,"inodesUsed":1}}],
                 "cpu":{"time":"2026-03-01T12:00:00Z","usageNanoCores":300000000,"usageCoreNanoSeconds":4500000000},
                 "memory":{"time":"2026-03-01T12:00:00Z","usageBytes":140,"workingSetBytes":120,"rssBytes":10,
                           "pageFaults":6,"majorPageFaults":2},
                 "swap":{"time":"2026-03-01T12:00:00Z","swapUsageBytes":0},
                 "network":{"time":"2026-03-01T12:00:00Z","name":"eth0","rxBytes":50,"rxErrors":1,"txBytes":60,
                            "txErrors":2,
                            "interfaces":[{"name":"net1","rxBytes":1,"rxErrors":2,"txBytes":3,"txErrors":4},
                                          {"name":"eth0","rxBytes":50,"rxErrors":1,"txBytes":60,"txErrors":2}]},
                 "process_stats":{"process_count":4},
                 "volume":[
                   {"time":"2026-03-01T11:59:57Z","availableBytes":400,"capacityBytes":1000,"usedBytes":5,
                    "inodesFree":60,"inodes":100,"inodesUsed":2,"name":"cache"},
                   {"time":"2026-03-01T11:58:30Z","availableBytes":70,"capacityBytes":100,"usedBytes":25,
                    "inodesFree":8,"inodes":9,"inodesUsed":1,"name":"data",
                    "pvcRef":{"name":"data-0","namespace":"default"}}],
                 "ephemeral-storage":{"time":"2026-03-01T11:59:55Z","availableBytes":400,"capacityBytes":1000,
                                      "usedBytes":54,"inodesFree":60,"inodes":100,"inodesUsed":10}}"""));
    }

    @Test
    void theUseOfAPodIsThatOfTheDiskItIsOn() {
        Map<String, Map<String, DiskUse>> volumes = Map.of("u1", Map.of("cache", new DiskUse(5, 2)));

        PodUse one = PodUse.of(StatsFixture.snapshot(), volumes, false).get("u1");
        PodUse apart = PodUse.of(StatsFixture.snapshot(), volumes, true).get("u1");

        // The layer has 30, the logs 12, the volume 5, other files 7.
        assertThat(one).extracting(PodUse::disk, PodUse::imageDisk).containsExactly(54L, 54L);
        assertThat(one).extracting(PodUse::inodes, PodUse::imageInodes).containsExactly(10L, 10L);
        assertThat(apart).extracting(PodUse::disk, PodUse::imageDisk).containsExactly(24L, 30L);
        assertThat(apart).extracting(PodUse::inodes, PodUse::imageInodes).containsExactly(7L, 3L);
    }

    @Test
    void onlyCpuAndMemoryLeavesTheRestOut() {
        JsonObject summary = new Summary(StatsFixture.snapshot(), true).json();

        assertThat(summary.object("node").fields())
                .containsOnlyKeys("nodeName", "systemContainers", "startTime", "cpu", "memory", "swap");
        assertThat(pod(summary).fields())
                .containsOnlyKeys("podRef", "startTime", "containers", "cpu", "memory", "swap");
        assertThat(pod(summary)
                        .array("containers")
                        .objects()
                        .findFirst()
                        .orElseThrow()
                        .fields())
                .containsOnlyKeys("name", "startTime", "cpu", "memory", "swap");
    }

    @Test
    void whatWasNeverMeasuredIsLeftOut() {
        Snapshot nothing = new Snapshot(
                "n1",
                StatsFixture.NOON,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(StatsFixture.POD),
                Map.of(),
                Optional.empty(),
                Optional.empty(),
                Map.of());

        assertThat(summary(nothing)).isEqualTo(Json.parseObject("""
                {"node":{"nodeName":"n1"},
                 "pods":[{"podRef":{"name":"web","namespace":"default","uid":"u1"},"startTime":"2026-03-01T11:00:00Z",
                          "containers":[{"name":"main","startTime":"2026-03-01T11:00:01Z"}]}]}"""));
    }

    @Test
    void readingsThatAreTooCloseOrTooFarApartGiveNoRate() {
        for (Duration window : List.of(Duration.ofMillis(900), Duration.ofMinutes(6))) {
            var now = StatsFixture.at(
                    Duration.ZERO, StatsFixture.kernel(3_000).node().root());
            var before =
                    StatsFixture.at(window, StatsFixture.kernel(1_000).node().root());

            assertThat(UsageJson.cpu(now, Optional.of(before), Map.of())
                            .orElseThrow()
                            .fields())
                    .containsOnlyKeys("time", "usageCoreNanoSeconds");
        }
    }

    @Test
    void aPodWithACgroupOfItsOwnHasTheNumbersOfThatCgroup() {
        KernelReading sum = StatsFixture.kernel(1_000);
        KernelReading own = new KernelReading(
                sum.node(), Map.of(), Map.of("u1", StatsFixture.usage(9_000, 1, OptionalLong.empty())), Map.of());

        assertThat(PodUsage.of(StatsFixture.POD, sum.pods()).cpuNanos()).hasValue(1_500);
        assertThat(PodUsage.of(StatsFixture.POD, own.pods()).cpuNanos()).hasValue(9_000);
    }

    @Test
    void resourceMetricsHaveAKubeletsNamesAndTheTimesOfTheirMeasurements() {
        assertThat(ResourceMetrics.text(StatsFixture.snapshot(), false)).isEqualTo("""
                # HELP container_cpu_usage_seconds_total Cumulative cpu time consumed by the container in core-seconds
                # TYPE container_cpu_usage_seconds_total counter
                container_cpu_usage_seconds_total{container="main",pod="web",namespace="default"} 3 1772366400000
                # HELP container_memory_working_set_bytes Current working set of the container in bytes
                # TYPE container_memory_working_set_bytes gauge
                container_memory_working_set_bytes{container="main",pod="web",namespace="default"} 100 1772366400000
                # HELP container_start_time_seconds Start time of the container since unix epoch in seconds
                # TYPE container_start_time_seconds gauge
                container_start_time_seconds{container="main",pod="web",namespace="default"} 1772362801.25
                # HELP container_swap_usage_bytes Current amount of the container swap usage in bytes
                # TYPE container_swap_usage_bytes gauge
                container_swap_usage_bytes{container="main",pod="web",namespace="default"} 0 1772366400000
                # HELP node_cpu_usage_seconds_total Cumulative cpu time consumed by the node in core-seconds
                # TYPE node_cpu_usage_seconds_total counter
                node_cpu_usage_seconds_total 30 1772366400000
                # HELP node_memory_working_set_bytes Current working set of the node in bytes
                # TYPE node_memory_working_set_bytes gauge
                node_memory_working_set_bytes 8589934592 1772366400000
                # HELP node_swap_usage_bytes Current swap usage of the node in bytes
                # TYPE node_swap_usage_bytes gauge
                node_swap_usage_bytes 4096 1772366400000
                # HELP pod_cpu_usage_seconds_total Cumulative cpu time consumed by the pod in core-seconds
                # TYPE pod_cpu_usage_seconds_total counter
                pod_cpu_usage_seconds_total{pod="web",namespace="default"} 4.5 1772366400000
                # HELP pod_memory_working_set_bytes Current working set of the pod in bytes
                # TYPE pod_memory_working_set_bytes gauge
                pod_memory_working_set_bytes{pod="web",namespace="default"} 120 1772366400000
                # HELP pod_swap_usage_bytes Current amount of the pod swap usage in bytes
                # TYPE pod_swap_usage_bytes gauge
                pod_swap_usage_bytes{pod="web",namespace="default"} 0 1772366400000
                # HELP resource_scrape_error 1 if there was an error while getting container metrics, 0 otherwise
                # TYPE resource_scrape_error gauge
                resource_scrape_error 0
                """);
        assertThat(ResourceMetrics.text(StatsFixture.snapshot(), true)).endsWith("\nresource_scrape_error 1\n");
    }
}
