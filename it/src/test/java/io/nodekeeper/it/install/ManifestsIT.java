package io.nodekeeper.it.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.it.Command;
import io.nodekeeper.it.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The manifests in {@code deploy}, applied by the real kubectl to Nodekeeper's own API server, each overlay by one command.
 * The server stores Deployments and DaemonSets, but nothing makes pods of them; the test starts the controller as the
 * Deployment says.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ManifestsIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    static Path directory;

    private Running server;
    private Path admin;
    private Path audit;

    @BeforeAll
    void start() throws Exception {
        Path data = directory.resolve("data");
        audit = directory.resolve("audit.log");
        server = Running.startSmall(
                directory,
                "server",
                List.of(
                        "apiserver",
                        "--data-dir",
                        data.toString(),
                        "--secure-port",
                        "0",
                        "--store",
                        "memory",
                        "--audit-log-path",
                        audit.toString()));
        server.awaitReady();
        admin = data.resolve("admin.kubeconfig");
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @CsvSource({"observe, nodekeeper-observer", "standalone, nodekeeper-controller", "guard, nodekeeper-guard"})
    void controllerRunsAsTheOverlaySaysWithTheRightsOfTheOverlay(String overlay, String account) throws Exception {
        // Given what the overlay contains
        Path rendered = render(overlay);
        assertThat(applyTwice(overlay))
                .contains(
                        "deployment.apps/nodekeeper-controller",
                        "networkpolicy.networking.k8s.io/nodekeeper-controller",
                        "service/nodekeeper-controller",
                        "serviceaccount/" + account);
        Path deployment = only(rendered, "Deployment");
        assertThat(line(deployment, "serviceAccountName: ")).isEqualTo(account);

        // When the controller runs with the Deployment's arguments and a token of its service account
        List<String> arguments = new ArrayList<>();
        for (String argument : arguments(deployment)) {
            // The pod's addresses and directories, for this machine.
            arguments.add(argument.replace("=0.0.0.0:10257", "=0").replace("=/var/lib/nodekeeper", "=" + directory));
        }
        assertThat(arguments.getFirst()).isEqualTo("controller");
        arguments.addAll(List.of("--kubeconfig", kubeconfigOf(account).toString()));
        if (overlay.equals("guard")) {
            arguments.add("--guard-bind-address=127.0.0.1:0");
        }
        try (Running controller = Running.startSmall(directory, overlay, arguments)) {
            // Then it becomes ready, and the API server refuses it nothing.
            ReadyPage.await(controller::log);
            assertThat(controller.log()).doesNotContainIgnoringCase("forbidden").doesNotContainPattern("\\b403\\b");
        }
        if (overlay.equals("observe")) {
            // And one that observes has written nothing.
            assertThat(verbs("system:serviceaccount:kube-system:" + account))
                    .contains("list")
                    .isSubsetOf("get", "list", "watch");
        }
    }

    @Test
    void webhookConfigurationOfTheGuardIsStoredWithTheWarningThatNothingCallsIt() throws Exception {
        assertThat(kubectl("apply", "-k", deploy("overlays/guard").toString()))
                .contains("validatingwebhookconfiguration.admissionregistration.k8s.io/nodekeeper-guard ")
                .contains(
                        "Warning: this API server stores ValidatingWebhookConfigurations, but does not call their webhooks");
        assertThat(kubectl("get", "validatingwebhookconfiguration", "nodekeeper-guard"))
                .containsPattern("nodekeeper-guard +1 ");
    }

    /** The rights beyond those of every service account, as {@code kubectl auth can-i --list} prints them. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "overlays/observe | kube-system:nodekeeper-observer | kube-system | events [] [] [get list];"
                        + " leases.coordination.k8s.io [] [] [get list watch];"
                        + " nodes [] [] [get list watch];"
                        + " pods [] [] [get list watch];"
                        + " subjectaccessreviews.authorization.k8s.io [] [] [create];"
                        + " tokenreviews.authentication.k8s.io [] [] [create]",
                "overlays/guard | kube-system:nodekeeper-guard | kube-system | events [] [] [get list create patch];"
                        + " leases.coordination.k8s.io [] [] [get list watch];"
                        + " nodes [] [] [get list watch];"
                        + " pods [] [] [get list watch];"
                        + " subjectaccessreviews.authorization.k8s.io [] [] [create];"
                        + " tokenreviews.authentication.k8s.io [] [] [create];"
                        + " validatingwebhookconfigurations.admissionregistration.k8s.io [] [nodekeeper-guard] [get update]",
                "overlays/companion pages | nodekeeper:nodekeeper-companion | nodekeeper | events [] [] [create patch];"
                        + " nodes [] [] [list watch];"
                        + " nodes/status [] [] [patch];"
                        + " subjectaccessreviews.authorization.k8s.io [] [] [create];"
                        + " tokenreviews.authentication.k8s.io [] [] [create]",
                "overlays/standalone | kube-system:nodekeeper-controller | kube-system | events [] [] [list create patch];"
                        + " leases.coordination.k8s.io [] [] [create];"
                        + " leases.coordination.k8s.io [] [kube-controller-manager] [get update];"
                        + " leases.coordination.k8s.io [] [nodekeeper-controller] [get patch];"
                        + " leases.coordination.k8s.io [] [nodekeeper-lock] [get update];"
                        + " nodes [] [] [get list watch patch];"
                        + " nodes/status [] [] [update patch];"
                        + " pods [] [] [get list watch delete];"
                        + " pods/status [] [] [patch update];"
                        + " subjectaccessreviews.authorization.k8s.io [] [] [create];"
                        + " tokenreviews.authentication.k8s.io [] [] [create]",
                "overlays/standalone | kube-system:nodekeeper-controller | kube-node-lease | events [] [] [list create patch];"
                        + " leases.coordination.k8s.io [] [] [get list watch delete create];"
                        + " leases.coordination.k8s.io [] [nodekeeper-canary] [patch];"
                        + " nodes [] [] [get list watch patch];"
                        + " nodes/status [] [] [update patch];"
                        + " pods [] [] [get list watch delete];"
                        + " pods/status [] [] [patch update];"
                        + " subjectaccessreviews.authorization.k8s.io [] [] [create];"
                        + " tokenreviews.authentication.k8s.io [] [] [create]"
            })
    void accountMayDoWhatItsRoleListsAndNoMore(String folders, String account, String namespace, String rights)
            throws Exception {
        for (String folder : folders.split(" ")) {
            kubectl("apply", "-k", deploy(folder).toString());
        }

        Set<String> listed = rights(account, namespace);
        listed.removeAll(rights("default:default", namespace));

        assertThat(String.join("; ", listed)).isEqualTo(rights);
    }

    private Set<String> rights(String account, String namespace) throws Exception {
        Set<String> lines = new TreeSet<>();
        kubectl("auth", "can-i", "--list", "-n", namespace, "--as=system:serviceaccount:" + account)
                .lines()
                .skip(1)
                .forEach(line -> lines.add(line.strip().replaceAll(" +", " ")));
        return lines;
    }

    /** The verbs of a user's requests about objects in the audit log; the questions about callers of pages do not count. */
    private Set<String> verbs(String user) throws IOException {
        Set<String> verbs = new TreeSet<>();
        String written = Files.readString(audit);
        // The last line may be half written.
        written.substring(0, written.lastIndexOf('\n') + 1)
                .lines()
                .map(Json::parseObject)
                .filter(entry -> entry.object("user").text("username").equals(user))
                .filter(entry -> !entry.object("objectRef").text("resource").isEmpty())
                .filter(entry -> !entry.object("objectRef").text("resource").endsWith("reviews"))
                .forEach(entry -> verbs.add(entry.text("verb")));
        return verbs;
    }

    @Test
    void companionIsInstalledWithTheFlagsOfAnAgent() throws Exception {
        Path rendered = render("companion");

        assertThat(applyTwice("companion"))
                .containsExactly(
                        "clusterrole.rbac.authorization.k8s.io/nodekeeper-companion",
                        "clusterrolebinding.rbac.authorization.k8s.io/nodekeeper-companion",
                        "daemonset.apps/nodekeeper-companion",
                        "namespace/nodekeeper",
                        "priorityclass.scheduling.k8s.io/nodekeeper-companion",
                        "serviceaccount/nodekeeper-companion");
        String daemonSet = Files.readString(only(rendered, "DaemonSet"));
        assertThat(daemonSet).contains("- --mode=companion").contains("- '@/usr/lib/nodekeeper/args/agent'");
    }

    @Test
    void guardsRightsAndWebhookAreWhatTheCommandPrints() throws Exception {
        String printed;
        try (Running print = Running.startSmall(directory, "print", List.of("guard", "print"))) {
            assertThat(print.awaitEnd()).isZero();
            printed = print.output();
        }

        assertThat(Files.readString(deploy("guard-rbac").resolve("guard.yaml")).replaceAll("(?m)^#.*\n", ""))
                .isEqualTo(printed);
    }

    @Test
    void webhookReachesTheGuardsPortThroughServiceAndPolicy() throws Exception {
        Path rendered = render("guard");

        Path service = rendered.resolve("v1_service_nodekeeper-guard.yaml");
        assertThat(line(service, "port: ")).isEqualTo("443");
        assertThat(line(service, "targetPort: ")).isEqualTo("guard");
        String deployment = Files.readString(only(rendered, "Deployment"));
        assertThat(deployment)
                .contains("- containerPort: 9443\n          name: guard\n")
                .contains("replicas: 2\n");
        assertThat(Files.readString(only(rendered, "NetworkPolicy"))).contains("- ports:\n    - port: guard\n");
        assertThat(line(only(rendered, "PodDisruptionBudget"), "maxUnavailable: "))
                .isEqualTo("1");
    }

    @ParameterizedTest
    @CsvSource({"controller, nodekeeper-controller", "companion, nodekeeper-agent"})
    void prometheusRuleHasTheRulesOfTheAlerts(String component, String rules) throws Exception {
        String rule = Files.readString(deploy("monitoring/" + component).resolve("prometheusrule.yaml"));
        String alerts = Files.readString(Repository.root().resolve("docs/alerts/" + rules + ".rules.yaml"));

        assertThat(rule.substring(rule.indexOf("\nspec:\n") + 7))
                .as("scripts/prometheus-rules writes it")
                .isEqualTo(alerts.replaceAll("(?m)^(?=.)", "  "));
    }

    @ParameterizedTest
    @CsvSource({
        "monitoring/controller, overlays/observe, Deployment, pages, nodekeeper-controller, nodekeeper-controller",
        "monitoring/companion, overlays/companion-monitoring, DaemonSet, healthz, nodekeeper-companion, nodekeeper-agent"
    })
    void serviceMonitorSelectsTheServiceOfThePodsAndTheirPort(
            String monitoring, String workload, String kind, String port, String name, String job) throws Exception {
        Path monitor = deploy(monitoring).resolve("servicemonitor.yaml");
        Path rendered = renderFolder(workload);
        Path target = only(rendered, kind);
        Path service = rendered.resolve("v1_service_" + name + ".yaml");

        String pod = Files.readString(target).replaceAll("(?s).* template:\n", "");
        String labels = Files.readString(monitor).replaceAll("(?s).*matchLabels:\n(( {6}\\S.*?\n)+).*", "$1");
        String selector = Files.readString(service).replaceAll("(?s).* selector:\n", "");
        for (String label : labels.strip().split("\\s*\n\\s*")) {
            assertThat(label).startsWith("app.kubernetes.io/");
            // The label is one of the Service's own; and the Service selects by it, too.
            assertThat(Files.readString(service)).contains(label + "\n");
            assertThat(selector).contains(label + "\n");
            assertThat(pod).contains(label + "\n");
        }
        assertThat(line(monitor, "namespace: ")).isEqualTo(line(service, "namespace: "));
        assertThat(line(monitor, "port: ")).isEqualTo(port);
        assertThat(Files.readString(service)).contains("name: " + port + "\n");
        assertThat(pod).contains("name: " + port + "\n").contains("scheme: HTTPS\n");
        assertThat(line(monitor, "scheme: ")).isEqualTo("https");
        // The alerts select the series of this job.
        assertThat(line(monitor, "replacement: ")).isEqualTo(job);
        assertThat(Files.readString(deploy(monitoring).resolve("prometheusrule.yaml")))
                .contains("{job=\"" + job + "\"");
        assertThat(kind.equals("DaemonSet")).isEqualTo(pod.contains("- --healthz-bind-address=0.0.0.0\n"));
    }

    @Test
    void observerMayOnlyRead() throws Exception {
        kubectl("apply", "--server-side", "-k", deploy("observer-rbac").toString());

        Set<String> verbs = new TreeSet<>();
        Files.readAllLines(deploy("observer-rbac").resolve("observer.yaml")).stream()
                .filter(text -> text.contains("verbs:"))
                .forEach(text -> verbs.addAll(
                        List.of(text.replaceAll(".*\\[|\\].*|\"", "").split(", "))));
        assertThat(verbs).containsExactly("get", "list", "watch");
        String account = "--as=system:serviceaccount:kube-system:nodekeeper-observer";
        assertThat(kubectl("auth", "can-i", "watch", "nodes", account)).endsWith("yes\n");
        for (String write :
                List.of("patch nodes", "patch nodes/status", "delete pods", "create events", "update leases")) {
            Command.Result answer = Command.run(
                    LIMIT,
                    "sh",
                    "-c",
                    "kubectl --kubeconfig \"$1\" auth can-i " + write + " -A \"$2\"",
                    "sh",
                    admin.toString(),
                    account);
            assertThat(answer.output()).as(write).endsWith("no\n");
        }
    }

    @ParameterizedTest
    @CsvSource({"observe, Deployment", "standalone, Deployment", "guard, Deployment", "companion, DaemonSet"})
    void imageHasTheVersionOfTheRelease(String overlay, String kind) throws Exception {
        assertThat(line(only(render(overlay), kind), "image: ")).isEqualTo("nodekeeper:" + Repository.version());
    }

    private static Path deploy(String folder) {
        return Repository.root().resolve("deploy").resolve(folder);
    }

    /** One file for each object of an overlay. */
    private static Path render(String overlay) throws Exception {
        return renderFolder("overlays/" + overlay);
    }

    private static Path renderFolder(String folder) throws Exception {
        Path target = Files.createTempDirectory(directory, "rendered");
        Command.ok("kubectl", "kustomize", deploy(folder).toString(), "-o", target.toString());
        return target;
    }

    /** Applies an overlay by one command, and again: the second time changes nothing. Returns the names of its objects. */
    private Set<String> applyTwice(String overlay) throws Exception {
        String folder = deploy("overlays").resolve(overlay).toString();
        kubectl("apply", "-k", folder);
        String versions = resourceVersions(folder);
        kubectl("apply", "-k", folder);
        assertThat(resourceVersions(folder)).isEqualTo(versions);
        return new TreeSet<>(kubectl("get", "-k", folder, "-o", "name").lines().toList());
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }

    private static Path only(Path rendered, String kind) throws IOException {
        for (Path file : files(rendered)) {
            if (line(file, "kind: ").equals(kind)) {
                return file;
            }
        }
        throw new AssertionError("no " + kind + " in " + rendered);
    }

    /** What follows {@code start}, after spaces and perhaps a dash, in the first such line. */
    private static String line(Path manifest, String start) throws IOException {
        return Files.readAllLines(manifest).stream()
                .map(text -> text.replaceFirst("^[ -]*", ""))
                .filter(text -> text.startsWith(start))
                .map(text -> text.substring(start.length()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line \"" + start + "\" in " + manifest));
    }

    private static List<String> arguments(Path deployment) throws IOException {
        List<String> lines = Files.readAllLines(deployment);
        List<String> arguments = new ArrayList<>();
        int at = lines.stream().map(String::strip).toList().indexOf("- args:") + 1;
        assertThat(at).as("args in " + deployment).isPositive();
        for (; lines.get(at).strip().startsWith("- "); at++) {
            arguments.add(lines.get(at).strip().substring(2));
        }
        return arguments;
    }

    private String resourceVersions(String folder) throws Exception {
        return kubectl("get", "-k", folder, "-o", "jsonpath={.items[*].metadata.resourceVersion}");
    }

    /** The administrator's kubeconfig, with a token of a service account in place of the certificate. */
    private Path kubeconfigOf(String account) throws Exception {
        String token = kubectl("create", "token", account, "-n", "kube-system").strip();
        Path file = directory.resolve(account + ".kubeconfig");
        Files.copy(admin, file);
        String[] config = {"kubectl", "--kubeconfig", file.toString(), "config"};
        Command.ok(config[0], config[1], config[2], config[3], "set-credentials", "account", "--token=" + token);
        Command.ok(config[0], config[1], config[2], config[3], "set-context", "--current", "--user=account");
        return file;
    }

    private String kubectl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("kubectl", "--kubeconfig", admin.toString()));
        command.addAll(List.of("--cache-dir", directory.resolve("cache").toString()));
        command.addAll(List.of(arguments));
        return Command.ok(command.toArray(String[]::new));
    }
}
