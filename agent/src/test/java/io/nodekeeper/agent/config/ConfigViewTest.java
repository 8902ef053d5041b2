package io.nodekeeper.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import org.junit.jupiter.api.Test;

/** The page {@code /configz}. */
class ConfigViewTest {

    @Test
    void theDefaultsAreKubernetes() {
        JsonObject config = ConfigView.of(new AgentConfigBuilder("n1").build()).object("kubeletconfig");

        assertThat(config.text("kind")).isEqualTo("KubeletConfiguration");
        assertThat(config.text("apiVersion")).isEqualTo("kubelet.config.k8s.io/v1beta1");
        assertThat(config.text("nodeStatusUpdateFrequency")).isEqualTo("10s");
        assertThat(config.text("nodeStatusReportFrequency")).isEqualTo("5m0s");
        assertThat(config.number("nodeLeaseDurationSeconds")).contains(40L);
        assertThat(config.number("maxPods")).contains(110L);
        assertThat(config.object("evictionHard").text("memory.available")).isEqualTo("100Mi");
        assertThat(config.object("evictionHard").text("nodefs.available")).isEqualTo("10%");
        assertThat(config.object("evictionHard").text("nodefs.inodesFree")).isEqualTo("5%");
        assertThat(config.object("authentication").object("webhook").text("cacheTTL"))
                .isEqualTo("2m0s");
        assertThat(config.object("authorization").text("mode")).isEqualTo("Webhook");
    }

    @Test
    void whatTheFileSaysIsShownWithoutCredentials() {
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");
        ConfigFile.parse("""
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                maxPods: 7
                systemReserved: {memory: 1Gi}
                evictionSoft: {memory.available: 12.5%}
                evictionSoftGracePeriod: {memory.available: 90s}
                staticPodURL: https://somebody:secret@pods.example/all
                staticPodURLHeader: {Authorization: [Bearer secret]}
                shutdownGracePeriod: 30s
                shutdownGracePeriodCriticalPods: 10s
                """, builder);

        JsonObject config = ConfigView.of(builder.build()).object("kubeletconfig");

        assertThat(config.number("maxPods")).contains(7L);
        assertThat(config.object("systemReserved").text("memory")).isEqualTo("1Gi");
        assertThat(config.object("evictionSoft").text("memory.available")).isEqualTo("12.5%");
        assertThat(config.object("evictionSoftGracePeriod").text("memory.available"))
                .isEqualTo("1m30s");
        assertThat(config.text("staticPodURL")).isEqualTo("https://pods.example/all");
        assertThat(config.array("shutdownGracePeriodByPodPriority")
                        .objects()
                        .map(group -> group.number("shutdownGracePeriodSeconds").orElse(0L)))
                .containsExactly(20L, 10L);
        assertThat(Json.write(config)).doesNotContain("secret");
    }
}
