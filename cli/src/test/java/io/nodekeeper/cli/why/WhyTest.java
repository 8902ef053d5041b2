package io.nodekeeper.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.pages.DebugServer;
import io.nodekeeper.cli.pages.PagesServer;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.controller.ControllerView;
import io.nodekeeper.controller.debug.DebugPages;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.Evidence;
import io.nodekeeper.controller.history.FileHistory;
import io.nodekeeper.controller.history.MemoryHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code nodekeeper why}: one readable chain, from the controller, its files or the API. */
@Tag("W20")
class WhyTest {
    private static final Instant B = Instant.parse("2015-01-01T12:00:00Z");
    private static final Instant NOW = B.plusSeconds(300);
    private static final Decision UNKNOWN = new Decision(
            B.plusSeconds(50).plusMillis(3),
            "n1",
            "uid-1",
            "Unknown",
            "Node n1 was silent for longer than its grace.",
            new Evidence()
                    .signal("lease")
                    .sentAt("2015-01-01T12:00:00.000000Z")
                    .arrivedAt(B.plusMillis(12))
                    .lag("api_to_controller", Duration.ofMillis(12))
                    .deadline(B.plusSeconds(50), Duration.ofMillis(3))
                    .sight("yes, the canary was 400ms old")
                    .write("PUT /api/v1/nodes/n1/status", "200", Duration.ofMillis(7))
                    .json());
    private static final Decision RETURNED =
            new Decision(B.plusSeconds(90), "n1", "uid-1", "Returned", "Heard of again.", JsonObject.EMPTY);

    @TempDir
    Path directory;

    private final ThreadLoop loop = new ThreadLoop("controller");
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CommandRunner runner = new CommandRunner(
            List.of(new WhyCommand(command -> WhyProcess.run(
                    command, new VirtualTime(NOW).loop("why").clock(), new PrintWriter(out), new PrintWriter(err)))),
            new PrintWriter(out),
            new PrintWriter(err));

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void chainIsToldInItsOrder() {
        Story story = new Story(
                "n1", "the controller", List.of(), JsonObject.EMPTY.with("ready", "True"), List.of(UNKNOWN, RETURNED));

        assertThat(WhyReport.of(story, NOW, Optional.of(B.plusSeconds(60)))).isEqualTo("""
                Node n1 is Ready; last trouble at 12:01:30 UTC (3m30s ago): Heard of again.
                Next: kubectl describe node n1

                As of 2015-01-01 12:05:00.000 UTC, from the controller.

                Now:
                  Ready  True

                What happened, newest last:

                  2015-01-01 12:00:50.003 (4m9s ago)  Unknown
                    Node n1 was silent for longer than its grace.
                      last heard                lease
                      sent, by its clock        2015-01-01 12:00:00.000 (5m0s ago)
                      arrived here              2015-01-01 12:00:00.012 (4m59s ago)
                      time of each hop          api to controller 12ms
                      deadline                  2015-01-01 12:00:50.000 (4m10s ago)
                      decided after it by       3ms
                      could the controller see  yes, the canary was 400ms old
                      wrote                     PUT /api/v1/nodes/n1/status -> 200, took 7ms

                --- 2015-01-01 12:01:00.000 (4m0s ago) is the requested time ---

                  2015-01-01 12:01:30.000 (3m30s ago)  Returned
                    Heard of again.
                """);
    }

    @Test
    void presentBlindnessStandsAboveWhatHappened() {
        JsonObject now = JsonObject.EMPTY
                .with("ready", "True")
                .with("lastSignalAt", "2015-01-01T12:04:18Z")
                .with(
                        "controllerIsBlind",
                        "nothing seen for 42s: the API server does not answer (API server); no node gets a verdict,"
                                + " and the nodes' clock stands still");

        assertThat(WhyReport.of(
                        new Story("n1", "the controller", List.of(), now, List.of(RETURNED)), NOW, Optional.empty()))
                .startsWith("""
                        Node n1 was Ready when it was last seen 12:04:18 UTC (42s ago), and the controller is blind: nothing seen for 42s: the API server does not answer (API server); no node gets a verdict, and the nodes' clock stands still.
                        Next: nodekeeper status

                        As of 2015-01-01 12:05:00.000 UTC, from the controller.

                        Now:
                          Ready                    True
                          last heartbeat at        2015-01-01 12:04:18.000 (42s ago)
                          the controller is blind  nothing seen for 42s: the API server does not answer (API server); no node gets a verdict, and the nodes' clock stands still

                        What happened, newest last:
                        """);
    }

    @Test
    void filesOfADeadControllerAnswer() {
        FileHistory history = new FileHistory(directory, 1 << 20, loop, new ControllerMetrics());
        CompletableFuture.runAsync(() -> List.of(UNKNOWN, RETURNED).forEach(history::add), loop)
                .join();
        history.close();

        assertThat(runner.run("why", "n1", "--history-dir=" + directory, "-o", "json"))
                .isZero();

        JsonObject json = Json.parseObject(out.toString());
        assertThat(json.text("source")).isEqualTo("the history in " + directory);
        assertThat(json.array("decisions").objects().map(decision -> decision.text("kind")))
                .containsExactly("Unknown", "Returned");
    }

    @Test
    void reportOfANodeIsInJsonWithItsReason() {
        JsonObject details = JsonObject.EMPTY
                .with("was", "True")
                .with("ready", "False")
                .with("reason", "KubeletNotReady")
                .with("message", "container runtime is down");
        Decision changed = new Decision(
                B.plusMillis(20), "n1", "uid-1", "ReadyChanged", "Ready changed from True to False", details);
        FileHistory history = new FileHistory(directory, 1 << 20, loop, new ControllerMetrics());
        CompletableFuture.runAsync(() -> history.add(changed), loop).join();
        history.close();

        assertThat(runner.run("why", "n1", "--history-dir=" + directory, "-o", "json"))
                .isZero();

        assertThat(Json.parseObject(out.toString()).array("decisions").objects())
                .singleElement()
                .hasToString("{\"at\":\"2015-01-01T12:00:00.020000Z\",\"node\":\"n1\",\"uid\":\"uid-1\","
                        + "\"kind\":\"ReadyChanged\",\"text\":\"Ready changed from True to False\",\"details\":"
                        + "{\"was\":\"True\",\"ready\":\"False\",\"reason\":\"KubeletNotReady\","
                        + "\"message\":\"container runtime is down\"}}");
    }

    @Test
    void controllerAnswersOverHttp() throws IOException {
        MemoryHistory history = new MemoryHistory();
        history.add(UNKNOWN);
        history.add(RETURNED);
        ThreadLoop timer = new ThreadLoop("timer");
        DebugServer server = DebugServer.start(
                "controller",
                "--controller-bind-address",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                false,
                new DebugPages(new View(), history, new ControllerMetrics(), loop, timer),
                Optional.empty());
        try {
            int code = runner.run("why", "n1", "--server=" + server.url(), "--at=4m5s", "--limit=1");

            assertThat(err.toString()).isEmpty();
            assertThat(code).isZero();
            assertThat(out.toString())
                    .contains("from the controller at " + server.url())
                    .contains("  2015-01-01 12:00:50.003 (4m9s ago)  Unknown\n")
                    .contains("(4m5s ago) is the requested time ---\n")
                    .doesNotContain("Returned");

            assertThat(runner.run("why", "other", "--server=" + server.url())).isEqualTo(1);
            assertThat(err.toString())
                    .isEqualTo("error: nothing is known of node \"other\" to the controller at " + server.url() + "\n");
        } finally {
            server.stop();
            timer.close();
        }
    }

    @Test
    void historyThatTheControllerCouldNotReadToItsEndIsCalledIncomplete() throws IOException {
        JsonObject page = JsonObject.EMPTY.with("name", "n1").with("completeSince", "2015-01-01T12:00:00.000000Z");
        try (PagesServer controller = api((path, query) -> CompletableFuture.completedFuture(
                Page.json(path.endsWith("/n1") ? page.with("decisions", JsonArray.of(UNKNOWN.json())) : page)))) {
            String server = "--server=http://127.0.0.1:" + controller.address().getPort();

            assertThat(runner.run("why", "n1", server)).isZero();
            assertThat(runner.run("why", "other", server)).isEqualTo(1);
        }

        String note = "Decisions before 2015-01-01 12:00:00.000 UTC are missing: the history could not be read further"
                + " back in the time of a request. \"nodekeeper why NODE --history-dir DIR\" reads all of it.\n";
        assertThat(out.toString()).contains(".\n" + note).contains("(4m9s ago)  Unknown\n");
        assertThat(err.toString())
                .startsWith("error: nothing is known of node \"other\" to ")
                .endsWith("\n" + note);
    }

    @Test
    void textsOfNodesCannotAddLinesOrControlTheTerminal() {
        JsonObject facts = JsonObject.EMPTY.with("ready", "False").with("cause", "Down: a\nNext: rm -rf \u001b[2J");
        Decision event =
                new Decision(B, "n1", "uid-1", "Event Down", "a\n  2015-01-01 Returned\u202e", JsonObject.EMPTY);

        assertThat(WhyReport.of(
                        new Story("n1", "the API", List.of("b\nc"), facts, List.of(event)), NOW, Optional.empty()))
                .startsWith("Node n1 is NotReady: a Next: rm -rf U+001B[2J.\nNext: nodekeeper doctor, on the node\n")
                .contains("\nb c\n", "\n    a   2015-01-01 ReturnedU+202E\n");
    }

    @Test
    void notesAboutANodeThatIsNotKnownCannotControlTheTerminal() throws IOException {
        JsonObject page = JsonObject.EMPTY.with("notWorking", "\u001b[2Janother one leads\nerror: none");
        try (PagesServer controller = api((path, query) -> CompletableFuture.completedFuture(Page.json(page)))) {
            String url = "http://127.0.0.1:" + controller.address().getPort();

            assertThat(runner.run("why", "n1", "--server=" + url)).isEqualTo(1);

            assertThat(err.toString())
                    .isEqualTo("error: nothing is known of node \"n1\" to the controller at " + url + "\n"
                            + "It does not work now: U+001B[2Janother one leads error: none.\n");
        }
    }

    @Test
    void controllerThatCannotBeReachedIsNamed() {
        assertThat(runner.run("why", "n1", "--server=http://127.0.0.1:1")).isEqualTo(1);

        assertThat(err.toString()).startsWith("error: the controller at http://127.0.0.1:1 cannot be reached: ");
    }

    @Test
    void apiServerThatIsAwaySaysWhoElseCanBeAsked() throws IOException {
        Path kubeconfig = kubeconfig("http://127.0.0.1:1");

        assertThat(runner.run("why", "n1", "--kubeconfig=" + kubeconfig)).isEqualTo(1);

        assertThat(err.toString())
                .startsWith("error: the API server http://127.0.0.1:1 as anonymous does not answer: ")
                .contains("--server URL")
                .contains("--history-dir DIR");
    }

    @Test
    void kubeconfigsPluginIsAskedForTheClustersAddressesAndItsReasonIsShown() throws IOException {
        String cluster = "http://127.0.0.1:1/clusters/c1";
        Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: "%s"}}]
                users:
                - name: u
                  user:
                    exec:
                      apiVersion: client.authentication.k8s.io/v1
                      command: sh
                      args: ["-c", "echo you are logged out >&2; exit 1"]
                      interactiveMode: Never
                """.formatted(cluster));
        String reason = "the credential plugin \"sh\" exited with 1: you are logged out";

        assertThat(runner.run("why", "n1", "--kubeconfig=" + kubeconfig)).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("error: " + reason + "\n");

        err.getBuffer().setLength(0);
        String proxy = cluster + "/api/v1/namespaces/kube-system/services/https:nodekeeper-controller:10257/proxy";
        assertThat(runner.run("why", "n1", "--kubeconfig=" + kubeconfig, "--server=" + proxy))
                .isEqualTo(1);
        assertThat(err.toString()).contains(reason);

        err.getBuffer().setLength(0);
        assertThat(runner.run("why", "n1", "--kubeconfig=" + kubeconfig, "--server=http://127.0.0.1:1/clusters/c2"))
                .isEqualTo(1);
        assertThat(err.toString()).contains(" cannot be reached: ").doesNotContain("plugin");
    }

    @Test
    void proxyThatIsRefusedSaysWhichRightIsMissing() throws IOException {
        for (var refusal : Map.of(
                        "services \"nodekeeper-controller\" is forbidden: User \"u\" cannot get services/proxy",
                        "needs a Role with the verb get for services/proxy",
                        "expected a bearer token or a client certificate",
                        "the pages see system:anonymous: apply deploy/pages/through-proxy.yaml")
                .entrySet()) {
            JsonObject status = JsonObject.EMPTY.with("kind", "Status").with("message", refusal.getKey());
            Page refused = new Page(403, "application/json", Json.writeBytes(status));
            try (PagesServer api = api((path, query) ->
                    CompletableFuture.completedFuture(path.contains("/proxy/") ? refused : notFound()))) {
                Path kubeconfig = kubeconfig("http://127.0.0.1:" + api.address().getPort());

                assertThat(runner.run("why", "--kubeconfig=" + kubeconfig)).isEqualTo(1);

                assertThat(err.toString()).contains(refusal.getKey()).contains(refusal.getValue());
            }
        }
    }

    @Test
    void credentialsAreForAServerWithTls() throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "t");

        assertThat(runner.run("why", "n1", "--server=http://127.0.0.1:10257", "--token=t", "--token-file=" + token))
                .isEqualTo(2);
        assertThat(err.toString())
                .contains("credentials are not sent over plain HTTP; expected https in --server")
                .contains("--token and --token-file exclude each other");

        assertThat(runner.run("why", "n1", "--token-file=" + token, "--client-key=" + directory.resolve("none")))
                .isEqualTo(2);
        assertThat(err.toString())
                .contains("credentials such as --token-file are for --server, which is missing")
                .contains("--client-certificate and --client-key must be given together")
                .contains("--client-key is " + directory.resolve("none") + ", which is not a readable file");
    }

    @Test
    void controllerIsAskedThroughTheProxyOfTheApiServerUntilItsLeaderAnswers() throws IOException {
        // given an API server that knows no address, and a Service whose first answer comes from a standby
        List<String> paths = new CopyOnWriteArrayList<>();
        String proxy = "/api/v1/namespaces/monitoring/services/https:nodekeeper:pages/proxy/debug/nodes/n1";
        try (PagesServer api = api((path, query) -> {
            paths.add(path);
            if (!path.startsWith("/api/v1/namespaces/")) {
                return CompletableFuture.completedFuture(notFound());
            }
            boolean first = paths.stream().filter(path::equals).count() == 1;
            JsonObject node = first
                    ? JsonObject.EMPTY.with("notWorking", "another one leads")
                    : JsonObject.EMPTY.with("ready", "True").with("silentFor", "2s");
            return CompletableFuture.completedFuture(Page.json(JsonObject.EMPTY.with("node", node)));
        })) {
            Path kubeconfig = kubeconfig("http://127.0.0.1:" + api.address().getPort());

            int code = runner.run(
                    "why",
                    "node/n1",
                    "--kubeconfig=" + kubeconfig,
                    "--controller-namespace=monitoring",
                    "--controller-service=https:nodekeeper:pages");

            assertThat(err.toString()).doesNotContain("error");
            assertThat(code).isZero();
            assertThat(out.toString())
                    .startsWith("Node n1 is Ready, last heartbeat 2s ago.\n")
                    .contains("the controller behind the service monitoring/nodekeeper:pages.\n")
                    .contains("\nEvents are missing: not found.\n");
            assertThat(paths.stream().filter(proxy::equals)).hasSize(2);
        }
    }

    @Test
    void standbyThatAnsweredIsNamedAlsoIfTheApiCannotBeRead() throws IOException {
        // given an API that refuses everything else, and a Service whose only controller does not lead
        JsonObject page = JsonObject.EMPTY
                .with("node", JsonObject.EMPTY.with("notWorking", "another one leads"))
                .with("decisions", JsonArray.of(UNKNOWN.json()));
        JsonObject unknown = JsonObject.EMPTY.with("node", JsonObject.EMPTY.with("notWorking", "another one leads"));
        try (PagesServer api = api((path, query) -> CompletableFuture.completedFuture(
                path.endsWith("/debug/nodes/n1")
                        ? Page.json(page)
                        : path.endsWith("/debug/nodes/n2") ? Page.json(unknown) : refusal(403, "no right")))) {
            Path kubeconfig = kubeconfig("http://127.0.0.1:" + api.address().getPort());

            // when it is asked for a node that it remembers
            assertThat(runner.run("why", "n1", "--kubeconfig=" + kubeconfig)).isZero();

            // then both notes are shown
            assertThat(out.toString())
                    .contains("It does not work now: another one leads.\n"
                            + "Cordons and events are missing: no right.\n");

            // and for a node that does not exist
            assertThat(runner.run("why", "n2", "--kubeconfig=" + kubeconfig)).isEqualTo(1);
            assertThat(err.toString())
                    .endsWith("error: the API cannot be read: no right\n"
                            + "The controller was asked in vain: the controller behind the service"
                            + " kube-system/nodekeeper-controller:10257 knows nothing of the node.\n"
                            + "It does not work now: another one leads.\n");
        }
    }

    @Test
    void withoutAControllerTheApiAnswersAndANodeThatDoesNotExistGetsAHint() throws IOException {
        try (PagesServer api = api((path, query) -> CompletableFuture.completedFuture(
                path.equals("/api/v1/nodes")
                        ? Page.json(Json.parseObject("{\"items\":[{\"metadata\":{\"name\":\"worker-17\"}}]}"))
                        : path.equals("/api/v1/events")
                                ? Page.json(JsonObject.EMPTY.with("items", JsonArray.EMPTY))
                                : notFound()))) {
            Path kubeconfig = kubeconfig("http://127.0.0.1:" + api.address().getPort());

            assertThat(runner.run("why", "worker-71", "--kubeconfig=" + kubeconfig))
                    .isEqualTo(1);

            assertThat(err.toString())
                    .contains("nothing is known of node \"worker-71\"")
                    .contains("kube-system/nodekeeper-controller:10257 answers 404: not found")
                    .contains("did you mean worker-17?");
        }
    }

    @Test
    void withoutANameTheWorstNodesAreExplainedInOneSentenceEach() throws IOException {
        ThreadLoop timer = new ThreadLoop("timer");
        try (PagesServer controller =
                api(new DebugPages(new View(), new MemoryHistory(), new ControllerMetrics(), loop, timer))) {
            int code = runner.run(
                    "why", "--server=http://127.0.0.1:" + controller.address().getPort());

            assertThat(err.toString()).isEmpty();
            assertThat(code).isZero();
            assertThat(out.toString()).startsWith("Node n1 is Ready").contains("\nNext: ");
        } finally {
            timer.close();
        }
    }

    private static PagesServer api(Pages pages) throws IOException {
        return PagesServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), pages);
    }

    private static Page notFound() {
        return refusal(404, "not found");
    }

    private static Page refusal(int status, String message) {
        return new Page(
                status,
                "application/json",
                Json.writeBytes(JsonObject.EMPTY.with("kind", "Status").with("message", message)));
    }

    private Path kubeconfig(String server) throws IOException {
        return Files.writeString(directory.resolve("kubeconfig"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c}}]
                clusters: [{name: c, cluster: {server: "%s"}}]
                """.formatted(server));
    }

    @Test
    void blindnessAndCordonsAreInTheNodesStory() {
        Decision blind =
                new Decision(B.plusSeconds(20), "", "", "ObserverBlind", "nothing seen for 10s", JsonObject.EMPTY);
        Decision longAgo = new Decision(B.minusSeconds(9_000), "", "", "ObserverBlind", "old", JsonObject.EMPTY);
        Node node = new Node(Json.parseObject("""
                {"metadata":{"name":"n1","uid":"uid-1","managedFields":[
                   {"manager":"kubectl","time":"2015-01-01T12:02:00Z","fieldsV1":{"f:spec":{"f:unschedulable":{}}}}]},
                 "spec":{"unschedulable":true},
                 "status":{"conditions":[{"type":"Ready","status":"True"}]}}"""));
        JsonObject facts = JsonObject.EMPTY.with("ready", "True").with("silentFor", "2s");

        Story story = new Story("n1", "the controller", List.of(), facts, List.of(UNKNOWN, RETURNED))
                .withController(List.of(longAgo, blind))
                .withApi(
                        ApiStory.of("n1", List.of(), node, Optional.of(new Lease(JsonObject.EMPTY)), JsonObject.EMPTY));

        assertThat(story.decisions().stream().map(Decision::kind))
                .containsExactly("ObserverBlind", "Unknown", "Returned", "Cordoned");
        assertThat(Headline.of(story, NOW))
                .isEqualTo("Node n1 is Ready, and cordoned by kubectl: no new pods, since 12:02:00 UTC (3m0s ago).\n"
                        + "Next: kubectl uncordon n1");
    }

    @Test
    void loadExplainsANodeThatIsNotReadyWhileNothingHangs() {
        Node node = new Node(Json.parseObject("""
                {"metadata":{"name":"n1","uid":"uid-1"},"status":{"conditions":[
                  {"type":"Ready","status":"False","reason":"KubeletNotReady","message":"container runtime is down"},
                  {"type":"RuntimeDegraded","status":"False","reason":"NodeOverloaded",
                   "message":"no process was found to hang; the node has more work than processors"}]}}"""));

        Story story = ApiStory.of("n1", List.of(), node, Optional.of(new Lease(JsonObject.EMPTY)), JsonObject.EMPTY);

        assertThat(Headline.of(story, NOW))
                .startsWith(
                        "Node n1 is NotReady: no process was found to hang; the node has more work than processors");
        assertThat(WhyReport.of(story, NOW, Optional.empty()))
                .contains("KubeletNotReady: container runtime is down")
                .containsPattern("load +RuntimeDegraded: no process was found to hang; the node has more work");
    }

    @Test
    void refusalOfTheGuardIsTheLastTroubleOfANodeThatItProtected() {
        Decision refused = new Decision(
                B.plusSeconds(20),
                "n1",
                "uid-1",
                "GuardRefused",
                "Refused: node-controller changes Ready from True to Unknown, but node n1 renewed its lease 4s ago",
                JsonObject.EMPTY.with("silence", "4s"));
        JsonObject facts = JsonObject.EMPTY.with("ready", "True").with("silentFor", "2s");

        Story story = new Story("n1", "the controller", List.of(), facts, List.of(UNKNOWN, RETURNED, refused));

        assertThat(Headline.of(story, NOW))
                .startsWith("Node n1 is Ready, last heartbeat 2s ago; last trouble at ")
                .contains(
                        ": Refused: node-controller changes Ready from True to Unknown, but node n1 renewed its lease 4s"
                                + " ago.\n");
        assertThat(WhyReport.of(story, NOW, Optional.empty())).contains("GuardRefused", "silent for  4s");
    }

    @Test
    void apiAloneTellsWhatWasDone() {
        Node node = new Node(Json.parseObject("""
                {"metadata":{"name":"n1","uid":"uid-1"},
                 "spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute",
                                    "timeAdded":"2015-01-01T12:00:51Z"}]},
                 "status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown",
                   "message":"Kubelet stopped posting node status.","lastHeartbeatTime":"2015-01-01T11:59:50Z",
                   "lastTransitionTime":"2015-01-01T12:00:50Z"}]}}"""));
        Lease lease = new Lease(Json.parseObject("{\"spec\":{\"renewTime\":\"2015-01-01T12:00:00.000000Z\"}}"));
        JsonObject events = Json.parseObject("""
                {"items":[{"reason":"NodeNotReady","message":"Node n1 status is now: NodeNotReady",
                  "source":{"component":"node-controller"},"lastTimestamp":"2015-01-01T12:00:50Z","count":2}]}""");

        Story story = ApiStory.of("n1", List.of("The controller was not asked."), node, Optional.of(lease), events);

        assertThat(WhyReport.of(story, NOW, Optional.empty()))
                .startsWith("Node n1 is Unknown since 12:00:50 UTC (4m10s ago), because Kubelet stopped posting node"
                        + " status.\nNext: ")
                .contains(", from the API.\nThe controller was not asked.\n")
                .contains("  lease renewed, by its clock  2015-01-01 12:00:00.000 (5m0s ago)\n")
                .contains("  taints                       node.kubernetes.io/unreachable:NoExecute\n")
                .containsSubsequence(
                        "2015-01-01 12:00:50.000 (4m10s ago)  Ready=Unknown\n"
                                + "    NodeStatusUnknown: Kubelet stopped posting node status.\n",
                        "2015-01-01 12:00:50.000 (4m10s ago)  Event NodeNotReady\n"
                                + "    Node n1 status is now: NodeNotReady (node-controller, 2 times)\n",
                        "2015-01-01 12:00:51.000 (4m9s ago)  Tainted\n"
                                + "    node.kubernetes.io/unreachable:NoExecute\n");
    }

    /** Nodes write any time that the API accepts, from the year 1 to 9999. */
    @Test
    void timesOfFarYearsAreShownWithTheirDistance() {
        Node node = new Node(Json.parseObject("""
                {"metadata":{"name":"n1","uid":"uid-1"},
                 "status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"R","message":"m",
                   "lastTransitionTime":"9999-12-31T23:59:59Z"}]}}"""));
        Lease lease = new Lease(Json.parseObject("{\"spec\":{\"renewTime\":\"9999-12-31T23:59:59.000000Z\"}}"));
        JsonObject events = Json.parseObject(
                "{\"items\":[{\"reason\":\"Old\",\"message\":\"m\",\"lastTimestamp\":\"0001-01-01T00:00:00Z\"}]}");

        Story story = ApiStory.of("n1", List.of(), node, Optional.of(lease), events);

        assertThat(WhyReport.of(story, NOW, Optional.empty()))
                .startsWith("Node n1 is Unknown since 9999-12-31 23:59:59 UTC (in 69995051h54m59s), because m.\n")
                .contains("  lease renewed, by its clock  9999-12-31 23:59:59.000 (in 69995051h54m59s)\n")
                .contains("\n  0001-01-01 00:00:00.000 (17654364h5m0s ago)  Event Old\n");
    }

    @Test
    void wrongQuestionsAreRefusedWithWhatIsExpected() {
        assertThat(runner.run("why", "--at=yesterday", "--server=ftp://x", "--history-dir=/none", "--limit=0"))
                .isEqualTo(2);

        assertThat(err.toString())
                .contains("the node is missing; expected its name: nodekeeper why NODE --history-dir DIR")
                .contains("--at is \"yesterday\"; expected a time like 2026-11-21T09:07:17Z, or how long ago, like 5m")
                .contains("--server and --history-dir exclude each other")
                .contains("--server is ftp://x; expected a URL like http://127.0.0.1:10257")
                .contains("--history-dir is /none, which is not a directory")
                .contains("--limit is 0; expected 1 to 1000");
    }

    @Test
    void passwordInAnAddressIsRefusedAndNotShown() {
        assertThat(runner.run("why", "n1", "--server=https://user:secret@host")).isEqualTo(2);

        assertThat(err.toString())
                .contains("--server is a URL with a user or a password; expected a URL like http://127.0.0.1:10257")
                .doesNotContain("secret");
    }

    private final class View implements ControllerView {
        @Override
        public CompletableFuture<Optional<JsonObject>> node(String name) {
            return CompletableFuture.supplyAsync(
                    () -> name.equals("n1") ? Optional.of(JsonObject.EMPTY.with("ready", "True")) : Optional.empty(),
                    loop);
        }

        @Override
        public CompletableFuture<JsonObject> nodes() {
            return CompletableFuture.completedFuture(JsonObject.EMPTY);
        }

        @Override
        public CompletableFuture<JsonObject> status() {
            return CompletableFuture.supplyAsync(
                    () -> JsonObject.EMPTY.with("unwell", JsonArray.of(JsonObject.EMPTY.with("name", "n1"))), loop);
        }

        @Override
        public CompletableFuture<JsonObject> fleet() {
            return CompletableFuture.completedFuture(JsonObject.EMPTY);
        }

        @Override
        public CompletableFuture<JsonObject> sight() {
            return CompletableFuture.completedFuture(JsonObject.EMPTY);
        }

        @Override
        public CompletableFuture<JsonObject> lag() {
            return CompletableFuture.completedFuture(JsonObject.EMPTY);
        }

        @Override
        public CompletableFuture<Optional<String>> unready() {
            return CompletableFuture.completedFuture(Optional.empty());
        }
    }
}
