package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Logs, commands and forwarded ports of pods on a real containerd, with the real kubectl. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class NodeApiIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private ConditionLog conditions;
    private PodLog pods;
    private int port;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        conditions = cluster.conditions();
        pods = cluster.pods();
        port = cluster.addNode().apiPort();
        cluster.startAgent("""
                containerLogMaxSize: 100Ki
                containerLogMonitorInterval: 3s
                authentication:
                  x509: {clientCAFile: %s}
                """.formatted(cluster.authority()));
        kubectl.apply(pod("web", container("main", """
                i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i+1)); done
                nc -ll -p 8080 -e cat &
                while read line; do echo got $line; done
                while true; do sleep 1000; done
                """, "    stdin: true\n")));
        kubectl.apply(pod(
                "two",
                container("a", "echo from a; exec sleep 100000", "")
                        + container("b", "echo from b >&2; exec sleep 100000", "")));
        Eventually.within(SOON, () -> pods.isReady("web") && pods.isReady("two"));
    }

    @Test
    void logsAreThoseOfTheContainer() throws Exception {
        Eventually.within(SOON, () -> kubectl.ok("logs", "web").contains("line 99\n"));

        assertThat(kubectl.ok("logs", "web")).startsWith("line 0\nline 1\n").contains("line 98\nline 99\n");
        assertThat(kubectl.ok("logs", "web", "--limit-bytes=9")).isEqualTo("line 0\nli");
        assertThat(kubectl.ok("logs", "web", "--since-time=2100-01-01T00:00:00Z"))
                .isEmpty();
        assertThat(kubectl.ok("logs", "web", "--since=1h", "--tail=100").lines())
                .hasSizeGreaterThanOrEqualTo(99);
        assertThat(kubectl.ok("logs", "two", "-c", "b")).isEqualTo("from b\n");
        assertThat(kubectl.ok("logs", "two", "-c", "a", "--timestamps", "--tail=1"))
                .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{9}(Z|[+-]\\d\\d:\\d\\d) from a\n");
        assertThat(kubectl.ok("logs", "two", "-c", "a", "--tail=0")).isEmpty();
    }

    @Test
    void requestsThatAreWrongAreRefusedInKubernetesWords() throws Exception {
        assertThat(kubectl.run("get", "--raw", "/api/v1/namespaces/default/pods/two/log")
                        .err())
                .contains("a container name must be specified for pod two, choose one of: [a b]");
        assertThat(kubectl.run("logs", "web", "-c", "nothing").err())
                .contains("container nothing is not valid for pod web");
        assertThat(kubectl.run("exec", "web", "-c", "nothing", "--", "true").err())
                .contains("nothing");
        assertThat(kubectl.run("logs", "web", "--previous").err())
                .contains("previous terminated container \"main\" in pod \"web\" not found");
        assertThat(kubectl.run("get", "--raw", "/api/v1/namespaces/default/pods/web/log?tailLines=-1")
                        .err())
                .contains("must be greater than or equal to 0");
        assertThat(kubectl.run("get", "--raw", "/api/v1/namespaces/default/pods/web/exec?command=true")
                        .err())
                .contains("Upgrade request required");
    }

    @Test
    void aContainerThatHasNotStartedHasNoLog() throws Exception {
        kubectl.apply(
                pod("typo", container("main", "true", "")).replace(BusyboxImages.BUSYBOX, "localhost:1/nothing:1"));
        Eventually.within(SOON, () -> pods.waited("typo").contains("ImagePullBackOff"));

        assertThat(kubectl.run("logs", "typo").err())
                .contains("container \"main\" in pod \"typo\" is waiting to start:");
    }

    @Test
    void aFollowedLogEndsWithItsContainer() throws Exception {
        kubectl.apply(
                pod("job", container("main", "for i in 1 2 3 4 5 6; do echo step $i; sleep 0.5; done; exit 1", ""))
                        .replace("  containers:", "  restartPolicy: Never\n  containers:"));
        Eventually.within(
                SOON,
                () -> pods.pod("job")
                        .filter(pod -> !pod.object("status").text("phase").equals("Pending"))
                        .isPresent());

        assertThat(kubectl.ok("logs", "-f", "job")).isEqualTo("step 1\nstep 2\nstep 3\nstep 4\nstep 5\nstep 6\n");
    }

    @Test
    void thePreviousLogIsThatOfTheAttemptBefore() throws Exception {
        kubectl.apply(pod("again", container("main", "echo started; sleep 1; exit 1", "")));

        Eventually.within(
                SOON, () -> kubectl.run("logs", "again", "--previous").out().equals("started\n"));
    }

    @Test
    void aCommandRunsWithItsStreamsAndItsExitCode() throws Exception {
        Kubectl.Result result = kubectl.run("exec", "web", "--", "sh", "-c", "echo to out; echo to err >&2; exit 3");

        assertThat(result.out()).isEqualTo("to out\n");
        assertThat(result.err()).contains("to err\n").contains("command terminated with exit code 3");
        assertThat(result.code()).isEqualTo(3);
    }

    @Test
    void aCommandReadsItsInputToTheEnd() throws Exception {
        Path out = directory.resolve("exec.out");
        Path err = directory.resolve("exec.err");
        Process process = kubectl.start(out, err, "exec", "-i", "web", "--", "cat");
        byte[] sent = "0123456789abcdef".repeat(1 << 18).getBytes(StandardCharsets.US_ASCII);
        try (OutputStream in = process.getOutputStream()) {
            in.write(sent);
        }

        assertThat(process.waitFor(60, TimeUnit.SECONDS))
                .as(Files.readString(err))
                .isTrue();
        assertThat(process.exitValue()).as(Files.readString(err)).isZero();
        assertThat(Files.size(out)).isEqualTo(sent.length);
        assertThat(Files.readAllBytes(out)).isEqualTo(sent);
    }

    /** Starts kubectl with a terminal, whose other side is the process's input and output. */
    private Process inTerminal(String arguments) throws IOException {
        String command = "kubectl --kubeconfig " + cluster.kubeconfig() + " " + arguments;
        return new ProcessBuilder("script", "-qec", command, "/dev/null")
                .redirectErrorStream(true)
                .start();
    }

    @Test
    void aTerminalIsATerminalInTheContainer() throws Exception {
        Process process = inTerminal(
                "exec -it web -- sh -c 'test -t 0 && echo a terminal of $(stty size 2>/dev/null || echo some size)'");

        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(out).contains("a terminal of");
    }

    @Test
    void aDebuggerSeesTheProcessesOfItsTarget() throws Exception {
        Process process = inTerminal("debug -it two -c debugger --target=a --image=" + BusyboxImages.BUSYBOX
                + " -- sh -c 'test -t 0 && read line && echo $line: the first is $(tr \"\\000\" + < /proc/1/cmdline)'");

        // It waits for this line, because a command that prints and ends before kubectl is attached is only in the log.
        process.getOutputStream().write("typed\n".getBytes(StandardCharsets.US_ASCII));
        process.getOutputStream().flush();

        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(out).contains("typed: the first is sleep+100000");
        Eventually.within(
                SOON,
                () -> pods.status("two")
                        .array("ephemeralContainerStatuses")
                        .objects()
                        .anyMatch(one -> one.text("name").equals("debugger")
                                && one.object("state")
                                                .object("terminated")
                                                .number("exitCode")
                                                .orElse(-1L)
                                        == 0));
        assertThat(pods.isReady("two")).isTrue();
        assertThat(kubectl.ok("logs", "two", "-c", "debugger")).contains("typed: the first is");
    }

    @Test
    void aDebuggerOfTheNodeSeesItsProcessesAndFiles() throws Exception {
        Files.writeString(directory.resolve("mark"), "of the node");
        String out = kubectl.ok(
                "debug",
                "node/" + NODE,
                "--image=" + BusyboxImages.BUSYBOX,
                "--",
                "sh",
                "-c",
                "echo $(cat /proc/1/comm) $(cat /host" + directory.resolve("mark") + ")");
        Matcher name = Pattern.compile("node-debugger-" + NODE + "-\\w+").matcher(out);
        assertThat(name.find()).as(out).isTrue();

        String first = Files.readString(Path.of("/proc/1/comm")).strip();
        Eventually.within(SOON, () -> kubectl.run("logs", name.group()).out().equals(first + " of the node\n"));
        kubectl.ok("delete", "pod", name.group(), "--timeout=60s");
    }

    @Test
    void anEndIsExplainedByWhatTheContainerWrote() throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: Service
                metadata: {name: shop-front}
                spec: {clusterIP: 10.96.0.50, ports: [{port: 80}]}
                """);
        kubectl.apply(pod("ended", container("main", "echo at $SHOP_FRONT_PORT > /dev/termination-log; exit 4", ""))
                .replace("  containers:", "  restartPolicy: Never\n  containers:"));

        Eventually.within(SOON, () -> pods.container("ended").object("state").has("terminated"));
        assertThat(pods.container("ended").object("state").object("terminated").text("message"))
                .isEqualTo("at tcp://10.96.0.50:80\n");
        kubectl.ok("delete", "pod", "ended");
    }

    @Test
    void aLogThatGrowsIsRotatedAndLinked() throws Exception {
        kubectl.apply(pod(
                "chatty",
                container("main", "while true; do head -c 60000 /dev/zero | tr '\\\\0' x; echo; sleep 1; done", "")));
        cluster.awaitReady(SOON, "chatty");
        String uid = pods.uid("chatty");
        String id = pods.container("chatty").text("containerID").replace("containerd://", "");
        Path podLogs = cluster.logs().resolve("default_chatty_" + uid);
        Path log = podLogs.resolve("main/0.log");
        Path link = directory.resolve("containers/chatty_default_main-" + id + ".log");

        Eventually.within(
                SOON,
                () -> Leftovers.children(podLogs.resolve("main")).stream()
                        .anyMatch(file -> file.toString().endsWith(".gz")));

        Eventually.within(SOON, () -> kubectl.ok("logs", "chatty", "--tail=1").startsWith("xxx"));
        assertThat(Files.readSymbolicLink(link)).isEqualTo(log);
        kubectl.ok("delete", "pod", "chatty", "--timeout=60s");
        assertThat(Files.isSymbolicLink(link)).isFalse();
        assertThat(podLogs).doesNotExist();
    }

    @Test
    void muchOutputArrivesWhole() throws Exception {
        long start = System.nanoTime();
        // More than all buffers on the way hold.
        int megabytes = 30;
        String out = kubectl.ok(
                "exec", "web", "--", "sh", "-c", "dd if=/dev/zero bs=1048576 count=" + megabytes + " 2>/dev/null");

        assertThat(out.length()).isEqualTo(megabytes << 20);
        System.out.println("exec: " + megabytes + " MB in " + (System.nanoTime() - start) / 1_000_000 + " ms");
    }

    /** kubectl sends a ping each 5 s, also when the command has ended and its output is still on the way. */
    @Test
    void slowReadersOfOutputGetAllOfItAlsoOfMoreThanTheBuffersHold() throws Exception {
        try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            // About 1 MB/s: the command ends more than 5 s before its last output is read.
            Future<Long> some = readers.submit(() -> readSlowly(1_500_000, 0, 60, Duration.ofMinutes(2)));
            // With more than the buffers on the way hold, the runtime's own still has some when it closes its
            // connection. All fill; then half a megabyte a second, so that a ping comes while the runtime's last output
            // is on its way.
            Future<Long> more = readers.submit(() -> readSlowly(3_200_000, 8_000, 120, Duration.ofSeconds(32)));

            assertThat(some.get()).isEqualTo(10_888_896);
            assertThat(more.get()).isEqualTo(24_488_896);
        }
    }

    /** Has the numbers up to {@code last} written; begins to read later, and pauses after each part for the time {@code slow}. */
    private long readSlowly(int last, int firstMillis, int pauseMillis, Duration slow) throws Exception {
        Process process = kubectl.startPiped(
                directory.resolve("slow-" + last + ".err"), "exec", "web", "--", "sh", "-c", "seq 1 " + last);
        long read = 0;
        Thread.sleep(firstMillis);
        long fast = System.nanoTime() + slow.toNanos();
        try (InputStream in = process.getInputStream()) {
            byte[] part = new byte[64 << 10];
            for (int size = in.read(part); size >= 0; size = in.read(part)) {
                read += size;
                if (System.nanoTime() < fast) {
                    Thread.sleep(pauseMillis);
                }
            }
        }

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        return read;
    }

    @Test
    void filesAreCopiedToAContainerAndBack() throws Exception {
        Path there = Files.writeString(directory.resolve("there"), "some text\n".repeat(10_000));
        Path back = directory.resolve("back");

        kubectl.ok("cp", there.toString(), "web:/tmp/copy");
        kubectl.ok("cp", "web:/tmp/copy", back.toString());

        assertThat(back).hasSameBinaryContentAs(there);
    }

    @Test
    void attachedInputReachesTheContainer() throws Exception {
        Path out = directory.resolve("attach.out");
        Process process = kubectl.start(out, directory.resolve("attach.err"), "attach", "-i", "web");
        try (OutputStream in = process.getOutputStream()) {
            Eventually.within(SOON, () -> {
                in.write("hello\n".getBytes(StandardCharsets.US_ASCII));
                in.flush();
                return Files.readString(out).contains("got hello");
            });
        } finally {
            process.destroyForcibly();
        }
        Eventually.within(SOON, () -> kubectl.ok("logs", "web").contains("got hello"));
    }

    @Test
    void aPortIsForwarded() throws Exception {
        Path out = directory.resolve("forward.out");
        Process process = kubectl.start(out, directory.resolve("forward.err"), "port-forward", "pod/web", ":8080");
        try {
            Pattern line = Pattern.compile("Forwarding from 127\\.0\\.0\\.1:(\\d+)");
            Eventually.within(SOON, () -> line.matcher(Files.readString(out)).find());
            Matcher found = line.matcher(Files.readString(out));
            assertThat(found.find()).isTrue();
            for (int i = 0; i < 5; i++) {
                try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(found.group(1)))) {
                    socket.setSoTimeout(10_000);
                    socket.getOutputStream().write("ping\n".getBytes(StandardCharsets.US_ASCII));
                    InputStream in = socket.getInputStream();
                    assertThat(new String(in.readNBytes(5), StandardCharsets.US_ASCII))
                            .isEqualTo("ping\n");
                }
            }
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void nobodyWithoutRightsGetsAnything() throws Exception {
        String token = kubectl.ok("create", "token", "default").strip();

        assertThat(get("/pods", "").statusCode()).isEqualTo(401);
        assertThat(get("/pods", "").body()).isEqualTo("Unauthorized\n");
        assertThat(get("/pods", "nonsense").statusCode()).isEqualTo(401);
        assertThat(get("/pods", token).statusCode()).isEqualTo(403);
        assertThat(get("/pods", token).body())
                .isEqualTo("Forbidden (user=system:serviceaccount:default:default, verb=get, resource=nodes,"
                        + " subresource(s)=[proxy])\n");
        assertThat(kubectl.run("logs", "web", "--as=bob").err())
                .contains("pods \"web\" is forbidden: User \"bob\" cannot get resource \"pods\"");
        assertThat(kubectl.run("exec", "web", "--as=bob", "--", "true").err()).contains("forbidden");
    }

    @Test
    void whoMayReadTheNodeGetsItsPages() throws Exception {
        kubectl.ok("create", "serviceaccount", "reader");
        kubectl.ok(
                "create",
                "clusterrolebinding",
                "reader",
                "--clusterrole=system:kubelet-api-admin",
                "--serviceaccount=default:reader");
        String token = kubectl.ok("create", "token", "reader").strip();

        assertThat(get("/healthz", token).body()).startsWith("ok");
        assertThat(get("/metrics", token).body()).contains("kubelet_running_pods");
        assertThat(get("/metrics/resource", token).body()).contains("node_memory_working_set_bytes");
        assertThat(get("/stats/summary", token).body()).contains("\"nodeName\"");
        assertThat(Json.parseObject(get("/pods", token).body().getBytes(StandardCharsets.UTF_8))
                        .array("items")
                        .objects()
                        .map(pod -> pod.object("metadata").text("name")))
                .contains("web", "two");
        assertThat(kubectl.ok("get", "node", NODE, "-o", "jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}"))
                .isEqualTo(Integer.toString(port));
        assertThat(conditions.is(NODE, Condition.READY, Condition.TRUE)).isTrue();
    }

    @Test
    void clientsWithoutCredentialsShutNobodyOut() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 600; i++) {
                silent.add(new Socket("127.0.0.1", port));
            }

            assertThat(kubectl.ok("logs", "two", "-c", "a")).isEqualTo("from a\n");
            assertThat(kubectl.ok("exec", "two", "-c", "a", "--", "sh", "-c", "echo here"))
                    .isEqualTo("here\n");
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    private HttpResponse<String> get(String path, String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + path))
                .timeout(SOON);
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        try (HttpClient client = HttpClient.newBuilder().sslContext(trustful()).build()) {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        }
    }

    /** The agent's certificate is its own. */
    private static SSLContext trustful() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Trustful()}, new SecureRandom());
        return context;
    }

    private static final class Trustful extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    private static String pod(String name, String containers) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 1
                  containers:
                """.formatted(name, NODE) + containers;
    }

    private static String container(String name, String script, String more) {
        return "  - name: " + name + "\n    image: " + BusyboxImages.BUSYBOX + "\n    command: [\"/bin/sh\", \"-c\", "
                + "\""
                + script.replace("\n", "; ")
                        .replace("do;", "do")
                        .replace("&;", "&")
                        .replace("; ; ", "; ")
                + "\"]\n" + more;
    }
}
