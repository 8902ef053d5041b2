package io.nodekeeper.agent.pods.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.devices.ContainerDevices;
import io.nodekeeper.agent.pods.cgroups.PodParent;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.cri.config.SandboxOptions;
import io.nodekeeper.cri.config.SecurityProfile;
import io.nodekeeper.cri.config.SelinuxLabel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the runtime is told about a pod. */
class ContainersTest {
    private static final NodeSettings NODE = new NodeSettings(
            "n1",
            List.of("192.168.0.5"),
            Json.parseObject("{\"memory\": \"4Gi\"}"),
            Json.parseObject("{\"cpu\": \"4\", \"memory\": \"3Gi\"}"),
            Path.of("/logs"),
            List.of("10.96.0.10"),
            "cluster.local",
            PodParent.NONE,
            Seccomp.of(Path.of("/root"), false));
    private static final Image IMAGE = new Image("sha256:1", List.of(), List.of("app:1"), 1, OptionalLong.of(0), "");

    @Test
    void shouldNameAndLabelAsAKubeletDoes() {
        ContainerConfig config = config("{\"name\": \"app\", \"image\": \"app:1\"}", References.NONE, 2);

        assertThat(config.labels())
                .isEqualTo(Map.of(
                        "io.kubernetes.pod.name",
                        "web",
                        "io.kubernetes.pod.namespace",
                        "shop",
                        "io.kubernetes.pod.uid",
                        "u1",
                        "io.kubernetes.container.name",
                        "app"));
        assertThat(config.annotations())
                .containsEntry("io.kubernetes.container.restartCount", "2")
                .containsEntry("io.kubernetes.pod.terminationGracePeriod", "30");
        assertThat(config.logPath()).isEqualTo("app/2.log");
        assertThat(config.image()).isEqualTo("sha256:1");
        assertThat(config.mounts())
                .containsExactly(
                        new ContainerConfig.Mount(
                                "/etc/hosts", "/pods/u1/etc-hosts", false, ContainerConfig.Propagation.PRIVATE),
                        new ContainerConfig.Mount(
                                "/dev/termination-log", "/pods/u1/end", false, ContainerConfig.Propagation.PRIVATE));
    }

    @Test
    void shouldTakeTheEnvironmentFromEverySourceAndExpandItInCommands() {
        References references = new References(
                Map.of("settings", Json.parseObject("{\"data\": {\"a\": \"1\", \"b\": \"2\"}}")),
                Map.of("keys", Json.parseObject("{\"data\": {\"token\": \"c2VjcmV0\"}}")),
                Map.of("NAME", "a service", "SHOP_SERVICE_HOST", "10.96.0.9"));

        ContainerConfig config = config("""
                {"name": "app", "image": "app:1", "command": ["run", "$(NAME)", "$(NONE)", "$$(NAME)"],
                 "resources": {"limits": {"cpu": "1500m"}},
                 "envFrom": [{"prefix": "S_", "configMapRef": {"name": "settings"}},
                             {"secretRef": {"name": "none", "optional": true}}],
                 "env": [{"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                         {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                         {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
                         {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}},
                         {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                         {"name": "MEMORY",
                          "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}},
                         {"name": "URL", "value": "http://$(IP)/$(S_a)"},
                         {"name": "SHOP", "value": "$(SHOP_SERVICE_HOST)"}]}
                """, references, 0);

        assertThat(config.environment())
                .isEqualTo(Map.ofEntries(
                        Map.entry("S_a", "1"),
                        Map.entry("S_b", "2"),
                        Map.entry("NAME", "web"),
                        Map.entry("IP", "10.1.0.7"),
                        Map.entry("APP", "front"),
                        Map.entry("KEY", "secret"),
                        Map.entry("CPU", "2"),
                        Map.entry("MEMORY", "3072"),
                        Map.entry("URL", "http://10.1.0.7/1"),
                        Map.entry("SHOP", "10.96.0.9"),
                        Map.entry("SHOP_SERVICE_HOST", "10.96.0.9")));
        assertThat(config.command()).containsExactly("run", "web", "$(NONE)", "$(NAME)");
    }

    @Test
    void shouldGiveHugePagesToTheEnvironment() {
        ContainerConfig config = config("""
                {"name": "app", "image": "app:1",
                 "resources": {"limits": {"hugepages-2Mi": "64Mi"}, "requests": {"hugepages-2Mi": "64Mi"}},
                 "env": [{"name": "LIMIT", "valueFrom":
                          {"resourceFieldRef": {"resource": "limits.hugepages-2Mi", "divisor": "1Mi"}}},
                         {"name": "REQUEST", "valueFrom": {"resourceFieldRef": {"resource": "requests.hugepages-2Mi"}}},
                         {"name": "NONE", "valueFrom": {"resourceFieldRef": {"resource": "limits.hugepages-1Gi"}}}]}
                """, References.NONE, 0);

        assertThat(config.environment())
                .containsEntry("LIMIT", "64")
                .containsEntry("REQUEST", "67108864")
                .containsEntry("NONE", "0");
        for (String other : List.of("limits.foo", "hugepages-2Mi", "limits.", "x.hugepages-2Mi")) {
            assertThatThrownBy(() -> config("""
                            {"name": "app", "image": "app:1", "env": [{"name": "X", "valueFrom": {"resourceFieldRef":
                             {"resource": "%s"}}}]}""".formatted(other), References.NONE, 0))
                    .hasMessage("unsupported container resource: " + other);
        }
    }

    /** Each of these would take gigabytes. */
    @Test
    void shouldRefuseVariablesAndArgumentsThatLinuxWouldNotStart() {
        String letters = "x".repeat(64);
        StringBuilder doubling = new StringBuilder("{\"name\": \"V0\", \"value\": \"" + letters + "\"}");
        for (int i = 1; i < 30; i++) {
            doubling.append(", {\"name\": \"V%d\", \"value\": \"$(V%d)$(V%d)\"}".formatted(i, i - 1, i - 1));
        }
        assertThatThrownBy(() -> config(
                        "{\"name\": \"app\", \"image\": \"app:1\", \"env\": [" + doubling + "]}", References.NONE, 0))
                .isInstanceOf(ContainerConfigException.class)
                .hasMessage("\"$(V11)$(V11)\" expands to more than 131072 characters");

        String large = "x".repeat(100_000);
        String words = "\"$(A)\"" + ", \"$(A)\"".repeat(30);
        assertThatThrownBy(() -> config(
                        "{\"name\": \"app\", \"image\": \"app:1\", \"env\": [{\"name\": \"A\", \"value\": \"" + large
                                + "\"}], \"args\": [" + words + "]}",
                        References.NONE,
                        0))
                .isInstanceOf(ContainerConfigException.class)
                .hasMessage("the words of args have more than 2097152 characters");

        References references = new References(
                Map.of("m", Json.parseObject("{\"data\": {\"a\": \"" + large + "\"}}")), Map.of(), Map.of());
        String sources = "{\"configMapRef\": {\"name\": \"m\"}}"
                + IntStream.range(0, 30)
                        .mapToObj(i -> ", {\"prefix\": \"p%d\", \"configMapRef\": {\"name\": \"m\"}}".formatted(i))
                        .collect(Collectors.joining());
        assertThatThrownBy(() -> config(
                        "{\"name\": \"app\", \"image\": \"app:1\", \"envFrom\": [" + sources + "]}", references, 0))
                .isInstanceOf(ContainerConfigException.class)
                .hasMessage("the variables have more than 2097152 characters");
    }

    /** If each mount computed its own variables, these were 300 million. */
    @Test
    @Timeout(60)
    void shouldComputeTheVariablesOnceForAllMounts() {
        String data = IntStream.range(0, 30_000)
                .mapToObj(i -> "\"k%d\": \"v\"".formatted(i))
                .collect(Collectors.joining(", "));
        References references =
                new References(Map.of("m", Json.parseObject("{\"data\": {" + data + "}}")), Map.of(), Map.of());
        String mounts = IntStream.range(0, 10_000)
                .mapToObj(
                        i -> "{\"name\": \"v\", \"mountPath\": \"/a%d\", \"subPathExpr\": \"$(k%d)\"}".formatted(i, i))
                .collect(Collectors.joining(", "));

        assertThat(subPaths(
                        "{\"name\": \"app\", \"image\": \"app:1\", \"envFrom\": [{\"configMapRef\": {\"name\": \"m\"}}],"
                                + " \"volumeMounts\": [" + mounts + "]}",
                        references))
                .hasSize(10_000)
                .last()
                .isEqualTo(new Containers.SubPath(9_999, "v", "v"));
    }

    @Test
    void shouldNameTheConfigMapOrKeyThatIsMissing() {
        String reference = """
                {"name": "app", "image": "app:1",
                 "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "z"}}}]}
                """;
        References other = new References(Map.of("settings", Json.parseObject("{\"data\": {}}")), Map.of(), Map.of());

        assertThatThrownBy(() -> config(reference, References.NONE, 0))
                .isInstanceOf(ContainerConfigException.class)
                .hasMessage("configmap \"settings\" not found");
        assertThatThrownBy(() -> config(reference, other, 0))
                .hasMessage("couldn't find key z in ConfigMap shop/settings");
    }

    @Test
    void shouldConvertRequestsAndLimitsToTheKernelsNumbers() {
        ContainerConfig burstable = config("""
                {"name": "app", "image": "app:1",
                 "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {"cpu": "500m", "memory": "2Gi"}}}
                """, References.NONE, 0);
        ContainerConfig free = config("{\"name\": \"app\", \"image\": \"app:1\"}", References.NONE, 0);

        assertThat(burstable.resources())
                .isEqualTo(new ContainerConfig.Resources(256, 50_000, 100_000, 2_147_483_648L, 750, false));
        assertThat(free.resources()).isEqualTo(new ContainerConfig.Resources(2, 0, 0, 0, 1_000, false));
    }

    @Test
    void shouldRefuseRootWhereThePodForbidsIt() {
        assertThatThrownBy(() -> config(
                        "{\"name\": \"app\", \"image\": \"app:1\", \"securityContext\": {\"runAsNonRoot\": true}}",
                        References.NONE,
                        0))
                .hasMessage("container has runAsNonRoot and image will run as root (container: app)");
        assertThat(config(
                                "{\"name\": \"app\", \"image\": \"app:1\","
                                        + " \"securityContext\": {\"runAsNonRoot\": true, \"runAsUser\": 7}}",
                                References.NONE,
                                0)
                        .security()
                        .user())
                .hasValue(7);
    }

    /** A runtime lists the annotations of all containers in one message, also of those that never started. */
    @Test
    void shouldAnnotateTheBeginningOfALongMessagePathAndRefuseOneThatLinuxCannotHave() {
        String longest = "/" + "x".repeat(4_094);

        ContainerConfig config = config(messagePath(longest), References.NONE, 0);

        assertThat(config.mounts().getLast().containerPath()).isEqualTo(longest);
        assertThat(config.annotations())
                .containsEntry("io.kubernetes.container.terminationMessagePath", "/" + "x".repeat(63))
                .containsEntry("io.kubernetes.container.terminationMessagePolicy", "File");
        assertThatThrownBy(() -> config(messagePath(longest + "x"), References.NONE, 0))
                .isInstanceOf(ContainerConfigException.class)
                .hasMessage("terminationMessagePath must have at most 4095 bytes, got 4096");
    }

    private static String messagePath(String path) {
        return "{\"name\": \"app\", \"image\": \"app:1\", \"terminationMessagePath\": \"" + path + "\"}";
    }

    /** The message has more for each than its name and value. */
    @Test
    void shouldGiveASandboxFewOfManyShortAnnotations() {
        JsonObject.Builder annotations = JsonObject.builder();
        IntStream.range(10_000, 20_000).forEach(i -> annotations.put(Integer.toString(i), ""));
        Pod pod = new Pod(
                pod("", "{}").json().update("metadata", metadata -> metadata.with("annotations", annotations.build())));

        // 32 KiB of 15 bytes each.
        assertThat(Sandboxes.config(pod, 0, NODE, "").options().annotations()).hasSize(2_184);
    }

    /** A runtime lists the annotations and labels of all sandboxes in one message, which must not become too long. */
    @Test
    void shouldGiveASandboxTheShorterAnnotationsAndLabelsIfAllAreTooLong() {
        JsonObject annotations = JsonObject.builder()
                .put("a", "1")
                .put("b", "x".repeat(20_000))
                .put("c", "x".repeat(15_000))
                .put("d", "\u00e9".repeat(9_000))
                .build();
        Pod pod = new Pod(pod("", "{}")
                .json()
                .update(
                        "metadata",
                        metadata -> metadata.with("annotations", annotations).with("labels", annotations)));

        assertThat(Sandboxes.config(pod, 0, NODE, "").options().annotations()).containsOnlyKeys("a", "c");
        assertThat(Sandboxes.config(pod, 0, NODE, "").options().labels()).containsOnlyKeys("a", "c");
        assertThat(Sandboxes.config(pod("", "{}"), 0, NODE, "").options().annotations())
                .isEqualTo(pod("", "{}").annotations());
    }

    @Test
    void shouldUseTheClustersDnsForPodsWithANetworkOfTheirOwn() {
        SandboxConfig own =
                Sandboxes.config(pod("", "{}"), 1, NODE, "nameserver 9.9.9.9\nsearch lan\noptions rotate\n");
        SandboxConfig hosts = Sandboxes.config(
                pod("\"hostNetwork\": true,", "{}"), 1, NODE, "nameserver 9.9.9.9\nsearch lan\noptions rotate\n");

        assertThat(own.options().dns())
                .contains(new SandboxOptions.Dns(
                        List.of("10.96.0.10"),
                        List.of("shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "lan"),
                        List.of("ndots:5")));
        assertThat(own.options().hostname()).isEqualTo("web");
        assertThat(hosts.options().dns())
                .contains(new SandboxOptions.Dns(List.of("9.9.9.9"), List.of("lan"), List.of("rotate")));
        assertThat(hosts.options().hostname()).isEmpty();
        assertThat(hosts.options().namespaces().hostNetwork()).isTrue();
        assertThat(own.logDirectory()).isEqualTo("/logs/shop_web_u1");
    }

    @Test
    void shouldSetSysctlsInTheSandbox() {
        Pod pod = pod(
                "\"securityContext\": {\"sysctls\": [{\"name\": \"net/ipv4/tcp_syncookies\", \"value\": \"0\"}]},",
                "{\"name\": \"app\"}");

        assertThat(Sandboxes.config(pod, 0, NODE, "").options().security())
                .isEqualTo(
                        new SandboxOptions.Security(false, Map.of("net.ipv4.tcp_syncookies", "0"), Optional.empty()));
    }

    @Test
    void shouldHideNothingOfProcIfTheContainerAsksForAll() {
        assertThat(confined("{}", "{}").maskProc()).isTrue();
        assertThat(confined("{}", "{\"procMount\": \"Default\"}").maskProc()).isTrue();
        assertThat(confined("{}", "{\"procMount\": \"Unmasked\"}").maskProc()).isFalse();
    }

    @Test
    void shouldPassTheSelinuxLabelOfTheContainerOrElseOfThePod() {
        String shared = "{\"seLinuxOptions\": {\"type\": \"spc_t\", \"level\": \"s0:c1,c2\"}}";

        assertThat(confined(shared, "{}").selinux()).contains(new SelinuxLabel("", "", "spc_t", "s0:c1,c2"));
        assertThat(confined(shared, "{\"seLinuxOptions\": {\"user\": \"u\", \"role\": \"r\"}}")
                        .selinux())
                .contains(new SelinuxLabel("u", "r", "", ""));
        assertThat(Sandboxes.config(pod("\"securityContext\": " + shared + ",", "{\"name\": \"app\"}"), 0, NODE, "")
                        .options()
                        .security()
                        .selinux())
                .contains(new SelinuxLabel("", "", "spc_t", "s0:c1,c2"));
    }

    @Test
    void shouldPassProfilesOfAppArmorAndStrictGroups() {
        ContainerConfig.Security usual = confined("{}", "{}");
        ContainerConfig.Security asked = confined(
                "{\"supplementalGroupsPolicy\": \"Strict\"}",
                "{\"appArmorProfile\": {\"type\": \"Localhost\", \"localhostProfile\": \"narrow\"}}");

        assertThat(usual.appArmor()).isEmpty();
        assertThat(usual.strictGroups()).isFalse();
        assertThat(asked.appArmor()).contains(SecurityProfile.localhost("narrow"));
        assertThat(asked.strictGroups()).isTrue();
        assertThatThrownBy(() -> confined("{\"appArmorProfile\": {\"type\": \"Localhost\"}}", "{}"))
                .hasMessage("missing localhost apparmor profile name");
    }

    private static ContainerConfig.Security confined(String shared, String own) {
        Pod pod = pod("\"securityContext\": " + shared + ",", "{\"name\": \"app\", \"securityContext\": " + own + "}");
        return Containers.config(pod, pod.containers().getFirst(), 0, inputs(Map.of()))
                .security();
    }

    @Test
    void shouldTellTheSandboxHowLargeItsPodIs() {
        String container = "{\"name\": \"app\", \"resources\": {\"limits\": {\"cpu\": \"500m\", \"memory\": \"1Gi\"}}}";
        String overhead = "\"overhead\": {\"cpu\": \"250m\", \"memory\": \"128Mi\"},";

        assertThat(Sandboxes.config(pod(overhead, container), 0, NODE, "")
                        .options()
                        .size())
                .isEqualTo(new SandboxOptions.Size(
                        Optional.of(new ContainerConfig.Resources(512, 50_000, 100_000, 1 << 30, 0, false)),
                        Optional.of(new ContainerConfig.Resources(256, 25_000, 100_000, 128 << 20, 0, false))));
        assertThat(Sandboxes.config(pod("", container), 0, NODE, "")
                        .options()
                        .size()
                        .overhead())
                .isEmpty();
    }

    /** A runtime takes no group without a user beside it. */
    @Test
    void shouldKeepTheGroupOfThePodWithTheUserOfTheImage() {
        Image numbered = new Image("sha256:1", List.of(), List.of("app:1"), 1, OptionalLong.of(1_000), "");
        Image named = new Image("sha256:1", List.of(), List.of("app:1"), 1, OptionalLong.empty(), "www");
        Image silent = new Image("sha256:1", List.of(), List.of("app:1"), 1);

        assertThat(rights(numbered).user()).hasValue(1_000);
        assertThat(rights(named).user()).isEmpty();
        assertThat(rights(named).userName()).isEqualTo("www");
        assertThat(rights(silent).user()).hasValue(0);
        for (Image image : List.of(numbered, named, silent)) {
            assertThat(rights(image).group()).hasValue(3_000);
        }
    }

    private static ContainerConfig.Security rights(Image image) {
        Pod pod = pod("\"securityContext\": {\"runAsGroup\": 3000},", "{\"name\": \"app\", \"image\": \"app:1\"}");
        return Rights.of(pod, pod.containers().getFirst(), image, NODE.seccomp(), Optional.empty());
    }

    @Test
    void shouldWriteTheFullNameOfAPodWithASubdomain() {
        Pod pod = pod("\"subdomain\": \"db\",", "{}");

        assertThat(HostsFile.of(pod, List.of("10.1.0.7"), "cluster.local"))
                .contains("\n10.1.0.7\tweb.db.shop.svc.cluster.local\tweb\n");
        assertThat(HostsFile.of(pod, List.of("10.1.0.7"), "")).contains("\n10.1.0.7\tweb\n");
    }

    @Test
    void shouldWriteTheHostsFileWithAliases() {
        Pod pod = pod("\"hostAliases\": [{\"ip\": \"10.0.0.1\", \"hostnames\": [\"db\", \"db.lan\"]}],", "{}");

        assertThat(HostsFile.of(pod, List.of("10.1.0.7"), "cluster.local"))
                .startsWith("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n")
                .contains("\n10.1.0.7\tweb\n")
                .endsWith("\n# Entries added by HostAliases.\n10.0.0.1\tdb\tdb.lan\n");
    }

    @Test
    void shouldMountVolumesThatTheNodeWritesReadOnly() {
        Pod pod = pod("""
                "volumes": [{"name": "work", "emptyDir": {}}, {"name": "keys", "secret": {"secretName": "keys"}}],
                """, """
                {"name": "app", "image": "app:1",
                 "volumeMounts": [{"name": "work", "mountPath": "/work"}, {"name": "keys", "mountPath": "/keys"}]}
                """);

        ContainerConfig config = Containers.config(
                pod,
                pod.containers().getFirst(),
                0,
                inputs(Map.of("work", Path.of("/v/work"), "keys", Path.of("/v/keys"))));

        assertThat(config.mounts())
                .contains(
                        new ContainerConfig.Mount("/work", "/v/work", false, ContainerConfig.Propagation.PRIVATE),
                        new ContainerConfig.Mount("/keys", "/v/keys", true, ContainerConfig.Propagation.PRIVATE));
    }

    @Test
    void shouldMountPartsOfVolumesWhoseNamesMayContainVariables() {
        Pod pod = withMounts("""
                {"name": "work", "mountPath": "/all"},
                {"name": "work", "mountPath": "/a", "subPath": "a/./b"},
                {"name": "work", "mountPath": "/b", "subPathExpr": "of-$(NAME)/$$x"}""");
        ContainerSpec container = pod.containers().getFirst();
        Containers.Inputs inputs = inputs(Map.of("work", Path.of("/v/work")));

        assertThat(Containers.subPaths(pod, container, inputs))
                .containsExactly(
                        new Containers.SubPath(1, "work", "a/./b"), new Containers.SubPath(2, "work", "of-web/$x"));
        assertThat(Containers.config(
                                pod, container, 0, inputs.with(Map.of(1, Path.of("/parts/1"), 2, Path.of("/parts/2"))))
                        .mounts()
                        .stream()
                        .map(mount -> mount.containerPath() + " " + mount.hostPath()))
                .contains("/all /v/work", "/a /parts/1", "/b /parts/2");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            value = {
                "subPath, /etc, error SubPath `/etc` must not be an absolute path",
                "subPath, a/../../b, unable to provision SubPath `a/../../b`: must not contain '..'",
                "subPathExpr, $(UP)/b, unable to provision SubPath `../b`: must not contain '..'",
                "subPathExpr, $(NONE), missing value for \"NONE\""
            })
    void shouldRefuseAPartThatIsNotInsideOfItsVolume(String field, String path, String message) {
        Pod pod = withMounts("{\"name\": \"work\", \"mountPath\": \"/a\", \"%s\": \"%s\"}".formatted(field, path));

        assertThatThrownBy(() -> Containers.subPaths(pod, pod.containers().getFirst(), inputs(Map.of())))
                .isInstanceOf(ContainerConfigException.class)
                .hasMessage(message);
    }

    @Test
    void shouldGiveAContainerItsDevicesAndProcessors() {
        Pod pod = pod("", """
                {"name": "app", "image": "app:1", "env": [{"name": "A", "value": "of the pod"}],
                 "resources": {"limits": {"hugepages-2Mi": "4Mi"}}}""");
        ContainerDevices devices = new ContainerDevices(
                Map.of("A", "of the plugin", "B", "b"),
                List.of(new ContainerConfig.Mount("/lib", "/host/lib", true, ContainerConfig.Propagation.PRIVATE)),
                List.of(new ContainerConfig.Device("/dev/gpu", "/dev/gpu7", "rw")),
                Map.of("vendor.com/gpu", "7"),
                List.of("vendor.com/gpu=7"));

        ContainerConfig config = Containers.config(
                pod, pod.containers().getFirst(), 0, inputs(Map.of()).with(new OwnResources(devices, "2-3")));

        assertThat(config.environment()).containsEntry("A", "of the pod").containsEntry("B", "b");
        assertThat(config.mounts().getFirst().hostPath()).isEqualTo("/host/lib");
        assertThat(config.devices()).containsExactly(new ContainerConfig.Device("/dev/gpu", "/dev/gpu7", "rw"));
        assertThat(config.annotations()).containsEntry("vendor.com/gpu", "7");
        assertThat(config.cdiDevices()).containsExactly("vendor.com/gpu=7");
        assertThat(config.resources().cpus()).isEqualTo("2-3");
        assertThat(config.resources().hugePages()).isEqualTo(Map.of("2MB", 4_194_304L));
    }

    private static Pod withMounts(String mounts) {
        return pod("", """
                {"name": "app", "image": "app:1", "volumeMounts": [%s],
                 "env": [{"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                         {"name": "UP", "value": ".."}]}
                """.formatted(mounts));
    }

    private static Containers.Inputs inputs(Map<String, Path> volumes) {
        return new Containers.Inputs(
                NODE,
                IMAGE,
                References.NONE,
                List.of("10.1.0.7"),
                volumes,
                Map.of(),
                Path.of("/pods/u1/etc-hosts"),
                OwnResources.NONE,
                Path.of("/pods/u1/end"),
                Optional.empty());
    }

    private static ContainerConfig config(String container, References references, int attempt) {
        Pod pod = pod("", container);
        return Containers.config(pod, pod.containers().getFirst(), attempt, inputs(references));
    }

    private static List<Containers.SubPath> subPaths(String container, References references) {
        Pod pod = pod("", container);
        return Containers.subPaths(pod, pod.containers().getFirst(), inputs(references));
    }

    private static Containers.Inputs inputs(References references) {
        return new Containers.Inputs(
                NODE,
                IMAGE,
                references,
                List.of("10.1.0.7"),
                Map.of(),
                Map.of(),
                Path.of("/pods/u1/etc-hosts"),
                OwnResources.NONE,
                Path.of("/pods/u1/end"),
                Optional.empty());
    }

    private static Pod pod(String spec, String container) {
        JsonObject json = Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1", "labels": {"app": "front"}},
                 "spec": {%s "containers": [%s]}}
                """.formatted(spec, container));
        return new Pod(json);
    }
}
