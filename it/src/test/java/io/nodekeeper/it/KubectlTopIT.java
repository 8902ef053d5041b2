package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code kubectl top} and requests through a node's proxy, with the real kubectl, a node on a real containerd, and beside it
 * one that accepts connections and says nothing.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class KubectlTopIT {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final String PROXY = "/api/v1/nodes/" + NODE + "/proxy";

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        cluster.addNode();
        cluster.startAgent("""
                maxPods: 42
                authentication:
                  x509: {clientCAFile: %s}
                """.formatted(cluster.authority()));
        kubectl.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: web, labels: {app: shop}}
                spec:
                  nodeName: %1$s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 1
                  containers:
                  - name: busy
                    image: %2$s
                    command: ["/bin/sh", "-c", "while true; do :; done"]
                    resources: {limits: {cpu: 200m}}
                  - name: big
                    image: %2$s
                    command: ["/bin/sh", "-c", "x=$(dd if=/dev/zero bs=1000000 count=40 | tr '\\\\0' x); : > /full; while true; do sleep 1000; done"]
                    readinessProbe: {exec: {command: ["/bin/sh", "-c", "test -e /full"]}, periodSeconds: 1}
                """.formatted(NODE, BusyboxImages.BUSYBOX));
        cluster.awaitReady(SOON, "web");
        ServerSocket silent = cluster.opened(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        kubectl.apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: hung}
                """);
        kubectl.ok(
                "patch",
                "node",
                "hung",
                "--subresource=status",
                "-p",
                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"127.0.0.1\"}],"
                        + "\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":" + silent.getLocalPort() + "}}}}");
    }

    @Test
    void aNodesPagesComeThroughItsProxy() throws Exception {
        assertThat(json("/stats/summary").object("node").text("nodeName")).isEqualTo(NODE);
        assertThat(json("/configz").object("kubeletconfig").number("maxPods")).contains(42L);
        assertThat(json("/runningpods/")
                        .array("items")
                        .objects()
                        .map(pod -> pod.object("metadata").text("name")))
                .containsExactly("web");
        assertThat(raw("/healthz/syncloop")).startsWith("ok");
        assertThat(raw("/metrics/resource")).contains("node_cpu_usage_seconds_total");
        assertThat(raw("/metrics")).contains("kubelet_running_pods");
        assertThat(raw("/containerLogs/default/web/busy?tailLines=1")).isEmpty();
        assertThat(raw("/metrics/probes"))
                .containsPattern("prober_probe_total\\{[^}]*probe_type=\"Readiness\"[^}]*result=\"successful\"[^}]*\\}")
                .doesNotContain("kubelet_running_pods");
    }

    @Test
    void aNodesErrorsAreTheClients() throws Exception {
        assertThat(kubectl.run("get", "--raw", PROXY + "/nothing").err())
                .contains("could not find the requested resource");
        assertThat(kubectl.run("delete", "--raw", PROXY + "/pods").err()).contains("not allow this method");
        assertThat(kubectl.run("get", "--raw", PROXY + "/pods", "--as=bob").err())
                .contains("cannot get resource \"nodes/proxy\"");
        assertThat(kubectl.run("get", "--raw", "/api/v1/nodes/runner:22/proxy/").err())
                .contains("the proxy reaches only the API of node runner");
    }

    @Test
    void aNodeThatIsTheServerItselfIsNoWayAroundRights() throws Exception {
        int own = Integer.parseInt(kubectl.ok("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")
                .replaceAll(".*:", "")
                .strip());
        kubectl.apply("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"mirror\"}}");
        try {
            kubectl.ok(
                    "patch",
                    "node",
                    "mirror",
                    "--subresource=status",
                    "-p",
                    "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"127.0.0.1\"}],"
                            + "\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":" + own + "}}}}");

            assertThat(kubectl.run("get", "--raw", "/api/v1/nodes/mirror/proxy/api/v1/secrets")
                            .err())
                    .contains("takes this server for a node");
        } finally {
            kubectl.ok("delete", "node", "mirror");
        }
    }

    @Test
    void topShowsWhatTheKernelCountsBesideANodeThatHangs() throws Exception {
        List<Counted> windows = new ArrayList<>(List.of(counted()));
        // The first answer takes a node's second measurement; then the numbers are at most 15 s old.
        Pattern numbers = Pattern.compile("(?m)^" + NODE + " +\\d+m +\\d+% +\\d+Mi +\\d+%");
        Eventually.within(
                SOON, () -> numbers.matcher(kubectl.run("top", "nodes").out()).find());
        Eventually.within(SOON, () -> !row("web", "busy").isEmpty());
        // A busy machine gives the container less than its limit at some times, which are not the same for both.
        Eventually.within(SOON, () -> {
            if (showsTheUseSince(windows.getLast())) {
                return true;
            }
            windows.add(counted());
            Thread.sleep(5_000);
            return false;
        });
        // A measurement from before the container was full, when its shell still copied, leaves within 15 s.
        double workingSet = counted().memory / 1048576.0;
        Eventually.within(
                SOON, () -> Math.abs(Long.parseLong(row("web", "big").getLast()) - workingSet) < 0.3 * workingSet);
        assertThat(kubectl.ok("top", "pods", "-A")).containsPattern("(?m)^default +web +\\d+m +\\d+Mi");
        assertThat(kubectl.ok("top", "pods", "-l", "app=shop")).contains("web");
        assertThat(kubectl.ok("get", "pods.metrics.k8s.io")).contains("WINDOW").contains("web");
        assertThat(kubectl.ok("api-resources", "--api-group=metrics.k8s.io")).contains("NodeMetrics", "PodMetrics");
        assertThat(kubectl.run("top", "nodes", "--as=bob").err()).contains("forbidden");
        long later = System.nanoTime();
        kubectl.ok("top", "nodes");
        assertThat(Duration.ofNanos(System.nanoTime() - later)).isLessThan(Duration.ofSeconds(20));
    }

    /**
     * What the kernel counted.
     *
     * @param at when it was read, System.nanoTime
     * @param cpu nanoseconds of processor time of the container busy
     * @param memory the working set of big
     */
    private record Counted(long at, long cpu, long memory) {}

    private Counted counted() throws Exception {
        Path busy = group("busy", "cpuacct");
        Path big = group("big", "memory");
        return new Counted(System.nanoTime(), cpu(busy), memory(big));
    }

    /** Whether kubectl shows the processor time that the container busy has used since then, within 30 %. */
    private boolean showsTheUseSince(Counted begin) throws Exception {
        Counted end = counted();
        double milliCores = 1e3 * (end.cpu - begin.cpu) / (end.at - begin.at);
        List<String> shown = row("web", "busy");
        System.out.println("top: " + shown + " " + row("web", "big") + "; kernel: " + milliCores + " m, "
                + (end.memory >> 20) + " Mi");
        return !shown.isEmpty() && Math.abs(Long.parseLong(shown.getFirst()) - milliCores) < 0.3 * milliCores;
    }

    /** Milli-cores and MiB of a container as kubectl shows them; empty if it is not shown. */
    private List<String> row(String pod, String container) throws Exception {
        Kubectl.Result result = kubectl.run("top", "pods", "--containers");
        Matcher row = Pattern.compile("(?m)^" + pod + " +" + container + " +(\\d+)m +(\\d+)Mi")
                .matcher(result.out());
        return row.find() ? List.of(row.group(1), row.group(2)) : List.of();
    }

    private static long cpu(Path group) throws Exception {
        Path old = group.resolve("cpuacct.usage");
        return Files.exists(old)
                ? Long.parseLong(Files.readString(old).strip())
                : 1_000 * field(group.resolve("cpu.stat"), "usage_usec");
    }

    private static long memory(Path group) throws Exception {
        Path old = group.resolve("memory.usage_in_bytes");
        return Files.exists(old)
                ? Long.parseLong(Files.readString(old).strip())
                        - field(group.resolve("memory.stat"), "total_inactive_file")
                : Long.parseLong(Files.readString(group.resolve("memory.current"))
                                .strip())
                        - field(group.resolve("memory.stat"), "inactive_file");
    }

    private static long field(Path file, String name) throws Exception {
        return Files.readAllLines(file).stream()
                .filter(line -> line.startsWith(name + " "))
                .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    private Path group(String container, String controller) throws Exception {
        String id = kubectl.ok(
                        "get",
                        "pod",
                        "web",
                        "-o",
                        "jsonpath={.status.containerStatuses[?(@.name==\"" + container + "\")].containerID}")
                .replaceAll(".*//", "");
        Process find = new ProcessBuilder("find", "/sys/fs/cgroup", "-type", "d", "-name", "*" + id + "*").start();
        List<Path> found = new String(find.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .map(Path::of)
                .toList();
        return found.stream()
                .filter(path -> path.toString().matches("/sys/fs/cgroup/([^/]*,)?" + controller + "(,[^/]*)?/.*"))
                .findFirst()
                .orElseGet(found::getFirst);
    }

    private JsonObject json(String path) throws Exception {
        return Json.parseObject(raw(path).getBytes(StandardCharsets.UTF_8));
    }

    private String raw(String path) throws Exception {
        return kubectl.ok("get", "--raw", PROXY + path);
    }
}
