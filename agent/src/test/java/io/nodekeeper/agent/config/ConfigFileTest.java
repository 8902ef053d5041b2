package io.nodekeeper.agent.config;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.Quantity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ConfigFileTest {
    private static final String HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

    private static AgentConfig parse(String yaml) {
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");
        ConfigFile.parse(HEAD + yaml, builder);
        return builder.build();
    }

    @Test
    void anEmptyConfigurationHasKubernetesDefaults() {
        AgentConfig config = parse("");

        assertThat(config.nodeStatusUpdateFrequency()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.nodeStatusReportFrequency()).isEqualTo(Duration.ofMinutes(5));
        assertThat(config.nodeLeaseDurationSeconds()).isEqualTo(40);
        assertThat(config.leaseInterval()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.maxPods()).isEqualTo(110);
        assertThat(config.thresholds()).hasSize(5);
    }

    @Test
    @Tag("A31")
    void reportsAsOftenAsItUpdatesIfOnlyThatIsSet() {
        assertThat(parse("nodeStatusUpdateFrequency: 20s").nodeStatusReportFrequency())
                .isEqualTo(Duration.ofSeconds(20));
        assertThat(parse("nodeStatusUpdateFrequency: 20s\nnodeStatusReportFrequency: 5m")
                        .nodeStatusReportFrequency())
                .isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void readsTheFieldsThatItKnowsAndAcceptsThoseWithoutEffect() {
        AgentConfig config = parse("""
                maxPods: 50
                registerNode: false
                kubeReserved: {cpu: 100m, memory: 256Mi}
                evictionHard: {memory.available: 200Mi}
                registerWithTaints: [{key: team, effect: NoSchedule}]
                clusterDNS: [10.96.0.10]
                cgroupDriver: systemd
                """);

        assertThat(config.maxPods()).isEqualTo(50);
        assertThat(config.registerNode()).isFalse();
        assertThat(config.kubeReserved())
                .isEqualTo(Map.of("cpu", Quantity.parse("100m"), "memory", Quantity.parse("256Mi")));
        assertThat(config.registerWithTaints().getFirst().key()).isEqualTo("team");
        assertThat(config.thresholds()).hasSize(1);
    }

    @Test
    void readsTheFieldsAboutPods() {
        PodConfig pods = parse("""
                podLogsDir: /data/logs
                clusterDNS: [10.96.0.10, "fd00::a"]
                clusterDomain: cluster.local
                resolvConf: /run/resolv.conf
                """).pods();

        assertThat(pods)
                .isEqualTo(new PodConfig(
                        Path.of("/data/logs"),
                        List.of("10.96.0.10", "fd00:0:0:0:0:0:0:a"),
                        "cluster.local",
                        Path.of("/run/resolv.conf")));
        assertThat(parse("maxPods: 1").pods()).isEqualTo(PodConfig.DEFAULT);
        assertThatThrownBy(() -> parse("podLogsDir: logs\nclusterDNS: [kube-dns]"))
                .hasMessageContaining("podLogsDir must be an absolute path, got logs")
                .hasMessageContaining("clusterDNS must be a list of IP addresses, got [kube-dns]");
    }

    @Test
    void listsAllFaultsAtOnce() {
        assertThatThrownBy(() -> parse("""
                        maxPods: many
                        nodeLeaseDurationSeconds: 0
                        nodeStatusUpdateFrequency: 10
                        kubeReserved: {cpu: lots}
                        evictionHard: {disk.available: 1Gi}
                        noSuchField: 1
                        """)).isInstanceOf(ConfigException.class).hasMessage("""
                        invalid configuration:
                          nodeStatusUpdateFrequency must be a duration like 10s, got 10
                          maxPods must be a whole number, got many
                          unknown field "noSuchField"
                          nodeLeaseDurationSeconds must be from 1 to 2147483647, got 0
                          unsupported eviction signal disk.available
                          kubeReserved: cpu: "lots" is not a quantity; expected a number with an optional suffix, like 100m, 4, 16Gi or 1e3""");
    }

    @Test
    void readsWhatIsAboutTheRuntimeThePortAndTheGates() {
        AgentConfig config = parse("""
                containerRuntimeEndpoint: unix:///run/a.sock
                runtimeRequestTimeout: 30s
                nodeStatusMaxImages: -1
                healthzPort: 0
                featureGates: {RuntimeSnapshots: false, GracefulNodeShutdown: true}
                """);

        assertThat(config.runtime())
                .isEqualTo(new RuntimeConfig(
                        Optional.of("unix:///run/a.sock"), Duration.ofSeconds(30), -1, Duration.ZERO));
        assertThat(config.serving().address()).isEmpty();
        assertThat(config.gates().has(AgentFeature.RUNTIME_SNAPSHOTS)).isFalse();
        assertThat(config.gates().has(AgentFeature.PARALLEL_PLEG)).isTrue();
    }

    @Test
    void listsAllFaultsOfRuntimePortAndGatesAtOnce() {
        assertThatThrownBy(() -> parse("""
                        containerRuntimeEndpoint: tcp://1.2.3.4:5
                        runtimeRequestTimeout: 0s
                        nodeStatusMaxImages: -2
                        healthzPort: 70000
                        healthzBindAddress: localhost
                        featureGates: {ParallelPLEG: maybe}
                        """)).isInstanceOf(ConfigException.class).hasMessage("""
                        invalid configuration:
                          featureGates must be a map of true and false, got {ParallelPLEG=maybe}
                          containerRuntimeEndpoint must be unix:///PATH or none, got "tcp://1.2.3.4:5"
                          runtimeRequestTimeout must be greater than 0, got 0s
                          nodeStatusMaxImages must be from -1 to 2147483647, got -2
                          healthzPort must be from 0 to 65535, got 70000
                          healthzBindAddress must be an IP address, got "localhost\"""");
    }

    @Test
    void refusesAnotherKindNoObjectNoYamlAndNoFile() {
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");

        assertThatThrownBy(() -> ConfigFile.parse("kind: Pod", builder))
                .hasMessageContaining("apiVersion must be kubelet.config.k8s.io/v1beta1, got null")
                .hasMessageContaining("kind must be KubeletConfiguration, got Pod");
        assertThatThrownBy(() -> ConfigFile.parse("[]", builder)).hasMessageContaining("must contain an object");
        assertThatThrownBy(() -> ConfigFile.parse("a: [", builder)).hasMessageContaining("config file is not YAML");
        assertThatThrownBy(() -> ConfigFile.load(Path.of("/no/such/file"), builder))
                .hasMessageContaining("cannot read config file /no/such/file");
    }

    @Test
    void refusesLabelsThatAreNotAnAgentsToSet() {
        assertThatThrownBy(() -> new AgentConfigBuilder("N1")
                        .nodeLabels(Map.of("node-role.kubernetes.io/master", ""))
                        .build())
                .hasMessageContaining("node name \"N1\"")
                .hasMessageContaining("node label \"node-role.kubernetes.io/master\"");
        assertThat(new AgentConfigBuilder("n1")
                        .nodeLabels(
                                Map.of("topology.kubernetes.io/zone", "z", "node.kubernetes.io/pool", "p", "team", "a"))
                        .build()
                        .nodeLabels())
                .hasSize(3);
    }

    @Test
    void fieldsWithoutEffectAreAccepted() throws IOException {
        List<String> fields;
        try (InputStream in = ConfigFile.class.getResourceAsStream("kubelet-fields-without-effect.txt")) {
            fields = new String(requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
        assertThat(fields).hasSize(92).doesNotHaveDuplicates().contains("staticPodPath", "volumePluginDir");
        String yaml = fields.stream().map(field -> field + ": 1\n").collect(Collectors.joining());
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");

        ConfigFile.parse("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" + yaml, builder);

        assertThat(builder.build().maxPods()).isEqualTo(110);
    }
}
