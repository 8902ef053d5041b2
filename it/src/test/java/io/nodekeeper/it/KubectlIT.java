package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Commands that people type, with each installed kubectl, against {@code nodekeeper apiserver}: their effects and exit codes. Each version has a namespace and node names of its own, so that all run beside each other.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("long")
@Order(1)
class KubectlIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    static Path directory;

    private static Running server;
    private static Path kubeconfig;
    private static Map<String, Path> executables = Map.of();

    /** A kubectl and its working directory. */
    record Client(String version, Kubectl kubectl, String namespace, Path directory) {

        String node(String name) {
            return namespace + "-" + name;
        }

        /** A new node, made without more than its name. */
        String newNode(String name) throws Exception {
            kubectl.okWith(
                    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" + node(name)
                            + "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
                            + "\"reason\":\"KubeletReady\"}]}}",
                    "create",
                    "--raw",
                    "/api/v1/nodes",
                    "-f");
            return node(name);
        }

        /** A new pod, on {@code node} unless that is empty. */
        String newPod(String name, String node) throws Exception {
            String place = node.isEmpty() ? "" : "\"nodeName\":\"" + node + "\",";
            kubectl.okWith(
                    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" + name
                            + "\"},\"spec\":{" + place
                            + "\"containers\":[{\"name\":\"c\",\"image\":\"busybox:1\"}]}}",
                    "create",
                    "--raw",
                    "/api/v1/namespaces/" + namespace + "/pods",
                    "-f");
            return name;
        }

        /** An event about a node, as its agent would write it. */
        void newEvent(String name, String node, String reason) throws Exception {
            kubectl.okWith(
                    "{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" + name
                            + "\",\"namespace\":\"default\"},\"involvedObject\":{\"kind\":\"Node\",\"apiVersion\":\"v1\","
                            + "\"name\":\"" + node + "\",\"uid\":\"" + node + "\"},\"reason\":\"" + reason
                            + "\",\"type\":\"Normal\",\"message\":\"about " + node
                            + "\",\"firstTimestamp\":\"2026-11-21T07:00:00Z\",\"lastTimestamp\":\"2026-11-21T07:00:00Z\","
                            + "\"count\":1,\"source\":{\"component\":\"test\"}}",
                    "create",
                    "--raw",
                    "/api/v1/namespaces/default/events",
                    "-f");
        }

        Node read(String node) throws Exception {
            return new Node(Json.parseObject(kubectl.ok("get", "--raw", "/api/v1/nodes/" + node)));
        }

        JsonObject readHere(String resource, String name) throws Exception {
            return Json.parseObject(
                    kubectl.ok("get", "--raw", "/api/v1/namespaces/" + namespace + "/" + resource + "/" + name));
        }

        boolean isThere(String... what) throws Exception {
            return !kubectl.ok(concat(concat(new String[] {"get"}, what), "-o", "name", "--ignore-not-found"))
                    .isEmpty();
        }

        static String[] concat(String[] first, String... more) {
            String[] all = java.util.Arrays.copyOf(first, first.length + more.length);
            System.arraycopy(more, 0, all, first.length, more.length);
            return all;
        }

        /** A running command and its output so far. */
        Going start(String... arguments) throws Exception {
            Path out = Files.createTempFile(directory, "going", ".out");
            Path err = Files.createTempFile(directory, "going", ".err");
            return new Going(kubectl.start(out, err, arguments), out, err);
        }

        @Override
        public String toString() {
            return version;
        }
    }

    /** A command that is running. */
    record Going(Process process, Path out, Path err) implements AutoCloseable {
        void awaitOutput(String text) throws Exception {
            Eventually.within(SOON, () -> {
                if (!process.isAlive() && !Files.readString(out).contains(text)) {
                    throw new AssertionError("it ended with " + process.exitValue() + ": " + Files.readString(out)
                            + Files.readString(err));
                }
                return Files.readString(out).contains(text);
            });
        }

        void awaitSuccess() throws Exception {
            assertThat(process.waitFor(60, TimeUnit.SECONDS))
                    .as("it ends: " + Files.readString(out))
                    .isTrue();
            assertThat(process.exitValue())
                    .as(Files.readString(out) + Files.readString(err))
                    .isZero();
        }

        @Override
        public void close() throws Exception {
            process.destroy();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        }
    }

    @BeforeAll
    static void start() throws Exception {
        executables = Kubectls.byVersion();
        Path data = directory.resolve("data");
        server =
                Running.start(directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", "0");
        server.awaitReady();
        kubeconfig = data.resolve("admin.kubeconfig");
        for (Client client : clients()) {
            client.kubectl.ok("create", "namespace", client.namespace);
        }
    }

    @AfterAll
    static void stop() throws Exception {
        assertThat(server.terminate()).isEqualTo(143);
        assertThat(server.log()).doesNotContain("Exception");
    }

    static List<Client> clients() {
        return executables.entrySet().stream()
                .map(entry -> {
                    String namespace = "k" + entry.getKey().replace('.', '-');
                    Path place = directory.resolve(namespace);
                    place.toFile().mkdirs();
                    return new Client(
                            entry.getKey(),
                            new Kubectl(entry.getValue().toString(), place, kubeconfig),
                            namespace,
                            place);
                })
                .toList();
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W1")
    void nodesAreShownInEveryForm(Client client) throws Exception {
        String node = client.newNode("forms");
        Kubectl kubectl = client.kubectl;

        assertThat(kubectl.ok("get", "node", node))
                .containsPattern("NAME +STATUS +ROLES +AGE +VERSION *\n" + node + " +Ready +<none> +\\d+s");
        assertThat(kubectl.ok("get", "nodes", "-o", "wide").lines().findFirst().orElseThrow())
                .matches("NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION"
                        + " +CONTAINER-RUNTIME *");
        assertThat(Json.parseObject(kubectl.ok("get", "node", node, "-o", "json"))
                        .text("kind"))
                .isEqualTo("Node");
        assertThat(kubectl.ok("get", "node", node, "-o", "yaml")).startsWith("apiVersion: v1\nkind: Node\n");
        assertThat(kubectl.ok("get", "node", node, "-o", "name")).isEqualTo("node/" + node + "\n");
        assertThat(kubectl.ok("get", "nodes", "--sort-by=.metadata.name")).contains(node);
        assertThat(kubectl.ok("get", "node", node, "--subresource=status")).contains(node);
        assertThat(kubectl.run("get", "node", client.node("nope")).code()).isEqualTo(1);
        assertThat(kubectl.run("get", "node", client.node("nope")).err())
                .isEqualTo("Error from server (NotFound): nodes \"" + client.node("nope") + "\" not found\n");
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W53")
    void aListComesInPieces(Client client) throws Exception {
        for (String name : List.of("a", "b", "c")) {
            client.newPod("piece-" + name, "");
        }

        String found = client.kubectl.ok("get", "pods", "-n", client.namespace, "--chunk-size=1", "-o", "name");

        assertThat(found.lines().filter(line -> line.contains("piece")))
                .containsExactly("pod/piece-a", "pod/piece-b", "pod/piece-c");
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W72")
    void aWatchShowsChangesAsTheyCome(Client client) throws Exception {
        String node = client.newNode("watched");
        try (Going all = client.start("get", "nodes", "-w");
                Going one = client.start("get", "node", node, "-w")) {
            all.awaitOutput(node);
            one.awaitOutput(node);
            client.kubectl.ok("cordon", node);

            all.awaitOutput("Ready,SchedulingDisabled");
            one.awaitOutput("Ready,SchedulingDisabled");
            assertThat(Files.readString(one.out)).startsWith("NAME ").containsOnlyOnce("NAME");
        }
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W77")
    void thingsAreDescribed(Client client) throws Exception {
        String node = client.newNode("described");
        String pod = client.newPod("described", node);
        client.newEvent(node, node, "Tested");
        client.kubectl.okWith(
                "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"" + node
                        + "\"},\"spec\":{\"holderIdentity\":\"" + node + "\",\"leaseDurationSeconds\":40}}",
                "create",
                "--raw",
                "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
                "-f");

        assertThat(client.kubectl.ok("describe", "node", node))
                .contains("HolderIdentity:  " + node)
                .contains("KubeletReady")
                .containsPattern("Non-terminated Pods: +\\(1 in total\\)")
                .contains("Tested");
        assertThat(client.kubectl.ok("describe", "pod", pod, "-n", client.namespace))
                .contains("Node:", "busybox:1", "Pending");
        assertThat(client.kubectl.ok("describe", "lease", node, "-n", "kube-node-lease"))
                .contains("Holder Identity");
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W77")
    void labelsAndAnnotationsAreChanged(Client client) throws Exception {
        String node = client.newNode("labelled");
        Kubectl kubectl = client.kubectl;

        assertThat(kubectl.ok("label", "node", node, "team=a")).isEqualTo("node/" + node + " labeled\n");
        assertThat(kubectl.ok("label", "node", node, "team=a")).contains("not labeled");
        assertThat(kubectl.run("label", "node", node, "team=b").code()).isEqualTo(1);
        kubectl.ok("label", "node", node, "team=b", "--overwrite");
        kubectl.ok("annotate", "node", node, "note=x");
        assertThat(client.read(node).labels()).containsEntry("team", "b");
        assertThat(client.read(node).annotations()).containsEntry("note", "x");
        kubectl.ok("label", "node", node, "team-");
        kubectl.ok("annotate", "node", node, "note-");
        assertThat(client.read(node).labels()).doesNotContainKey("team");
        assertThat(client.read(node).annotations()).doesNotContainKey("note");
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W77")
    void nodesAreTaintedAndCordoned(Client client) throws Exception {
        String node = client.newNode("tainted");
        Kubectl kubectl = client.kubectl;

        assertThat(kubectl.ok("taint", "node", node, "k=v:NoSchedule")).isEqualTo("node/" + node + " tainted\n");
        assertThat(client.read(node).hasTaint("k", "NoSchedule")).isTrue();
        assertThat(kubectl.ok("taint", "node", node, "k-")).isEqualTo("node/" + node + " untainted\n");
        assertThat(client.read(node).hasTaint("k", "NoSchedule")).isFalse();
        assertThat(kubectl.run("taint", "node", node, "k=v:Never").code()).isEqualTo(1);
        assertThat(kubectl.ok("cordon", node)).isEqualTo("node/" + node + " cordoned\n");
        assertThat(kubectl.ok("cordon", node)).isEqualTo("node/" + node + " already cordoned\n");
        assertThat(client.read(node).unschedulable()).isTrue();
        assertThat(kubectl.ok("uncordon", node)).isEqualTo("node/" + node + " uncordoned\n");
        assertThat(client.read(node).unschedulable()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W48")
    void aDrainEvictsAndWaitsUntilThePodsAreGone(Client client) throws Exception {
        String node = client.newNode("drained");
        client.newPod("evicted", node);
        assertThat(client.kubectl.run("drain", node, "--dry-run=server").code()).isEqualTo(1);
        client.kubectl.ok("drain", node, "--dry-run=server", "--force");
        assertThat(client.read(node).unschedulable()).isFalse();

        try (Going drain = client.start("drain", node, "--ignore-daemonsets", "--force", "--timeout=60s")) {
            Eventually.within(
                    SOON,
                    () -> client.readHere("pods", "evicted").object("metadata").has("deletionTimestamp"));
            // As the node's agent does after the containers have ended.
            client.kubectl.ok(
                    "delete", "pod", "evicted", "-n", client.namespace, "--force", "--grace-period=0", "--wait=false");
            drain.awaitSuccess();
            assertThat(Files.readString(drain.out))
                    .contains("evicting pod " + client.namespace + "/evicted", "node/" + node + " drained");
        }
        assertThat(client.read(node).unschedulable()).isTrue();
        assertThat(client.isThere("pod", "evicted", "-n", client.namespace)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W77")
    void thingsAreDeleted(Client client) throws Exception {
        String node = client.newNode("deleted");
        client.newPod("deleted", node);
        Kubectl kubectl = client.kubectl;

        kubectl.ok("delete", "node", node, "--dry-run=server");
        assertThat(client.isThere("node", node)).isTrue();
        assertThat(kubectl.ok("delete", "node", node)).isEqualTo("node \"" + node + "\" deleted\n");
        assertThat(client.isThere("node", node)).isFalse();
        kubectl.ok("delete", "pod", "deleted", "-n", client.namespace, "--force", "--grace-period=0");
        assertThat(client.isThere("pod", "deleted", "-n", client.namespace)).isFalse();
        assertThat(kubectl.run("delete", "node", node).code()).isEqualTo(1);
        kubectl.ok("delete", "node", node, "--ignore-not-found");
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W7")
    void thingsAreCreatedWithoutAFile(Client client) throws Exception {
        Kubectl kubectl = client.kubectl;

        assertThat(client.isThere("namespace", client.namespace)).isTrue();
        kubectl.ok("create", "configmap", "made", "-n", client.namespace, "--from-literal=a=b");
        kubectl.ok("create", "secret", "generic", "made", "-n", client.namespace, "--from-literal=a=b");
        kubectl.ok("create", "serviceaccount", "made", "-n", client.namespace);
        kubectl.ok("run", "made", "-n", client.namespace, "--image=busybox:1", "--restart=Never", "--env=A=b");

        assertThat(client.readHere("configmaps", "made").object("data").text("a"))
                .isEqualTo("b");
        assertThat(client.readHere("secrets", "made").object("data").text("a")).isEqualTo("Yg==");
        assertThat(client.readHere("serviceaccounts", "made").text("kind")).isEqualTo("ServiceAccount");
        JsonObject spec = client.readHere("pods", "made").object("spec");
        assertThat(spec.text("restartPolicy")).isEqualTo("Never");
        assertThat(spec.array("containers").objects().toList().getFirst().array("env"))
                .hasToString("[{\"name\":\"A\",\"value\":\"b\"}]");
        assertThat(kubectl.run("create", "configmap", "made", "-n", client.namespace)
                        .err())
                .contains("configmaps \"made\" already exists");
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W7")
    void aTokenIsMade(Client client) throws Exception {
        client.kubectl.ok("create", "serviceaccount", "bearer", "-n", client.namespace);

        String token = client.kubectl.ok("create", "token", "bearer", "-n", client.namespace, "--duration=1h");

        assertThat(token.strip().split("\\.")).hasSize(3);
    }

    private static String yaml(String node, String label) {
        return "apiVersion: v1\nkind: Node\nmetadata:\n  name: " + node + "\n  labels:\n    a: " + label
                + "\nspec:\n  taints:\n  - key: k\n    value: " + label + "\n    effect: NoSchedule\n";
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W8")
    @Tag("W9")
    void filesAreCreatedAppliedComparedAndReplaced(Client client) throws Exception {
        String node = client.node("filed");
        Kubectl kubectl = client.kubectl;

        assertThat(kubectl.okWith(yaml(node, "one"), "create", "--save-config", "-f"))
                .isEqualTo("node/" + node + " created\n");
        // The server had added a taint.
        assertThat(kubectl.okWith(yaml(node, "one"), "apply", "-f")).isEqualTo("node/" + node + " configured\n");
        assertThat(kubectl.okWith(yaml(node, "one"), "apply", "-f")).isEqualTo("node/" + node + " unchanged\n");
        Path two = Files.writeString(client.directory.resolve("two.yaml"), yaml(node, "two"));
        Kubectl.Result difference = kubectl.run("diff", "-f", two.toString());
        assertThat(difference.code()).as(difference.err()).isEqualTo(1);
        assertThat(difference.out()).contains("-    a: one", "+    a: two");
        assertThat(kubectl.ok("apply", "-f", two.toString())).isEqualTo("node/" + node + " configured\n");
        assertThat(client.read(node).labels()).containsEntry("a", "two");
        assertThat(kubectl.run("diff", "-f", two.toString()).code()).isZero();
        assertThat(kubectl.okWith(yaml(node, "three"), "replace", "-f")).isEqualTo("node/" + node + " replaced\n");
        assertThat(client.read(node).labels()).containsEntry("a", "three");
        Path wrong = Files.writeString(
                client.directory.resolve("wrong.yaml"), yaml(client.node("wrong"), "x") + "  typo: 1\n");
        Kubectl.Result refused = kubectl.run("create", "-f", wrong.toString());
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.err()).contains("unknown field \"spec.typo\"");
        kubectl.ok("create", "-f", wrong.toString(), "--validate=false");
        assertThat(client.isThere("node", client.node("wrong"))).isTrue();
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W39")
    void filesAreAppliedByTheServer(Client client) throws Exception {
        String node = client.node("served");
        Kubectl kubectl = client.kubectl;

        assertThat(kubectl.okWith(yaml(node, "one"), "apply", "--server-side", "-f"))
                .isEqualTo("node/" + node + " serverside-applied\n");
        Path other = Files.writeString(client.directory.resolve("other.yaml"), yaml(node, "two"));
        Kubectl.Result conflict =
                kubectl.run("apply", "--server-side", "--field-manager=other", "-f", other.toString());
        assertThat(conflict.code()).isEqualTo(1);
        assertThat(conflict.err()).contains("Apply failed with");
        assertThat(client.read(node).labels()).containsEntry("a", "one");
        kubectl.ok("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", other.toString());
        assertThat(client.read(node).labels()).containsEntry("a", "two");
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W77")
    void aPodsWholeManifestIsTakenAsItIs(Client client) throws Exception {
        // Without the token's volume, as kubectl calls every pod "configured" to which the server added one.
        String manifest = """
                apiVersion: v1
                kind: Pod
                metadata: {name: whole}
                spec:
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 0
                  nodeSelector: {disk: ssd}
                  volumes:
                  - {name: v, emptyDir: {sizeLimit: 1Gi}}
                  - name: p
                    projected: {sources: [{configMap: {name: c, optional: true}}]}
                  containers:
                  - name: c
                    image: busybox:1
                    resources: {limits: {cpu: 100m, memory: 1Gi}}
                    securityContext: {runAsUser: 0, capabilities: {drop: [ALL]}}
                    livenessProbe: {httpGet: {path: /, port: web}, periodSeconds: 5}
                    ports: [{name: web, containerPort: 80}]
                    volumeMounts: [{name: v, mountPath: /v}]
                    env: [{name: E, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
                """;

        assertThat(client.kubectl.okWith(manifest, "apply", "-n", client.namespace, "-f"))
                .isEqualTo("pod/whole created\n");

        assertThat(client.kubectl.okWith(manifest, "apply", "-n", client.namespace, "-f"))
                .isEqualTo("pod/whole unchanged\n");
        assertThat(client.readHere("pods", "whole")
                        .object("spec")
                        .array("volumes")
                        .toString())
                .contains("{\"emptyDir\":{\"sizeLimit\":\"1Gi\"},\"name\":\"v\"}");
    }

    /** What the server added for the former type must go, which kubectl does not know by its own copy of the manifest. */
    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W77")
    void applyChangesTheTypeOfAStrategyWhoseSettingsTheServerAdded(Client client) throws Exception {
        String manifest = """
                apiVersion: apps/v1
                kind: Deployment
                metadata: {name: typed}
                spec:
                  selector: {matchLabels: {app: typed}}
                  template:
                    metadata: {labels: {app: typed}}
                    spec: {containers: [{name: c, image: "busybox:1"}]}
                """;
        client.kubectl.okWith(manifest, "apply", "-n", client.namespace, "-f");

        assertThat(client.kubectl.okWith(
                        manifest + "  strategy: {type: Recreate}\n", "apply", "-n", client.namespace, "-f"))
                .isEqualTo("deployment.apps/typed configured\n");

        assertThat(Json.parseObject(
                                client.kubectl.ok("get", "deployment", "typed", "-n", client.namespace, "-o", "json"))
                        .object("spec")
                        .object("strategy"))
                .hasToString("{\"type\":\"Recreate\"}");
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W77")
    void somebodyEdits(Client client) throws Exception {
        String node = client.newNode("edited");
        client.kubectl.ok("label", "node", node, "a=before");

        client.kubectl.editor("sed -i s/before/after/").ok("edit", "node", node);

        assertThat(client.read(node).labels()).containsEntry("a", "after");
        assertThat(client.kubectl.editor("true").run("edit", "node", node).code())
                .isZero();
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W32")
    @Tag("W34")
    @Tag("W36")
    void patchesOfAllKindsGoToTheObjectAndToItsStatus(Client client) throws Exception {
        String node = client.newNode("patched");
        Kubectl kubectl = client.kubectl;
        String label = "{\"metadata\":{\"labels\":{\"p\":\"%s\"}}}";
        String add = "[{\"op\":\"add\",\"path\":\"/metadata/labels/p\",\"value\":\"3\"}]";
        String ready = "{\"status\":{\"conditions\":[{\"type\":\"%s\",\"status\":\"%s\"}]}}";

        kubectl.ok("patch", "node", node, "-p", label.formatted("1"));
        assertThat(client.read(node).labels()).containsEntry("p", "1");
        kubectl.ok("patch", "node", node, "--type=merge", "-p", label.formatted("2"));
        assertThat(client.read(node).labels()).containsEntry("p", "2");
        kubectl.ok("patch", "node", node, "--type=json", "-p", add);
        assertThat(client.read(node).labels()).containsEntry("p", "3");
        kubectl.ok("patch", "node", node, "--subresource=status", "-p", ready.formatted("DiskPressure", "False"));
        assertThat(client.read(node).conditions()).hasSize(2);
        kubectl.ok(
                "patch",
                "node",
                node,
                "--subresource=status",
                "--type=json",
                "-p",
                "[{\"op\":\"add\",\"path\":\"/status/phase\",\"value\":\"Running\"}]");
        assertThat(client.read(node).status().text("phase")).isEqualTo("Running");
        kubectl.ok(
                "patch", "node", node, "--subresource=status", "--type=merge", "-p", ready.formatted("Ready", "False"));
        assertThat(client.read(node).conditions()).hasSize(1);
        assertThat(kubectl.run("patch", "node", node, "--type=json", "-p", add.replace("labels", "nope/x"))
                        .code())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W77")
    void eventsAreShownAndWatched(Client client) throws Exception {
        String node = client.newNode("eventful");
        client.newEvent(node + "-1", node, "First");

        assertThat(client.kubectl.ok("events", "--for", "node/" + node)).contains("First", "about " + node);
        assertThat(client.kubectl.ok("get", "events", "--field-selector", "involvedObject.name=" + node))
                .contains("First");
        try (Going watch = client.start("events", "--for", "node/" + node, "--watch")) {
            watch.awaitOutput("First");
            client.newEvent(node + "-2", node, "Second");
            watch.awaitOutput("Second");
        }
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W68")
    @Tag("W77")
    void somebodyWaits(Client client) throws Exception {
        String node = client.newNode("awaited");
        Kubectl kubectl = client.kubectl;

        kubectl.ok("wait", "node/" + node, "--for=condition=Ready", "--timeout=30s");
        try (Going jsonpath = client.start(
                        "wait", "node/" + node, "--for=jsonpath={.metadata.labels.go}=on", "--timeout=60s");
                Going gone = client.start("wait", "node/" + node, "--for=delete", "--timeout=60s")) {
            kubectl.ok("label", "node", node, "go=on");
            jsonpath.awaitSuccess();
            kubectl.ok("delete", "node", node);
            gone.awaitSuccess();
        }
        assertThat(kubectl.run("wait", "node/" + node, "--for=condition=Ready", "--timeout=1s")
                        .code())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W7")
    @Tag("W81")
    void whoMayDoWhat(Client client) throws Exception {
        Kubectl kubectl = client.kubectl;

        assertThat(kubectl.ok("auth", "can-i", "get", "nodes")).isEqualTo("yes\n");
        assertThat(kubectl.ok("auth", "can-i", "--list", "-n", client.namespace))
                .contains("*.*");
        if (client.version.equals("1.27")) {
            // It knows only the versions before v1, which Kubernetes 1.32 does not serve either.
            assertThat(kubectl.run("auth", "whoami").err()).contains("selfsubjectreviews API is not enabled");
        } else {
            assertThat(kubectl.ok("auth", "whoami")).contains("kubernetes-admin", "system:masters");
        }
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W1")
    @Tag("W2")
    void theServerTellsWhatThereIs(Client client) throws Exception {
        Kubectl kubectl = client.kubectl;

        assertThat(kubectl.ok("api-resources"))
                .containsPattern("nodes +no +v1 +false +Node")
                .containsPattern("leases +coordination.k8s.io/v1 +true +Lease");
        assertThat(kubectl.ok("api-resources", "--api-group=coordination.k8s.io", "-o", "name"))
                .isEqualTo("leases.coordination.k8s.io\n");
        assertThat(kubectl.ok("api-versions").lines()).contains("v1", "coordination.k8s.io/v1", "storage.k8s.io/v1");
        assertThat(kubectl.ok("version")).containsPattern("Server Version: .*v1\\.32\\.0\\+nodekeeper");
        assertThat(kubectl.ok("cluster-info")).contains("is running at");
        assertThat(kubectl.ok("get", "--raw", "/readyz")).isEqualTo("ok");
        assertThat(kubectl.run("get", "foos").err()).contains("the server doesn't have a resource type \"foos\"");
        assertThat(kubectl.run("top", "node").err()).contains("metrics not available yet");
        assertThat(kubectl.ok("get", "all", "-n", "kube-public").strip()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("clients")
    @Tag("W9")
    void theServerExplainsItsFields(Client client) throws Exception {
        Kubectl kubectl = client.kubectl;

        assertThat(kubectl.ok("explain", "node"))
                .containsPattern("KIND: +Node")
                .contains("A machine that runs pods.", "spec", "status");
        assertThat(kubectl.ok("explain", "node.spec"))
                .contains("taints\t<[]Taint>")
                .contains("unschedulable\t<boolean>");
        assertThat(kubectl.ok("explain", "lease.spec.renewTime")).contains("When the holder last renewed the lease.");
        assertThat(kubectl.ok("explain", "pod.spec.containers.livenessProbe.httpGet.port", "--api-version=v1"))
                .containsPattern("KIND: +Pod");
        assertThat(kubectl.ok("explain", "daemonset.spec.template.spec")).contains("containers\t<[]Container>");
        assertThat(kubectl.ok("explain", "node.status", "--recursive")).contains("nodeInfo", "kubeletVersion");
        assertThat(kubectl.run("explain", "node.nope").code()).isEqualTo(1);
    }
}
