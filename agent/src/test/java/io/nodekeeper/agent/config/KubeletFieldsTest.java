package io.nodekeeper.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.config.file.KubeletField;
import io.nodekeeper.agent.config.file.KubeletField.Support;
import io.nodekeeper.agent.config.file.KubeletFields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every field of Kubernetes 1.32, and files that are merged. */
class KubeletFieldsTest {
    private static final String HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

    @TempDir
    private Path directory;

    static List<KubeletField> fields() {
        return KubeletFields.all();
    }

    /** Without those that make a difference by being set at all: a port that may not be replaced, and a period's default. */
    static List<KubeletField> plain() {
        return fields().stream()
                .filter(field ->
                        !List.of("healthzPort", "nodeStatusUpdateFrequency").contains(field.path()))
                .toList();
    }

    static List<KubeletField> defaultOnly() {
        return KubeletFields.all().stream()
                .filter(field -> field.support() == Support.DEFAULT_ONLY)
                .toList();
    }

    private static AgentConfig parse(String yaml) {
        return parse(yaml, false);
    }

    private static AgentConfig parse(String yaml, boolean pods) {
        AgentConfigBuilder builder = new AgentConfigBuilder("n1").featureGates(Map.of("PodLifecycle", pods));
        ConfigFile.parse(HEAD + yaml, builder);
        return builder.build();
    }

    /** {@code a.b.c: value} as nested objects in one line. */
    private static String set(String path, String value) {
        String[] names = path.split("\\.");
        return String.join(": {", names) + ": " + value + "}".repeat(names.length - 1) + "\n";
    }

    @Test
    void thereAreAllFieldsOfKubernetesInTheOrderOfTheirNames() {
        List<String> paths = fields().stream().map(KubeletField::path).toList();

        assertThat(paths).doesNotHaveDuplicates();
        assertThat(paths).isSortedAccordingTo(String.CASE_INSENSITIVE_ORDER);
        assertThat(paths.stream().map(path -> path.split("\\.")[0]).distinct()).hasSize(120);
    }

    @ParameterizedTest
    @MethodSource("plain")
    void theDefaultOfAFieldChangesNothing(KubeletField field) {
        String value = field.usual().isEmpty() ? "null" : field.usual();

        assertThat(parse(set(field.path(), value), true)).isEqualTo(parse("", true));
    }

    @ParameterizedTest
    @MethodSource("fields")
    void aValueOfAnotherTypeIsAFaultThatNamesFieldAndLine(KubeletField field) {
        String wrong = field.type().name().startsWith("map") ? "[1]" : "{a: [1]}";

        assertThatThrownBy(() -> parse(set(field.path(), wrong), true))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("line 3: " + field.path());
    }

    @ParameterizedTest
    @MethodSource("defaultOnly")
    void anAgentThatRunsPodsRefusesWhatItCannotDo(KubeletField field) {
        String other = switch (field.type().name()) {
            case "boolean" -> field.usual().equals("true") ? "false" : "true";
            case "whole number" -> "7";
            case "duration" -> "17s";
            case "list of strings" -> "[a]";
            case "map of strings" -> "{a: b}";
            case "list of objects" -> "[{a: b}]";
            default -> another(field);
        };

        assertThatThrownBy(() -> parse(set(field.path(), other), true))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("line 3: " + field.path() + ": ")
                .hasMessageContaining("is not supported by this agent; remove it");
        assertThatCode(() -> parse(set(field.path(), other))).doesNotThrowAnyException();
    }

    private static String another(KubeletField field) {
        String expected = field.type().expected();
        return expected.startsWith("one of ") ? expected.substring(expected.lastIndexOf(' ') + 1) : "other";
    }

    @Test
    void aFlagThatTurnsPodsOnMakesUnsupportedFieldsFaults() {
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");
        ConfigFile.parse(HEAD + "\ntopologyManagerPolicy: best-effort\n", builder);

        builder.featureGates(Map.of("PodLifecycle", true));

        assertThatThrownBy(builder::build)
                .hasMessage(
                        "invalid configuration:\n  line 4: topologyManagerPolicy: best-effort is not supported by this"
                                + " agent; remove it or set it to none");
    }

    @Test
    void acceptsTheFileThatKubeadmWrites() {
        AgentConfig config = parse("""
                authentication:
                  anonymous: {enabled: false}
                  webhook: {cacheTTL: 0s, enabled: true}
                  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
                authorization:
                  mode: Webhook
                  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}
                clusterDNS: [10.96.0.10]
                clusterDomain: cluster.local
                containerRuntimeEndpoint: ""
                cpuManagerReconcilePeriod: 0s
                crashLoopBackOff: {}
                evictionPressureTransitionPeriod: 0s
                fileCheckFrequency: 0s
                healthzBindAddress: 127.0.0.1
                healthzPort: 10248
                httpCheckFrequency: 0s
                imageMaximumGCAge: 0s
                imageMinimumGCAge: 0s
                logging:
                  flushFrequency: 0
                  options:
                    json: {infoBufferSize: "0"}
                    text: {infoBufferSize: "0"}
                  verbosity: 0
                memorySwap: {}
                nodeStatusReportFrequency: 0s
                nodeStatusUpdateFrequency: 0s
                rotateCertificates: true
                runtimeRequestTimeout: 0s
                shutdownGracePeriod: 0s
                shutdownGracePeriodCriticalPods: 0s
                staticPodPath: /etc/kubernetes/manifests
                streamingConnectionIdleTimeout: 0s
                syncFrequency: 0s
                volumeStatsAggPeriod: 0s
                """, true);

        assertThat(config.pods().imageGc()).isEqualTo(ImageGcConfig.DEFAULT);
        assertThat(config.evictionPressureTransitionPeriod()).isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void namesTheLinesOfDuplicatesAliasesAndTextsThatAreTooDeep() {
        assertThatThrownBy(() -> parse("maxPods: 1\nauthorization:\n  mode: Webhook\n  mode: Webhook\nmaxPods: 2\n"))
                .hasMessage("""
                        invalid configuration:
                          line 6: field "authorization.mode" is set twice; first in line 5
                          line 7: field "maxPods" is set twice; first in line 3""");
        assertThatThrownBy(() -> parse("clusterDNS: &a [10.0.0.1]\nallowedUnsafeSysctls: *a\n"))
                .hasMessageContaining("line 4: aliases are not supported");
        assertThatThrownBy(() -> parse("clusterDNS: " + "[".repeat(20) + "]".repeat(20)))
                .hasMessageContaining("line 3: more than 10 levels");
    }

    @Test
    void checksFieldsTogetherAsAKubeletDoes() {
        assertThatThrownBy(() -> parse("""
                        serializeImagePulls: true
                        maxParallelImagePulls: 2
                        shutdownGracePeriod: 10s
                        enforceNodeAllocatable: [pods, pods]
                        evictionSoft: {memory.available: 1Gi}
                        iptablesDropBit: 32
                        memoryThrottlingFactor: 1.5
                        registerWithTaints: [{key: a, effect: NoSchedule, timeAdded: "2026-01-01T00:00:00Z"}]
                        featureGates: {GracefulNodeShutdown: false}
                        """))
                .hasMessageContaining(
                        "line 4: maxParallelImagePulls cannot be larger than 1 unless serializeImagePulls")
                .hasMessageContaining("line 5: shutdownGracePeriod requires feature gate GracefulNodeShutdown")
                .hasMessageContaining("line 6: duplicated enforcements in enforceNodeAllocatable")
                .hasMessageContaining("line 7: grace period must be specified for the soft eviction threshold")
                .hasMessageContaining("line 8: iptablesDropBit must be a whole number from 0 to 31, got 32")
                .hasMessageContaining("line 9: memoryThrottlingFactor must be a number greater than 0 and at most 1")
                .hasMessageContaining("line 10: registerWithTaints must be a list of taints");
    }

    @Test
    void mergesDropInFilesInTheOrderOfTheirNames() throws IOException {
        Path main = write(
                "kubelet.yaml",
                "maxPods: 10\nevictionHard: {memory.available: 1Gi, nodefs.available: 5%}\n"
                        + "clusterDNS: [10.0.0.1]\nnodeStatusMaxImages: 7\n");
        write("conf.d/20-b.conf", "maxPods: 30\nclusterDNS: [10.0.0.3]\n");
        write("conf.d/10-a.conf", "maxPods: 20\nevictionHard: {memory.available: 2Gi}\nclusterDNS: [10.0.0.2]\n");
        write("conf.d/90-last.conf.disabled", "maxPods: 40\n");
        write("conf.d/30-c.conf", "nodeStatusMaxImages: null\n");
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");

        ConfigFile.load(Optional.of(main), Optional.of(directory.resolve("conf.d")), builder);

        AgentConfig config = builder.build();
        assertThat(config.maxPods()).isEqualTo(30);
        assertThat(config.pods().clusterDns()).containsExactly("10.0.0.3");
        assertThat(config.runtime().maxImages()).isEqualTo(50);
        assertThat(config.thresholds().stream()
                        .map(threshold -> threshold.signal() + " " + threshold.limit())
                        .toList())
                .hasSize(2)
                .anyMatch(text -> text.contains("memory.available") && text.contains("2Gi"));
    }

    @Test
    void faultsOfDropInFilesNameFileAndLine() throws IOException {
        Path main = write("kubelet.yaml", "maxPods: -1\n");
        Path first = write("conf.d/10-a.conf", "noSuchField: 1\n");
        Path second = directory.resolve("conf.d/20-b.conf");
        Files.writeString(second, "kind: KubeletConfiguration\nport: 70000\n");
        AgentConfigBuilder builder = new AgentConfigBuilder("n1");

        assertThatThrownBy(() -> ConfigFile.load(Optional.of(main), Optional.of(directory.resolve("conf.d")), builder))
                .hasMessage("invalid configuration:\n  " + second
                        + ": apiVersion must be kubelet.config.k8s.io/v1beta1, got null\n  " + main
                        + ", line 3: maxPods must be from 0 to 2147483647, got -1\n  " + first
                        + ", line 3: unknown field \"noSuchField\"\n  " + second
                        + ", line 2: port must be from 1 to 65535, got 70000");
    }

    @Test
    void numberAndSizeOfDropInFilesAreBounded() throws IOException {
        for (int i = 0; i <= 100; i++) {
            write("many/" + i + ".conf", "");
        }
        write("large/1.conf", "#".repeat(1 << 20));

        assertThatThrownBy(() -> drops("many")).hasMessageContaining("has more than 100 files *.conf");
        assertThatThrownBy(() -> drops("large")).hasMessageContaining("have more than 1048576 characters");
        assertThatThrownBy(() -> drops("none")).hasMessageContaining("cannot read config directory");
    }

    private void drops(String name) {
        ConfigFile.load(Optional.empty(), Optional.of(directory.resolve(name)), new AgentConfigBuilder("n1"));
    }

    private Path write(String name, String yaml) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, HEAD + yaml);
    }

    @Test
    void theDocumentationListsEveryField() throws IOException {
        List<String> rows = Files.readAllLines(Path.of("..", "docs", "kubelet-configuration.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .toList();

        assertThat(rows)
                .containsExactlyElementsOf(
                        KubeletFields.all().stream().map(KubeletField::row).toList());
    }
}
