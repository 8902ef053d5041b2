package io.nodekeeper.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.api.Quantity;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    void readsTheOptionsOfTheNodesApi() {
        assertThat(parse("").nodeApi()).isEqualTo(NodeApiConfig.DEFAULT);

        NodeApiConfig config = parse("""
                address: 127.0.0.1
                tlsCertFile: /pki/node.crt
                tlsPrivateKeyFile: /pki/node.key
                authentication:
                  anonymous: {enabled: true}
                  webhook: {enabled: false, cacheTTL: 10s}
                  x509: {clientCAFile: /pki/ca.crt}
                authorization:
                  mode: AlwaysAllow
                  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 1s}
                """).nodeApi();

        assertThat(config)
                .isEqualTo(new NodeApiConfig(
                        InetAddress.ofLiteral("127.0.0.1"),
                        Optional.of(Path.of("/pki/node.crt")),
                        Optional.of(Path.of("/pki/node.key")),
                        Optional.of(Path.of("/pki/ca.crt")),
                        false,
                        true,
                        false,
                        false,
                        Duration.ofSeconds(10),
                        // 0 is how tools write the default.
                        Duration.ofMinutes(5),
                        Duration.ofSeconds(1)));
    }

    @Test
    void namesWrongOptionsOfTheNodesApi() {
        assertThatThrownBy(() -> parse("""
                        address: here
                        tlsCertFile: /pki/node.crt
                        authentication:
                          anonymous: {enabled: maybe}
                          x509: {clientCAFile: ca.crt}
                          webhook: true
                          basic: {enabled: true}
                        authorization: {mode: RBAC, webhook: {cacheAuthorizedTTL: long}}
                        """))
                .hasMessageContaining("address must be an IP address, got here")
                .hasMessageContaining("tlsCertFile and tlsPrivateKeyFile belong together; expected both or neither")
                .hasMessageContaining("authentication.anonymous.enabled must be true or false, got maybe")
                .hasMessageContaining("authentication.x509.clientCAFile must be an absolute path, got ca.crt")
                .hasMessageContaining("line 7: authentication.x509.clientCAFile must be an absolute")
                .hasMessageContaining("line 8: authentication.webhook must be an object, got true")
                .hasMessageContaining("line 9: unknown field \"authentication.basic\"")
                .hasMessageContaining("authorization.mode must be Webhook or AlwaysAllow, got RBAC")
                .hasMessageContaining(
                        "authorization.webhook.cacheAuthorizedTTL must be a duration like 1m30s, got long");
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
    void readsTheFieldsAboutCgroups() {
        assertThat(cgroups("maxPods: 1")).isEqualTo(CgroupConfig.DEFAULT);
        assertThat(CgroupConfig.DEFAULT.pods()).isEqualTo("/kubepods");
        CgroupConfig set = cgroups("""
                cgroupDriver: cgroupfs
                cgroupRoot: /machine/one
                enforceNodeAllocatable: []
                cpuCFSQuota: false
                podPidsLimit: 100
                singleProcessOOMKill: true
                oomScoreAdj: -500
                """);
        assertThat(set)
                .isEqualTo(
                        new CgroupConfig(true, CgroupDriver.CGROUPFS, "/machine/one", false, false, 100, true, -500));
        assertThat(set.pods()).isEqualTo("/machine/one/kubepods");
        assertThat(cgroups("enforceNodeAllocatable: [none]").enforces()).isFalse();
        assertThat(cgroups("cgroupsPerQOS: false"))
                .isEqualTo(new CgroupConfig(false, CgroupDriver.CGROUPFS, "/", false, true, -1, false, -999));
    }

    @Test
    void namesEachWrongFieldAboutCgroups() {
        assertThatThrownBy(() -> parse("""
                        cgroupsPerQOS: false
                        cgroupDriver: other
                        cgroupRoot: a/../b
                        enforceNodeAllocatable: [none, pods, kube-reserved, all]
                        cpuCFSQuota: 1
                        podPidsLimit: none
                        oomScoreAdj: 1001
                        kubeReserved: {pods: "3"}
                        """))
                .hasMessageContaining("cgroupDriver must be cgroupfs or systemd, got other")
                .hasMessageContaining("cgroupRoot must be the absolute path of a cgroup, such as /name, got a/../b")
                .hasMessageContaining("enforceNodeAllocatable: kube-reserved is not supported by this agent")
                .hasMessageContaining("option \"all\" specified for enforceNodeAllocatable; valid options are")
                .hasMessageContaining("may not contain additional enforcements when \"none\" is specified")
                .hasMessageContaining("enforceNodeAllocatable is not supported unless cgroupsPerQOS is set to true")
                .hasMessageContaining("cpuCFSQuota must be true or false, got 1")
                .hasMessageContaining("podPidsLimit must be a whole number, got none")
                .hasMessageContaining("oomScoreAdj must be from -1000 to 1000, got 1001")
                .hasMessageContaining("kubeReserved: cannot reserve \"pods\" resource");
    }

    @Test
    void theDriverSaysWhereTheCgroupOfAllPodsIs() {
        CgroupConfig systemd = cgroups("cgroupDriver: systemd\ncgroupRoot: /two-parts/one");

        assertThat(systemd.driver()).isEqualTo(CgroupDriver.SYSTEMD);
        assertThat(systemd.places())
                .containsExactly(
                        "/two_parts.slice/two_parts-one.slice/two_parts-one-kubepods.slice", "/two-parts/one/kubepods");
        assertThat(CgroupConfig.DEFAULT.places()).containsExactly("/kubepods", "/kubepods.slice");
        assertThat(cgroups("cgroupDriver: \"\"").driver()).isEqualTo(CgroupDriver.CGROUPFS);
    }

    @Test
    void anAgentThatLimitsItsPodsMeasuresWhatTheyMayUse() {
        String gate = "featureGates: {PodLifecycle: true}\nevictionHard: {memory.available: 200Mi}\n";

        assertThat(parse(gate).thresholds())
                .extracting(threshold -> threshold.signal().toString())
                .containsExactly("memory.available", "allocatableMemory.available");
        assertThat(parse(gate + "enforceNodeAllocatable: []").thresholds()).hasSize(1);
        assertThat(parse(gate.replace("true", "false")).thresholds()).hasSize(1);
    }

    private static CgroupConfig cgroups(String yaml) {
        return parse(yaml).pods().cgroups();
    }

    @Test
    void readsTheFieldsAboutProcessors() {
        AgentConfig config = parse("""
                cpuManagerPolicy: static
                cpuManagerReconcilePeriod: 5s
                reservedSystemCPUs: 0-1,7
                kubeReserved: {cpu: 500m, memory: 1Gi}
                """);

        assertThat(config.pods().cpus())
                .isEqualTo(new CpuConfig(true, Duration.ofSeconds(5), CpuSet.of(List.of(0, 1, 7))));
        assertThat(config.kubeReserved()).containsOnlyKeys("memory");
        assertThat(config.systemReserved()).isEqualTo(Map.of("cpu", Quantity.of(3)));
        assertThatThrownBy(
                        () -> parse("cpuManagerPolicy: fast\ncpuManagerReconcilePeriod: -1s\nreservedSystemCPUs: all"))
                .hasMessageContaining("cpuManagerPolicy must be none or static, got fast")
                .hasMessageContaining("cpuManagerReconcilePeriod must be greater than 0, got -1s")
                .hasMessageContaining("reservedSystemCPUs: expected processors such as 0-3,7, got \"all\"");
    }

    @Test
    void anEmptyMapOfThresholdsTurnsTheDefaultsOff() {
        assertThat(parse("evictionHard: {}").thresholds()).isEmpty();
        assertThat(parse("evictionHard:").thresholds()).hasSize(5);
        assertThat(parse("evictionHard: {}\nmergeDefaultEvictionSettings: true").thresholds())
                .hasSize(5);
    }

    @Test
    void podsCanDoWithoutTheNodesResolvConf() {
        assertThat(parse("resolvConf: \"\"").pods().resolvConf()).isEqualTo(Path.of(""));
        assertThat(parse("").pods().resolvConf()).isEqualTo(Path.of("/etc/resolv.conf"));
        assertThatThrownBy(() -> parse("resolvConf: etc/resolv.conf"))
                .hasMessageContaining("resolvConf must be an absolute path, or \"\"");
    }

    @Test
    void readsTheFieldsAboutPods() {
        PodConfig pods = parse("""
                podLogsDir: /data/logs
                clusterDNS: [10.96.0.10, "fd00::a"]
                clusterDomain: cluster.local
                resolvConf: /run/resolv.conf
                staticPodPath: /etc/manifests
                fileCheckFrequency: 5s
                staticPodURL: https://here/pods
                staticPodURLHeader: {X-Who: [me]}
                httpCheckFrequency: 0s
                evictionMaxPodGracePeriod: 30
                imageGCHighThresholdPercent: 90
                imageGCLowThresholdPercent: 70
                imageMinimumGCAge: 1m
                imageMaximumGCAge: 24h
                containerLogMaxSize: 1Mi
                containerLogMaxFiles: 2
                containerLogMonitorInterval: 3s
                allowedUnsafeSysctls: [net/core/*, kernel.sem]
                seccompDefault: true
                """).pods();

        assertThat(pods)
                .isEqualTo(new PodConfig(
                        Path.of("/data/logs"),
                        List.of("10.96.0.10", "fd00::a"),
                        "cluster.local",
                        Path.of("/run/resolv.conf"),
                        new StaticPodConfig(
                                Optional.of(Path.of("/etc/manifests")),
                                Duration.ofSeconds(5),
                                Optional.of(URI.create("https://here/pods")),
                                Map.of("X-Who", List.of("me")),
                                Duration.ofSeconds(20)),
                        Duration.ofSeconds(30),
                        CgroupConfig.DEFAULT,
                        new ImageGcConfig(90, 70, Duration.ofMinutes(1), Duration.ofHours(24)),
                        CpuConfig.DEFAULT,
                        new ContainerLogConfig(1 << 20, 2, Duration.ofSeconds(3)),
                        new PodSecurityConfig(
                                List.of(
                                        new SysctlPattern("net.core.*", SysctlPattern.Namespace.NET),
                                        new SysctlPattern("kernel.sem", SysctlPattern.Namespace.IPC)),
                                true)));
        assertThatThrownBy(() -> parse("allowedUnsafeSysctls: [vm.*]\nseccompDefault: 1"))
                .hasMessageContaining("seccompDefault must be true or false, got 1")
                .hasMessageContaining("allowedUnsafeSysctls: the sysctls \"vm.*\" are not known to be namespaced");
        assertThatThrownBy(() ->
                        parse("containerLogMaxSize: much\ncontainerLogMaxFiles: 1\ncontainerLogMonitorInterval: 1s"))
                .hasMessageContaining(
                        "containerLogMaxSize must be a quantity of bytes of more than 0, like 10Mi, got much")
                .hasMessageContaining("containerLogMaxFiles must be a number of at least 2, got 1")
                .hasMessageContaining("containerLogMonitorInterval must be a duration of 3s or more, got 1s");
        assertThatThrownBy(() -> parse("imageGCHighThresholdPercent: 101\nimageGCLowThresholdPercent: 85\n"
                        + "imageMinimumGCAge: 1h\nimageMaximumGCAge: 1h"))
                .hasMessageContaining("imageGCHighThresholdPercent must be a percentage from 0 to 100, got 101")
                .hasMessageContaining("imageGCLowThresholdPercent must be less than imageGCHighThresholdPercent,"
                        + " which is 85, got 85")
                .hasMessageContaining("imageMaximumGCAge must be 0, or greater than imageMinimumGCAge, which is 1h0m0s,"
                        + " got 1h0m0s");
        assertThat(parse("maxPods: 1").pods()).isEqualTo(PodConfig.DEFAULT);
        assertThatThrownBy(() -> parse("podLogsDir: logs\nclusterDNS: [kube-dns]\nstaticPodURL: here\n"
                        + "fileCheckFrequency: 1ms\nstaticPodURLHeader: {a: b}"))
                .hasMessageContaining("staticPodURL must be a URL with http or https, got here")
                .hasMessageContaining("fileCheckFrequency must be a duration of 1s or more, like 20s, got 1ms")
                .hasMessageContaining("staticPodURLHeader must be a map of lists of strings, got {a=b}")
                .hasMessageContaining(
                        "podLogsDir must be an absolute and normalized path of ASCII characters, got logs")
                .hasMessageContaining("clusterDNS must be a list of IP addresses, got [kube-dns]");
    }

    @Test
    void readsHowLongAShutdownWaits() {
        assertThat(parse("maxPods: 1").shutdown()).isEqualTo(ShutdownConfig.NONE);
        assertThat(parse("shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s")
                        .shutdown()
                        .groups())
                .containsExactly(
                        new ShutdownConfig.Group(0, Duration.ofSeconds(20)),
                        new ShutdownConfig.Group(2_000_000_000L, Duration.ofSeconds(10)));
        assertThat(parse("shutdownGracePeriodByPodPriority: [{priority: 100, shutdownGracePeriodSeconds: 5},"
                                + " {priority: 0, shutdownGracePeriodSeconds: 60}]")
                        .shutdown()
                        .groups())
                .containsExactly(
                        new ShutdownConfig.Group(0, Duration.ofSeconds(60)),
                        new ShutdownConfig.Group(100, Duration.ofSeconds(5)));
        assertThatThrownBy(() -> parse("shutdownGracePeriod: 500ms\nshutdownGracePeriodByPodPriority: [{priority: 1}]"))
                .hasMessageContaining("shutdownGracePeriod must be 0s, or a duration of 1s or more, got 500ms")
                .hasMessageContaining("shutdownGracePeriodByPodPriority must be a list");
        assertThatThrownBy(() -> parse("shutdownGracePeriod: 5s\nshutdownGracePeriodCriticalPods: 10s"))
                .hasMessageContaining(
                        "shutdownGracePeriodCriticalPods must be at most shutdownGracePeriod, which is 5s");
        assertThatThrownBy(() -> parse("shutdownGracePeriod: 5s\nshutdownGracePeriodByPodPriority:"
                        + " [{priority: 0, shutdownGracePeriodSeconds: 60}]"))
                .hasMessageContaining("shutdownGracePeriodByPodPriority excludes shutdownGracePeriod");
    }

    @Test
    void listsAllFaultsAtOnce() {
        assertThatThrownBy(() -> parse("""
                        maxPods: many
                        nodeLeaseDurationSeconds: -1
                        nodeStatusUpdateFrequency: 10
                        kubeReserved: {cpu: lots}
                        evictionHard: {disk.available: 1Gi}
                        noSuchField: 1
                        """)).isInstanceOf(ConfigException.class).hasMessage("""
                        invalid configuration:
                          line 3: maxPods must be a whole number, got many
                          line 4: nodeLeaseDurationSeconds must be from 1 to 2147483647, got -1
                          line 5: nodeStatusUpdateFrequency must be a duration like 10s, got 10
                          line 6: kubeReserved: cpu: "lots" is not a quantity; expected a number with an optional suffix, like 100m, 4, 16Gi or 1e3
                          line 7: unsupported eviction signal disk.available
                          line 8: unknown field "noSuchField\"""");
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
                        runtimeRequestTimeout: -1s
                        nodeStatusMaxImages: -2
                        healthzPort: 70000
                        healthzBindAddress: "1234"
                        featureGates: {ParallelPLEG: maybe}
                        """)).isInstanceOf(ConfigException.class).hasMessage("""
                        invalid configuration:
                          line 3: containerRuntimeEndpoint must be unix:///PATH or none, got "tcp://1.2.3.4:5"
                          line 4: runtimeRequestTimeout must be greater than 0, got -1s
                          line 5: nodeStatusMaxImages must be from -1 to 2147483647, got -2
                          line 6: healthzPort must be from 0 to 65535, got 70000
                          line 7: healthzBindAddress must be an IP address, got "1234"
                          line 8: featureGates must be a map of true and false, got {ParallelPLEG=maybe}""");
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
    void onDockerEngineNothingIsStarted() {
        AgentConfigBuilder builder = new AgentConfigBuilder("n1")
                .containerRuntimeEndpoint("unix:///run/docker.sock")
                .networkProbeInterval(Duration.ofMinutes(1))
                .featureGates(Map.of("PodLifecycle", true));

        assertThatThrownBy(builder::build).isInstanceOf(ConfigException.class).hasMessage("""
                        invalid configuration:
                          network-probe-interval must be 0 with Docker Engine at unix:///run/docker.sock, which creates no\
                         sandboxes for the agent, got 1m0s
                          feature gate PodLifecycle must be false with Docker Engine at unix:///run/docker.sock, whose pods\
                         are only watched""");
    }
}
