package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Security contexts and runtime classes of pods on a real containerd: what their containers see, and which pods are refused. The
 * agent has the rights of a node only. Containers write what they see as their termination message.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class PodSecurityFieldsIT {
    private static final Duration SOON = Duration.ofSeconds(40);

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        node = cluster.addNodeWithOwnRights();
        node.containerd().connectNode();
        cluster.startAgent("allowedUnsafeSysctls: [net.core.*]\n");
    }

    @Test
    void aContainerSeesTheSysctlsOfItsPod() throws Exception {
        run("sysctls", """
                securityContext:
                  sysctls:
                  - {name: net.ipv4.ip_local_port_range, value: "40000 40100"}
                  - {name: net.core.somaxconn, value: "77"}
                """, "cat /proc/sys/net/ipv4/ip_local_port_range /proc/sys/net/core/somaxconn", "{}");

        assertThat(end("sysctls").split("\\s+")).containsExactly("40000", "40100", "77");
    }

    @Test
    void anUnsafeSysctlThatIsNotAllowedIsRefused() throws Exception {
        run("unsafe", """
                securityContext: {sysctls: [{name: kernel.msgmax, value: "9000"}]}
                """, "true", "{}");

        Eventually.within(SOON, () -> pods.status("unsafe").text("phase").equals("Failed"));
        assertThat(pods.status("unsafe").text("reason")).isEqualTo("SysctlForbidden");
        assertThat(pods.status("unsafe").text("message"))
                .isEqualTo("Pod was rejected: forbidden sysctl: \"kernel.msgmax\" not allowlisted");
    }

    @Test
    void aSeccompProfileOfTheNodeRefusesASystemCall() throws Exception {
        Path profiles = Files.createDirectories(node.directory().resolve("agent/seccomp/narrow"));
        Files.writeString(profiles.resolve("no-directories.json"), """
                {"defaultAction": "SCMP_ACT_ALLOW",
                 "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}
                """);
        String command = "touch /tmp/file && /bin/busybox mkdir /tmp/made 2>&1";

        run("filtered", """
                securityContext: {seccompProfile: {type: Localhost, localhostProfile: narrow/no-directories.json}}
                """, command, "{}");
        run("unfiltered", "", command, "{}");

        assertThat(end("filtered")).contains("Operation not permitted");
        assertThat(end("unfiltered")).isEmpty();
    }

    @Test
    void aSeccompProfileThatTheNodeDoesNotHaveKeepsTheContainerWaiting() throws Exception {
        run("missing", "", "true", "{seccompProfile: {type: Localhost, localhostProfile: absent.json}}");

        Eventually.within(SOON, () -> pods.waited("missing").contains("CreateContainerError"));
        Eventually.within(SOON, () -> kubectl.ok("get", "events").contains("agent/seccomp/absent.json"));
    }

    @Test
    void nothingOfProcIsHiddenFromAContainerThatAsksForAll() throws Exception {
        String command = "/bin/busybox grep -c ' /proc/' /proc/mounts || true";

        run("masked", "", command, "{}");
        run("unmasked", "", command, "{procMount: Unmasked}");

        assertThat(end("masked").strip()).isNotEqualTo("0");
        assertThat(end("unmasked").strip()).isEqualTo("0");
    }

    @Test
    void strictGroupsAreRefusedByARuntimeThatDoesNotHaveThem() throws Exception {
        run("strict", "securityContext: {supplementalGroupsPolicy: Strict}\n", "true", "{}");

        Eventually.within(SOON, () -> pods.status("strict").text("phase").equals("Failed"));
        assertThat(pods.status("strict").text("reason")).isEqualTo("SupplementalGroupsPolicyNotSupported");
    }

    @Test
    void aPodRunsWithTheHandlerAndTheOverheadOfItsRuntimeClass() throws Exception {
        kubectl.apply("""
                apiVersion: node.k8s.io/v1
                kind: RuntimeClass
                metadata: {name: usual}
                handler: runc
                overhead: {podFixed: {memory: 16Mi}}
                """);

        run("classy", "runtimeClassName: usual\n", "echo runs", "{}");

        assertThat(end("classy").strip()).isEqualTo("runs");
        assertThat(pods.pod("classy")
                        .orElseThrow()
                        .object("spec")
                        .object("overhead")
                        .text("memory"))
                .isEqualTo("16Mi");
    }

    @Test
    void aHandlerThatTheRuntimeDoesNotHaveIsNamedByAnEvent() throws Exception {
        kubectl.apply(runtimeClass("absent", "kata"));

        run("virtual", "runtimeClassName: absent\n", "true", "{}");

        Eventually.within(SOON, () -> kubectl.ok("get", "events").contains("no runtime for \"kata\" is configured"));
        assertThat(pods.status("virtual").text("phase")).isEqualTo("Pending");
    }

    @Test
    void aPodWhoseRuntimeClassIsGoneWaitsUntilItIsBack() throws Exception {
        // The API server takes no pod of a class that does not exist, so the class goes before the pod has a node.
        kubectl.apply(runtimeClass("late", "runc"));
        kubectl.apply(
                pod("patient", "runtimeClassName: late\n", "echo runs", "{}").replaceFirst("  nodeName: .*\n", ""));
        kubectl.ok("delete", "runtimeclass", "late");
        kubectl.okWith("""
                {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "patient"},
                 "target": {"apiVersion": "v1", "kind": "Node", "name": "%s"}}
                """.formatted(NODE), "create", "--raw", "/api/v1/namespaces/default/pods/patient/binding", "-f");

        Eventually.within(
                SOON,
                () -> kubectl.ok("get", "events")
                        .contains("Failed to create pod sandbox: runtimeclass.node.k8s.io \"late\" not found"));
        assertThat(pods.waited("patient")).contains("ContainerCreating");

        kubectl.apply(runtimeClass("late", "runc"));
        assertThat(end("patient").strip()).isEqualTo("runs");
    }

    private static String runtimeClass(String name, String handler) {
        return """
                apiVersion: node.k8s.io/v1
                kind: RuntimeClass
                metadata: {name: %s}
                handler: %s
                """.formatted(name, handler);
    }

    private void run(String name, String spec, String command, String security) throws Exception {
        kubectl.apply(pod(name, spec, command, security));
    }

    /** A pod that writes the output of {@code command} as its termination message and ends. */
    private static String pod(String name, String spec, String command, String security) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  restartPolicy: Never
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 1
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "(%s) > /dev/termination-log"]
                    securityContext: %s
                """.formatted(name, NODE, BusyboxImages.BUSYBOX, command, security) + spec.indent(2);
    }

    /** What the pod's container wrote before it ended. */
    private String end(String name) throws Exception {
        try {
            Eventually.within(SOON, () -> ended(name).has("exitCode"));
        } catch (AssertionError e) {
            throw new AssertionError(
                    name + " has not ended: " + pods.status(name) + "\n" + kubectl.ok("get", "events"), e);
        }
        return ended(name).text("message");
    }

    private JsonObject ended(String name) {
        return pods.container(name).object("state").object("terminated");
    }
}
