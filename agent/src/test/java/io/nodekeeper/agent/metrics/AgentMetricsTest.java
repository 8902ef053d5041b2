package io.nodekeeper.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.eviction.EvictionSignal;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.pods.model.PodCounts;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AgentMetricsTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final VirtualTime time = new VirtualTime(START);
    private final LoopMonitor loops = new LoopMonitor(time.loop("agent").clock());
    private final AgentMetrics metrics = new AgentMetrics(loops);

    @Test
    @Tag("A109")
    void lastSeenIsNotWrittenBeforeTheFirstSuccessfulList() {
        metrics.relistEnded(Duration.ofSeconds(1));

        assertThat(lines("kubelet_pleg_last_seen_seconds")).isEmpty();

        metrics.lastSeen(START.plusMillis(1_500));
        assertThat(lines("kubelet_pleg_last_seen_seconds"))
                .containsExactly("kubelet_pleg_last_seen_seconds 1.7672256015E9");
    }

    @Test
    @Tag("A109")
    void relistOfTwelveSecondsFallsIntoABucketOfItsOwnAndOneOfElevenMinutesIntoTheLast() {
        metrics.relistEnded(Duration.ofSeconds(12));
        metrics.relistEnded(Duration.ofMinutes(11));

        assertThat(lines("kubelet_pleg_relist_duration_seconds"))
                .contains(
                        "kubelet_pleg_relist_duration_seconds_bucket{le=\"10.0\"} 0",
                        "kubelet_pleg_relist_duration_seconds_bucket{le=\"15.0\"} 1",
                        "kubelet_pleg_relist_duration_seconds_bucket{le=\"600.0\"} 1",
                        "kubelet_pleg_relist_duration_seconds_bucket{le=\"+Inf\"} 2",
                        "kubelet_pleg_relist_duration_seconds_count 2",
                        "kubelet_pleg_relist_duration_seconds_sum 672.0");
    }

    @Test
    void callsAreCountedUnderTheKubeletsNames() {
        for (String method : List.of(
                "Version",
                "Status",
                "ListPodSandbox",
                "PodSandboxStatus",
                "ListContainers",
                "ContainerStatus",
                "ContainerStats",
                "UpdateRuntimeConfig",
                "ListImages",
                "ImageFsInfo",
                "RunPodSandbox",
                "StopPodSandbox",
                "RemovePodSandbox")) {
            metrics.ended(method, Duration.ofMillis(4), false);
        }
        metrics.ended("Status", Duration.ofSeconds(5), true);

        assertThat(lines("kubelet_runtime_operations_total"))
                .containsExactlyInAnyOrder(
                        "kubelet_runtime_operations_total{operation_type=\"version\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"status\"} 2.0",
                        "kubelet_runtime_operations_total{operation_type=\"list_podsandbox\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"podsandbox_status\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"list_containers\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"container_status\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"container_stats\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"update_runtime_config\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"list_images\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"image_fs_info\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"run_podsandbox\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"stop_podsandbox\"} 1.0",
                        "kubelet_runtime_operations_total{operation_type=\"remove_podsandbox\"} 1.0");
        assertThat(lines("kubelet_runtime_operations_errors_total"))
                .contains(
                        "kubelet_runtime_operations_errors_total{operation_type=\"status\"} 1.0",
                        "kubelet_runtime_operations_errors_total{operation_type=\"version\"} 0.0");
        assertThat(lines("kubelet_runtime_operations_duration_seconds_bucket{operation_type=\"status\""))
                .contains(
                        "kubelet_runtime_operations_duration_seconds_bucket{operation_type=\"status\",le=\"0.005\"} 1",
                        "kubelet_runtime_operations_duration_seconds_bucket{operation_type=\"status\",le=\"7.62939453125\"}"
                                + " 2");
    }

    @Test
    @Tag("A110")
    void newNodeHasAllFiveTimesOfItsStartOnce() {
        StartupTracker tracker = new StartupTracker(Duration.ofSeconds(20), 0);
        metrics.startup(tracker.attempted(1_000_000_000));
        metrics.startup(tracker.created(1_500_000_000));
        metrics.startup(tracker.ready(4_000_000_000L));
        metrics.startup(tracker.attempted(60_000_000_000L));
        metrics.startup(tracker.created(61_000_000_000L));
        metrics.startup(tracker.ready(70_000_000_000L));

        assertThat(lines("kubelet_node_startup"))
                .containsExactlyInAnyOrder(
                        "kubelet_node_startup_pre_kubelet_duration_seconds 20.0",
                        "kubelet_node_startup_pre_registration_duration_seconds 1.0",
                        "kubelet_node_startup_registration_duration_seconds 0.5",
                        "kubelet_node_startup_post_registration_duration_seconds 2.5",
                        "kubelet_node_startup_duration_seconds 24.0");
    }

    @Test
    @Tag("A110")
    void restartOnAnExistingNodeHasOnlyTheTimesUpToRegistration() {
        StartupTracker tracker = new StartupTracker(Duration.ofSeconds(20), 0);
        metrics.startup(tracker.attempted(1_000_000_000));
        metrics.startup(tracker.ready(4_000_000_000L));

        assertThat(lines("kubelet_node_startup"))
                .containsExactlyInAnyOrder(
                        "kubelet_node_startup_pre_kubelet_duration_seconds 20.0",
                        "kubelet_node_startup_pre_registration_duration_seconds 1.0");
    }

    @Test
    void culpritsThatAreNotNamedAnyMoreAreGone() {
        metrics.culprits(Map.of(new CulpritKey("CNI plugin", "CniPluginHung"), 2));
        assertThat(lines("nodekeeper_agent_runtime_culprits"))
                .containsExactly(
                        "nodekeeper_agent_runtime_culprits{layer=\"CNI plugin\",reason=\"CniPluginHung\"} 2.0");

        metrics.culprits(Map.of());
        assertThat(lines("nodekeeper_agent_runtime_culprits")).isEmpty();
    }

    @Test
    void ageOfALoopGrowsByItself() {
        LoopMonitor.Beat pleg = loops.loop("pleg", Duration.ofSeconds(1));
        time.advance(Duration.ofSeconds(2));
        pleg.beat();
        time.advance(Duration.ofSeconds(7));

        assertThat(lines("nodekeeper_agent_loop_last_beat_seconds"))
                .containsExactly("nodekeeper_agent_loop_last_beat_seconds{loop=\"pleg\"} 7.0");
    }

    @Test
    void stallsAndLateSignalsAreShownAsTheStatisticsReportThem() {
        metrics.stalled(Map.of("memory", Map.of("some", 4.5, "full", 1.25)));
        metrics.late(Map.of("nodefs", 34.0));

        assertThat(lines("nodekeeper_agent_pressure_stalled_seconds_total"))
                .containsExactlyInAnyOrder(
                        "nodekeeper_agent_pressure_stalled_seconds_total{kind=\"some\",resource=\"memory\"} 4.5",
                        "nodekeeper_agent_pressure_stalled_seconds_total{kind=\"full\",resource=\"memory\"} 1.25");
        assertThat(lines("nodekeeper_agent_statistics_late_seconds"))
                .containsExactly("nodekeeper_agent_statistics_late_seconds{signal=\"nodefs\"} 34.0");

        metrics.late(Map.of());
        assertThat(lines("nodekeeper_agent_statistics_late_seconds")).isEmpty();
    }

    @Test
    void podsAreCountedByTheirSourceOnceTheAgentRunsSome() {
        assertThat(lines("kubelet_desired_pods")).isEmpty();
        assertThat(lines("kubelet_active_pods")).isEmpty();
        assertThat(lines("kubelet_mirror_pods")).isEmpty();

        metrics.pods().counted(new PodCounts(5, 2, 4, 1, 2));

        assertThat(lines("kubelet_desired_pods"))
                .containsExactlyInAnyOrder(
                        "kubelet_desired_pods{static=\"\"} 5.0", "kubelet_desired_pods{static=\"true\"} 2.0");
        assertThat(lines("kubelet_active_pods"))
                .containsExactlyInAnyOrder(
                        "kubelet_active_pods{static=\"\"} 4.0", "kubelet_active_pods{static=\"true\"} 1.0");
        assertThat(lines("kubelet_mirror_pods")).containsExactly("kubelet_mirror_pods 2.0");
    }

    @Test
    void refusalsAreCountedByReasonsWhoseNumberIsBounded() {
        for (String reason : List.of(
                "OutOfcpu", "OutOfcpu", "NodeShutdown", "OutOfexample.com/a", "OutOfexample.com/b", "Anything")) {
            metrics.pods().rejected(reason);
        }

        assertThat(lines("kubelet_admission_rejections_total"))
                .containsExactlyInAnyOrder(
                        "kubelet_admission_rejections_total{reason=\"OutOfcpu\"} 2.0",
                        "kubelet_admission_rejections_total{reason=\"NodeShutdown\"} 1.0",
                        "kubelet_admission_rejections_total{reason=\"OutOfExtendedResources\"} 2.0",
                        "kubelet_admission_rejections_total{reason=\"Other\"} 1.0");
    }

    @Test
    void evictionsAreCountedBySignal() {
        metrics.evictions().evicted("memory.available");
        metrics.evictions().evicted("memory.available");
        metrics.evictions().evicted("emptydirfs.limit");
        metrics.evictions().statsAge(EvictionSignal.MEMORY_AVAILABLE, Duration.ofSeconds(12));

        assertThat(lines("kubelet_evictions"))
                .containsExactlyInAnyOrder(
                        "kubelet_evictions{eviction_signal=\"memory.available\"} 2.0",
                        "kubelet_evictions{eviction_signal=\"emptydirfs.limit\"} 1.0");
        String ages = "kubelet_eviction_stats_age_seconds_bucket{eviction_signal=\"memory.available\",le=";
        assertThat(lines(ages)).contains(ages + "\"10.0\"} 0", ages + "\"15.0\"} 1");
    }

    @Test
    void shutdownHasItsTimesAndItsEndIsZeroUntilThen() {
        assertThat(lines("kubelet_graceful_shutdown")).isEmpty();

        metrics.shutdownBegan(Instant.ofEpochSecond(1_000));
        assertThat(lines("kubelet_graceful_shutdown"))
                .containsExactlyInAnyOrder(
                        "kubelet_graceful_shutdown_start_time_seconds 1000.0",
                        "kubelet_graceful_shutdown_end_time_seconds 0.0");

        metrics.shutdownEnded(Instant.ofEpochSecond(1_030));
        assertThat(lines("kubelet_graceful_shutdown"))
                .containsExactlyInAnyOrder(
                        "kubelet_graceful_shutdown_start_time_seconds 1000.0",
                        "kubelet_graceful_shutdown_end_time_seconds 1030.0");
    }

    @Test
    void certificateThatIsRenewedShowsTheTimeThatIsLeft() {
        assertThat(lines("kubelet_certificate_manager_client_ttl_seconds")).isEmpty();

        metrics.clientCertificate(START.plusSeconds(100), time.loop("clock").clock());
        time.advance(Duration.ofSeconds(40));
        assertThat(lines("kubelet_certificate_manager_client_ttl_seconds"))
                .containsExactly("kubelet_certificate_manager_client_ttl_seconds 60.0");

        time.advance(Duration.ofSeconds(70));
        assertThat(lines("kubelet_certificate_manager_client_ttl_seconds"))
                .containsExactly("kubelet_certificate_manager_client_ttl_seconds -10.0");
    }

    @Test
    void theRestHasItsNames() {
        metrics.relistInterval(Duration.ofMillis(1_100));
        metrics.podRelistEnded(Duration.ofMillis(3));
        metrics.discarded();
        metrics.discarded();
        metrics.running(
                2,
                Map.of(
                        ContainerState.CREATED, 0,
                        ContainerState.RUNNING, 5,
                        ContainerState.EXITED, 1,
                        ContainerState.UNKNOWN, 0));
        metrics.nodeName("n1");
        metrics.cgroupVersion(2);
        metrics.stuck(1);
        metrics.networkProbeStep("setup", Duration.ofMillis(250));
        metrics.networkProbeEnded(false);

        assertThat(lines(""))
                .contains(
                        "kubelet_pleg_relist_interval_seconds_bucket{le=\"2.5\"} 1",
                        "kubelet_pleg_pod_relist_duration_seconds_count 1",
                        "kubelet_pleg_discard_events 2.0",
                        "kubelet_running_pods 2.0",
                        "kubelet_running_containers{container_state=\"running\"} 5.0",
                        "kubelet_running_containers{container_state=\"exited\"} 1.0",
                        "kubelet_running_containers{container_state=\"created\"} 0.0",
                        "kubelet_running_containers{container_state=\"unknown\"} 0.0",
                        "kubelet_node_name{node=\"n1\"} 1.0",
                        "kubelet_cgroup_version 2.0",
                        "nodekeeper_agent_stuck_pods 1.0",
                        "nodekeeper_agent_network_probe_duration_seconds{step=\"setup\"} 0.25",
                        "nodekeeper_agent_network_probe_success 0.0");
    }

    private List<String> lines(String prefix) {
        return new String(metrics.scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.startsWith("#") && line.startsWith(prefix))
                .toList();
    }
}
