package io.nodekeeper.it.install;

import static io.nodekeeper.it.install.Manifests.list;
import static io.nodekeeper.it.install.Manifests.map;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import io.nodekeeper.it.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The Helm chart as {@code scripts/chart} writes it, rendered by the real Helm. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HelmChartIT {
    private static final String CONTROLLER = "Deployment kube-system/nodekeeper-controller";
    private static final String COMPANION = "DaemonSet nodekeeper/nodekeeper-companion";

    @TempDir
    static Path directory;

    private Path chart;

    @BeforeAll
    void pack() throws Exception {
        chart = pack("chart.tgz");
    }

    @Test
    void lintFindsNothing() throws Exception {
        LintResult strict = new Helm(unpacked()).lint().strict().call();

        assertThat(strict.getMessages()).isEmpty();
        assertThat(strict.isFailed()).isFalse();
    }

    @Test
    void twoArchivesOfOneCommitAreEqual() throws Exception {
        assertThat(Files.mismatch(chart, pack("again.tgz")))
                .as("first different byte")
                .isEqualTo(-1);
    }

    @Test
    void archiveHasTheVersionThatIsAskedFor() throws Exception {
        Path candidate = pack("candidate.tgz", "--version", "1.2.3-rc.1");

        Manifests rendered = Manifests.parse(template(candidate, "").call());
        assertThat(rendered.containerOf(CONTROLLER)).containsEntry("image", "nodekeeper:1.2.3-rc.1");
        assertThat(labels(rendered.get(CONTROLLER))).containsEntry("helm.sh/chart", "nodekeeper-1.2.3-rc.1");
        Command.Result refused = Command.run(
                Duration.ofSeconds(30),
                Repository.root().resolve("scripts/chart").toString(),
                "--version",
                "1.2",
                directory.resolve("refused.tgz").toString());
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.output()).contains("--version is 1.2, but MAJOR.MINOR.PATCH");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                " | overlays/observe",
                "controller.mode=standalone | overlays/standalone",
                "controller.mode=guard | overlays/guard",
                "controller.enabled=false companion.enabled=true | overlays/companion",
                "controller.enabled=false companion.enabled=true companion.kubeletMetrics=true | companion-kubelet-metrics",
                "controller.enabled=false companion.enabled=true monitoring.enabled=true | overlays/companion-monitoring",
                "companion.enabled=true | overlays/observe overlays/companion",
                "monitoring.enabled=true | overlays/observe monitoring/controller",
                "controller.mode=guard companion.enabled=true monitoring.enabled=true"
                        + " | overlays/guard overlays/companion-monitoring monitoring/controller",
            })
    void partsEqualTheOverlaysObjectByObject(String values, String overlays) throws Exception {
        Manifests expected = Manifests.kustomized(overlays.split(" "));

        Manifests rendered = render(values == null ? "" : values);

        // The only difference: labels that say that Helm manages the object.
        rendered.objects().forEach((key, object) -> {
            Map<String, Object> labels = labels(object);
            assertThat(labels.remove("helm.sh/chart")).as(key).isEqualTo("nodekeeper-" + Repository.version());
            assertThat(labels.remove("app.kubernetes.io/managed-by")).as(key).isEqualTo("Helm");
            assertThat(labels.remove("app.kubernetes.io/instance")).as(key).isEqualTo("nk");
            assertThat(labels.remove("app.kubernetes.io/version")).as(key).isEqualTo(Repository.version());
            if (labels.isEmpty()) {
                map(object.get("metadata")).remove("labels");
            }
        });
        assertThat(rendered.objects().keySet()).isEqualTo(expected.objects().keySet());
        rendered.objects().forEach((key, object) -> assertThat(object).as(key).isEqualTo(expected.get(key)));
    }

    @Test
    void namespaceOfTheReleaseIsNotCreatedAgain() {
        String inside = template(chart, "companion.enabled=true")
                .withNamespace("nodekeeper")
                .call();

        assertThat(Manifests.parse(inside).objects()).containsKey(COMPANION).doesNotContainKey("Namespace /nodekeeper");
    }

    @Test
    void podsFollowTheValues() {
        Manifests rendered = render(
                "companion.enabled=true image.repository=registry.example:5000/node/keeper image.tag=v9"
                        + " image.pullPolicy=Always imagePullSecrets[0].name=key controller.nodes=10001"
                        + " controller.extraArgs[0]=--node-monitor-grace-period=40s controller.nodeSelector.pool=system"
                        + " controller.tolerations[0].operator=Exists companion.containerd.stateDirectory=/run/k3s/containerd"
                        + " companion.containerd.dataDirectory=/var/lib/rancher/k3s/agent/containerd"
                        + " companion.resources.limits.memory=512Mi companion.extraArgs[0]=--feature-gates=NodeProblems=false"
                        + " companion.nodeSelector.pool=gpu companion.tolerations[0].key=gpu companion.tolerations[0].operator=Exists");

        for (String workload : List.of(CONTROLLER, COMPANION)) {
            assertThat(rendered.containerOf(workload))
                    .containsEntry("image", "registry.example:5000/node/keeper:v9")
                    .containsEntry("imagePullPolicy", "Always");
            assertThat(rendered.podOf(workload)).containsEntry("imagePullSecrets", List.of(Map.of("name", "key")));
        }
        assertThat(rendered.containerOf(CONTROLLER))
                .containsEntry(
                        "resources",
                        Map.of("requests", Map.of("cpu", "500m", "memory", "1Gi"), "limits", Map.of("memory", "1Gi")));
        assertThat(rendered.podOf(CONTROLLER))
                .containsEntry("nodeSelector", Map.of("pool", "system"))
                .containsEntry("tolerations", List.of(Map.of("operator", "Exists")));
        assertThat(rendered.argumentsOf(CONTROLLER)).endsWith("--mode=observe", "--node-monitor-grace-period=40s");
        assertThat(rendered.podOf(COMPANION))
                .containsEntry("nodeSelector", Map.of("kubernetes.io/os", "linux", "pool", "gpu"))
                .containsEntry("tolerations", List.of(Map.of("key", "gpu", "operator", "Exists")));
        assertThat(rendered.argumentsOf(COMPANION))
                .contains("--container-runtime-endpoint=unix:///run/k3s/containerd/containerd.sock")
                .endsWith("--feature-gates=NodeProblems=false");
        assertThat(map(rendered.containerOf(COMPANION).get("resources")))
                .containsEntry("limits", Map.of("memory", "512Mi"));
        assertThat(list(rendered.podOf(COMPANION).get("volumes")))
                .contains(
                        Map.of("name", "containerd", "hostPath", Map.of("path", "/run/k3s/containerd")),
                        Map.of(
                                "name",
                                "containerd-data",
                                "hostPath",
                                Map.of("path", "/var/lib/rancher/k3s/agent/containerd")));
    }

    @Test
    void ownResourcesReplaceThoseThatFollowTheNodes() {
        assertThat(render("controller.resources.requests.memory=2Gi").containerOf(CONTROLLER))
                .containsEntry("resources", Map.of("requests", Map.of("memory", "2Gi")));
    }

    @Test
    void replicasDecideWhetherThereIsADisruptionBudget() {
        String budget = "PodDisruptionBudget kube-system/nodekeeper-controller";

        assertThat(render("controller.replicas=2").objects()).containsKey(budget);
        Manifests single = render("controller.mode=standalone controller.replicas=1");
        assertThat(single.objects()).doesNotContainKey(budget);
        assertThat(map(single.get(CONTROLLER).get("spec"))).containsEntry("replicas", 1);
    }

    @Test
    void guardRefusesAndAdmitsOnlyTheApiServersIfTold() {
        Manifests rendered = render("controller.mode=guard controller.guard.enforce=true"
                + " controller.guard.from[0].ipBlock.cidr=10.0.0.0/28");

        assertThat(rendered.argumentsOf(CONTROLLER)).endsWith("--mode=guard", "--guard-enforce");
        Object ingress = map(rendered.get("NetworkPolicy kube-system/nodekeeper-controller")
                        .get("spec"))
                .get("ingress");
        assertThat(list(ingress).getLast())
                .isEqualTo(Map.of(
                        "ports",
                        List.of(Map.of("protocol", "TCP", "port", "guard")),
                        "from",
                        List.of(Map.of("ipBlock", Map.of("cidr", "10.0.0.0/28")))));
    }

    @Test
    void readersGetTheRoleOfThePages() {
        Manifests rendered = render("pages.throughProxy=true pages.readers[0].kind=ServiceAccount"
                + " pages.readers[0].name=prometheus pages.readers[0].namespace=monitoring"
                + " pages.readers[1].kind=Group pages.readers[1].name=sre");

        Map<String, Object> anybody = rendered.get("ClusterRoleBinding /nodekeeper-pages-through-proxy");
        assertThat(map(anybody.get("roleRef"))).containsEntry("name", "nodekeeper-pages-through-proxy");
        assertThat(rendered.get("ClusterRole /nodekeeper-pages-through-proxy").toString())
                .as("paths that other components serve, too")
                .doesNotContain("/metrics", "/debug/*", "resources", "pprof");
        Map<String, Object> binding = rendered.get("ClusterRoleBinding /nodekeeper-pages-readers");
        assertThat(map(binding.get("roleRef"))).containsEntry("name", "nodekeeper-pages-reader");
        assertThat(binding)
                .containsEntry(
                        "subjects",
                        List.of(
                                Map.of("kind", "ServiceAccount", "name", "prometheus", "namespace", "monitoring"),
                                Map.of("apiGroup", "rbac.authorization.k8s.io", "kind", "Group", "name", "sre")));
    }

    @Test
    void monitorsAndRulesGetTheLabelsOfTheOperator() {
        Manifests rendered =
                render("companion.enabled=true monitoring.enabled=true monitoring.labels.release=kube-prometheus");

        List<String> labelled = rendered.objects().keySet().stream()
                .filter(key ->
                        "kube-prometheus".equals(labels(rendered.get(key)).get("release")))
                .toList();
        assertThat(labelled)
                .containsExactly(
                        "PrometheusRule kube-system/nodekeeper-controller",
                        "PrometheusRule nodekeeper/nodekeeper-companion",
                        "ServiceMonitor kube-system/nodekeeper-controller",
                        "ServiceMonitor nodekeeper/nodekeeper-companion");
    }

    @Test
    void networkPolicyCanBeLeftOut() {
        assertThat(render("networkPolicy.enabled=false").objects().keySet())
                .noneMatch(key -> key.startsWith("NetworkPolicy"));
    }

    /** The pod's account has no right to ask the API for the controller's address or its Service. */
    @ParameterizedTest
    @CsvSource({"observe, nodekeeper-observer", "guard, nodekeeper-guard", "standalone, nodekeeper-controller"})
    void commandsOfTheNotesNeedOnlyTheRoleThatTheyGive(String mode, String account) {
        String notes = new Helm(chart)
                .install()
                .withName("nk")
                .withNamespace("kube-system")
                .set("controller.mode", mode)
                .clientOnly()
                .dryRun()
                .call()
                .getOutput();

        assertThat(notes)
                .contains("--clusterrole=nodekeeper-pages-reader --serviceaccount=kube-system:" + account + "\n");
        assertThat(notes.lines().filter(line -> line.contains(" exec ")))
                .hasSize(2)
                .allMatch(line -> line.endsWith(" --server https://127.0.0.1:10257 --insecure-skip-tls-verify"
                        + " --token-file /var/run/secrets/kubernetes.io/serviceaccount/token"));
        assertThat(render("controller.mode=" + mode).podOf(CONTROLLER)).containsEntry("serviceAccountName", account);
    }

    /** In a NetworkPolicy an empty list means all sources. */
    @Test
    void emptyListOfPeersIsRefused() throws Exception {
        Path values = Files.writeString(directory.resolve("values.yaml"), "networkPolicy: {from: []}\n");

        assertThatThrownBy(() -> template(chart, "").withValuesFile(values).call())
                .hasMessageContaining("networkPolicy.from is empty, which means all sources");
    }

    @ParameterizedTest
    @ValueSource(strings = {"networkPolicy.enabled=false", "controller.enabled=false companion.enabled=true"})
    void emptyListOfPeersIsAcceptedWithoutANetworkPolicy(String sets) throws Exception {
        Path values = Files.writeString(directory.resolve("values.yaml"), "networkPolicy: {from: []}\n");

        assertThat(template(chart, sets).withValuesFile(values).call())
                .contains("kind:")
                .doesNotContain("kind: NetworkPolicy");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "controler.mode=guard | Additional property controler is not allowed",
                "companion.hostPID=false | Additional property hostPID is not allowed",
                "controller.mode=watch | controller.mode must be one of the following: \"observe\", \"guard\", \"standalone\"",
                "controller.nodes=30000 | controller.nodes: Must be less than or equal to 25000",
                "controller.replicas=0 | controller.replicas: Must be greater than or equal to 1",
                "companion.enabled=perhaps | companion.enabled: Invalid type. Expected: boolean, given: string",
                "controller.extraArgs[0]=v=4 | controller.extraArgs.0: Does not match pattern",
                "controller.tolerations[0].effect=Never | controller.tolerations.0.effect must be one of the following",
                "image.tag=a:b | image.tag: Does not match pattern",
                "companion.containerd.stateDirectory=run | companion.containerd.stateDirectory: Does not match pattern",
                "networkPolicy.from= | networkPolicy.from: Invalid type. Expected: array, given: string",
                "networkPolicy.from=null | networkPolicy.from is empty, which means all sources",
                "pages.readers[0].kind=ServiceAccount pages.readers[0].name=p | pages.readers.0: namespace is required",
                "controller.enabled=false | controller.enabled and companion.enabled are both false",
                "controller.guard.enforce=true | it needs controller.enabled=true and controller.mode=guard",
                "controller.enabled=false companion.enabled=true controller.mode=guard controller.guard.enforce=true"
                        + " | no guard is installed",
                "controller.mode=guard controller.guard.from[0].ipBlock.cidr=::/0 networkPolicy.enabled=false"
                        + " | it needs networkPolicy.enabled=true",
                "controller.mode=standalone controller.extraArgs[0]=--leader-elect=false"
                        + " | all 2 replicas would work at the same time: set controller.replicas=1",
                "controller.enabled=false companion.enabled=true pages.throughProxy=true | it needs controller.enabled=true",
                "controller.enabled=false companion.enabled=true pages.readers[0].kind=Group pages.readers[0].name=sre"
                        + " | set monitoring.enabled=true",
            })
    void valuesThatAreUnknownOrContradictoryAreRefused(String values, String message) {
        assertThatThrownBy(() -> render(values)).hasMessageContaining(message);
    }

    @Test
    void flagsThatTheChartSetsAreRefusedAmongTheFurtherOnes() {
        List<String> ofController = new ArrayList<>();
        ofController.addAll(
                render("controller.mode=guard controller.guard.enforce=true").argumentsOf(CONTROLLER));
        ofController.addAll(render("controller.mode=standalone").argumentsOf(CONTROLLER));
        List<String> ofCompanion = render(
                        "companion.enabled=true companion.kubeletMetrics=true monitoring.enabled=true")
                .argumentsOf(COMPANION);

        Map.of("controller", ofController, "companion", ofCompanion)
                .forEach((part, flags) -> new TreeSet<>(flags)
                        .stream().filter(flag -> flag.startsWith("--")).forEach(flag -> {
                            String name = flag.replaceFirst("=.*", "");
                            assertThatThrownBy(() ->
                                            render("companion.enabled=true " + part + ".extraArgs[0]=" + name + "=x"))
                                    .hasMessageContaining(part + ".extraArgs contains " + name
                                            + "=x, but the chart sets " + name + ": ");
                        }));
    }

    @Test
    void eachValueIsInTheDocumentation() throws Exception {
        String documentation = Files.readString(Repository.root().resolve("docs/install.md"));
        Path values = Repository.root().resolve("deploy/helm/nodekeeper/values.yaml");

        for (String value :
                leaves("", map(new Load(LoadSettings.builder().build()).loadFromString(Files.readString(values))))) {
            assertThat(documentation).contains("`" + value + "`");
        }
    }

    /** The names of values that are not groups of others. Resources, selectors and labels are one value each. */
    private static List<String> leaves(String prefix, Map<String, Object> group) {
        List<String> names = new ArrayList<>();
        group.forEach((name, value) -> {
            boolean opaque = List.of("resources", "nodeSelector", "labels").contains(name);
            if (value instanceof Map && !opaque) {
                names.addAll(leaves(prefix + name + ".", map(value)));
            } else {
                names.add(prefix + name);
            }
        });
        return names;
    }

    private static Path pack(String name, String... options) throws Exception {
        Path file = directory.resolve(name);
        List<String> command = new ArrayList<>(
                List.of(Repository.root().resolve("scripts/chart").toString()));
        command.addAll(List.of(options));
        command.add(file.toString());
        Command.ok(command.toArray(String[]::new));
        return file;
    }

    private Path unpacked() throws Exception {
        Command.ok("tar", "--extract", "--file", chart.toString(), "--directory", directory.toString());
        return directory.resolve("nodekeeper");
    }

    private Manifests render(String values) {
        return Manifests.parse(template(chart, values).call());
    }

    /** The command that renders with values as {@code KEY=VALUE ...}. */
    private static TemplateCommand template(Path chart, String values) {
        TemplateCommand command = new Helm(chart).template().withName("nk").withNamespace("kube-system");
        settings(values).forEach(command::set);
        return command;
    }

    private static Map<String, String> settings(String values) {
        Map<String, String> settings = new LinkedHashMap<>();
        for (String setting : values.strip().split(" +")) {
            if (!setting.isEmpty()) {
                settings.put(setting.replaceFirst("=.*", ""), setting.replaceFirst("[^=]*=", ""));
            }
        }
        return settings;
    }

    /** The labels of an object, which may be changed. */
    private static Map<String, Object> labels(Map<String, Object> object) {
        return map(map(object.get("metadata")).get("labels"));
    }
}
