package io.nodekeeper.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.Checkup;
import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.HangThresholds;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.repair.Attempt;
import io.nodekeeper.agent.culprit.repair.RepairPlan;
import io.nodekeeper.agent.culprit.repair.RepairStep;
import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.doctor.node.CheckResult;
import io.nodekeeper.cli.doctor.node.NodeCheckup;
import io.nodekeeper.cli.doctor.node.NodeCheckups;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * {@code nodekeeper doctor}: what it prints, what it mends, how it ends. It takes its time in the real one, so the tests wait
 * side by side.
 */
@Execution(ExecutionMode.CONCURRENT)
class DoctorTest {
    private static final Instant NOW = Instant.parse("2026-11-21T18:00:30Z");
    private static final ProcessRef SHIM = new ProcessRef(4711, 99, "/usr/bin/containerd-shim-runc-v2 -id s1");
    private static final Culprit STOPPED = new Culprit(
            Layer.SHIM,
            "ShimStopped",
            "the shim containerd-shim-runc-v2 (pid 4711) of pod shop/web has been stopped (state T) since"
                    + " 2026-11-21T18:00:05Z",
            NOW.minusSeconds(25),
            Optional.of(new PodIdentity("w1", "web", "shop")),
            Optional.of("s1"),
            Optional.empty(),
            Optional.of(SHIM),
            Optional.of("ContainerStats"),
            List.of("pid 4711, state T, parent 1, 3600 s old: /usr/bin/containerd-shim-runc-v2 -id s1"),
            List.of(new Remedy.ContinueProcess(SHIM)),
            Confidence.CERTAIN);

    /**
     * Shorter than the usual ones, because the test's processes do nothing between two scans. A process of another test that waits for
     * the disk is no culprit.
     */
    private static final DoctorProcess.Times QUICK = new DoctorProcess.Times(
            new Checkup.Times(
                    Duration.ofMillis(300),
                    new HangThresholds(
                            Duration.ofMillis(100),
                            HangThresholds.DOCTOR.command(),
                            Duration.ofSeconds(30),
                            HangThresholds.DOCTOR.stalledLooks(),
                            Duration.ofMillis(100),
                            HangThresholds.DOCTOR.call(),
                            HangThresholds.DOCTOR.slowCall(),
                            HangThresholds.DOCTOR.refused(),
                            HangThresholds.DOCTOR.unlisted())),
            Duration.ofMillis(100));

    private final List<String> questions = new ArrayList<>();
    private Optional<Boolean> answer = Optional.empty();
    private Function<Loop, NodeCheckup> checkup = NodeCheckup::none;
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CommandRunner runner = runner(loop -> {
        FakeRuntime runtime = new FakeRuntime(loop);
        runtime.pod("w1", "app");
        return runtime;
    });

    @Test
    void whatAnswersIsToldBeforeWhatHangs() {
        assertThat(DoctorReport.of(findings(STOPPED)).text(NOW)).isEqualTo("""
                containerd 1.6.20 at /run/c.sock, as of 2026-11-21T18:00:30Z

                What answers:
                  Version           in 3ms
                  ContainerStats    1 of 2, the slowest in 4ms; c1 NOT within 3s
                  processes         no runtime, shims 1, in containers 0, OCI runtime commands 0, CNI plugins 0

                What hangs:

                  1. ShimStopped (shim), certain
                     the shim containerd-shim-runc-v2 (pid 4711) of pod shop/web has been stopped (state T) since 2026-11-21T18:00:05Z
                     since     2026-11-21T18:00:05Z, 25s ago
                     pod       shop/web
                     sandbox   s1
                     delays    ContainerStats
                     evidence  pid 4711, state T, parent 1, 3600 s old: /usr/bin/containerd-shim-runc-v2 -id s1
                     remedy    kill -CONT 4711   (--fix does it)
                """);
    }

    @Test
    void loadIsToldApartFromWhatHangsAndItsCallsStillFail() {
        Culprit load = new Culprit(
                Layer.RUNTIME,
                "NodeOverloaded",
                "the node has more work than processors",
                NOW.minusSeconds(25),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of("ContainerStats"),
                List.of(),
                List.of(new Remedy.Advice("reduce the load of the node")),
                Confidence.LIKELY);

        DoctorReport report = DoctorReport.of(findings(load));

        assertThat(report.text(NOW)).endsWith("""
                No process or call was found to hang, but:
                  ContainerStats of container c1 is not answered within 3s

                What may make calls late:

                  1. NodeOverloaded (container runtime), likely
                     the node has more work than processors
                     since     2026-11-21T18:00:05Z, 25s ago
                     delays    ContainerStats
                     remedy    reduce the load of the node
                """);
        assertThat(report.json(NOW).array("culprits").objects()).isEmpty();
        assertThat(report.json(NOW).array("loads").objects())
                .extracting(json -> json.text("reason"))
                .containsExactly("NodeOverloaded");
        assertThat(report.json(NOW).bool("healthy")).isFalse();
    }

    @Test
    void healthyNodeSaysSoWithWhatWasDone() {
        RepairStep step = RepairPlan.of(findings(STOPPED), false).steps().getFirst();
        Attempt done = new Attempt(step, Attempt.Outcome.WORKED, "sent SIGCONT to pid 4711 (shim)", true);

        assertThat(DoctorReport.of(healthy()).with(List.of(done)).text(NOW))
                .contains("Done:\n  kill -CONT 4711: worked: sent SIGCONT to pid 4711 (shim); ShimStopped is gone\n\n"
                        + "What answers:\n")
                .endsWith("\n\nNothing hangs.\n");
    }

    @Test
    void remediesAreListedInOrderWithWhatIsLost() {
        Culprit culprit =
                culprit(STOPPED, Confidence.LIKELY, new Remedy.ContinueProcess(SHIM), new Remedy.RemoveSandbox("s1"));

        assertThat(DoctorReport.of(findings(culprit)).text(NOW))
                .contains("  1. ShimStopped (shim), likely\n")
                .endsWith("""
                             remedy    kill -CONT 4711   (--fix does it)
                             then      remove sandbox s1 (crictl rmp -f s1)   (--fix --force does it)
                                       lost: the pod's containers and their local data; the pod's owner creates it again
                        """);
    }

    @Test
    void unknownCauseShowsWhatWasExaminedAndWhatToDoNext() {
        Culprit culprit = culprit(
                STOPPED,
                Confidence.UNKNOWN,
                new Remedy.Advice("read the runtime's log"),
                new Remedy.Advice("restart the container runtime, e.g. systemctl restart containerd"));

        assertThat(DoctorReport.of(findings(culprit)).text(NOW))
                .contains("  1. ShimStopped (shim), cause unknown\n")
                .contains("     examined  pid 4711, state T, parent 1,")
                .contains("     next      read the runtime's log\n")
                .endsWith("     then      restart the container runtime, e.g. systemctl restart containerd\n");
    }

    /** The name of a process and its command line are what a container chooses. */
    @Test
    void processCannotControlTheTerminalOrAddLinesToTheReportAndThePlan() {
        Culprit culprit = new Culprit(
                Layer.SHIM,
                "ShimStopped",
                "the shim x\u001b[1A (pid 4711)\n  Nothing hangs.",
                NOW,
                Optional.of(new PodIdentity("w1", "web\u202e", "shop")),
                Optional.of("s1"),
                Optional.empty(),
                Optional.of(SHIM),
                Optional.empty(),
                List.of("pid 4711: shim\u009b2J\r"),
                List.of(new Remedy.ContinueProcess(SHIM)),
                Confidence.CERTAIN);
        Findings findings = findings(culprit);

        assertThat(DoctorReport.of(findings)
                        .with(RepairPlan.of(findings, false))
                        .text(NOW))
                .contains("     for       the shim xU+001B[1A (pid 4711)   Nothing hangs.\n")
                .contains("     pod       shop/webU+202E\n")
                .contains("     evidence  pid 4711: shimU+009B2JU+000D\n")
                .doesNotContain("\u001b", "\u009b", "\r", "\n  Nothing hangs.");
    }

    @Test
    void nodeThatWouldNotBeReadyIsNotHealthyAndSaysWhy() {
        Findings findings = findings(
                Optional.of(new RuntimeStatus(
                        List.of(
                                new RuntimeCondition(RuntimeCondition.RUNTIME_READY, true, "", ""),
                                new RuntimeCondition(
                                        RuntimeCondition.NETWORK_READY,
                                        false,
                                        "NetworkPluginNotReady",
                                        "cni plugin not initialized")),
                        List.of(),
                        Optional.empty())),
                List.of(new CallOutcome(
                        new RuntimeCall.GetContainerStats("c1"),
                        0,
                        Duration.ofMillis(3),
                        CallOutcome.Kind.REFUSED,
                        "ContainerStats: OTHER: no space left on device")));

        assertThat(findings.healthy()).isFalse();
        assertThat(DoctorReport.of(findings).text(NOW)).endsWith("""

                No process or call was found to hang, but:
                  NetworkReady is false: NetworkPluginNotReady: cni plugin not initialized
                  ContainerStats of container c1 fails: ContainerStats: OTHER: no space left on device
                """);
    }

    @Test
    void programsGetTheSameAsJson() {
        RepairPlan plan = RepairPlan.of(findings(STOPPED), false);
        Attempt done = new Attempt(plan.steps().getFirst(), Attempt.Outcome.NO_EFFECT, "still stopped", false);

        JsonObject json = DoctorReport.of(findings(STOPPED))
                .with(plan)
                .with(List.of(done))
                .json(NOW);

        assertThat(json.bool("healthy")).isFalse();
        JsonObject culprit = json.array("culprits").objects().findFirst().orElseThrow();
        assertThat(culprit.text("reason")).isEqualTo("ShimStopped");
        assertThat(culprit.text("confidence")).isEqualTo("certain");
        assertThat(culprit.text("pod")).isEqualTo("shop/web");
        assertThat(culprit.number("pid")).contains(4711L);
        JsonObject remedy = culprit.array("remedies").objects().findFirst().orElseThrow();
        assertThat(remedy.text("action")).isEqualTo("kill -CONT 4711");
        assertThat(remedy.text("loses")).isEqualTo("nothing");
        assertThat(remedy.bool("needsForce")).isFalse();
        assertThat(remedy.bool("automatic")).isTrue();
        assertThat(json.array("plan").objects().findFirst().orElseThrow().text("decision"))
                .isEqualTo("APPLY");
        JsonObject attempt = json.array("done").objects().findFirst().orElseThrow();
        assertThat(attempt.text("outcome")).isEqualTo("NO_EFFECT");
        assertThat(attempt.text("detail")).isEqualTo("still stopped");
        assertThat(attempt.bool("causeGone")).isFalse();
    }

    @Test
    void healthyRuntimeEndsWithZero() {
        int code = runner.run("doctor", "--container-runtime-endpoint=unix:///tmp/none.sock", "-o", "json");

        assertThat(err.toString())
                .isEqualTo("querying the container runtime at /tmp/none.sock\nquerying each of 1 sandboxes and 1"
                        + " containers, and scanning the processes\nscanning the processes a second time\n");
        assertThat(Json.parseObject(out.toString()).array("culprits").items()).isEmpty();
        assertThat(code).isZero();
    }

    @Test
    void stoppedShimIsFoundByItsSocketAndContinued() throws Exception {
        // A pod of its own: other tests, which run at the same time, find shims by the ids of their sandboxes.
        CommandRunner runner = runner(loop -> {
            FakeRuntime runtime = new FakeRuntime(loop);
            runtime.pod("stopped", "app");
            return runtime;
        });
        Path directory = Files.createTempDirectory("nk");
        Path socket = directory.resolve("c.sock");
        Process named = new ProcessBuilder(
                        "bash",
                        "-c",
                        "exec -a containerd-shim-runc-v2 sh -c 'while :; do sleep 0.1; done' sh -id s-stopped"
                                + " -address " + socket)
                .start();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            awaitName(named, "containerd-shim-runc-v2");
            new ProcessBuilder("kill", "-STOP", "" + named.pid()).start().waitFor();
            awaitState(named, 'T');

            // Given a stopped shim, doctor names it, and without a terminal it only prints the plan.
            int sick = runner.run("doctor", "--fix", "--container-runtime-endpoint=unix://" + socket);
            assertThat(out.toString())
                    .contains("  1. ShimStopped (shim), certain\n")
                    .contains("of pod default/pod-stopped has been stopped (state T)")
                    .contains("remedy    kill -CONT " + named.pid() + "   (--fix does it)\n")
                    .contains("Plan:\n  1. kill -CONT " + named.pid() + "   (is applied)\n")
                    .contains("  Nothing of it is applied.\n");
            assertThat(err.toString())
                    .contains("nothing is applied: standard input or output is no terminal; --yes applies the plan\n");
            assertThat(state(named)).isEqualTo('T');
            assertThat(sick).isEqualTo(4);

            // When the operator declines, nothing happens either.
            answer = Optional.of(false);
            assertThat(runner.run("doctor", "--fix", "--container-runtime-endpoint=unix://" + socket))
                    .isEqualTo(4);
            assertThat(state(named)).isEqualTo('T');
            assertThat(questions).containsExactly("Apply these remedies? [y/N] ", "Apply these remedies? [y/N] ");

            // When the operator agrees, the shim is continued.
            answer = Optional.of(true);
            int mended = runner.run("doctor", "--fix", "--container-runtime-endpoint=unix://" + socket);
            assertThat(out.toString())
                    .contains("Done:\n  kill -CONT " + named.pid() + ": worked: sent SIGCONT to pid " + named.pid())
                    .contains("; ShimStopped is gone\n")
                    .endsWith("Nothing hangs.\n");
            assertThat(state(named)).isNotEqualTo('T');
            assertThat(mended).isZero();
        } finally {
            named.destroyForcibly().waitFor(5, TimeUnit.SECONDS);
        }
    }

    /** Waits until a process has the name that its shell gives it. */
    private static void awaitName(Process process, String name) throws Exception {
        Path command = Path.of("/proc/" + process.pid() + "/cmdline");
        for (int i = 0; i < 1_000 && !Files.readString(command).startsWith(name + "\0"); i++) {
            Thread.sleep(10);
        }
        assertThat(Files.readString(command)).startsWith(name);
    }

    /** A shell that starts a command is stopped only once that has begun. */
    private static void awaitState(Process process, char wanted) throws Exception {
        for (int i = 0; i < 1_000 && state(process) != wanted; i++) {
            Thread.sleep(10);
        }
        assertThat(state(process)).isEqualTo(wanted);
    }

    private static char state(Process process) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
        return stat.charAt(stat.lastIndexOf(')') + 2);
    }

    @Test
    void sandboxIsNotRemovedIfItsCallsAreAnsweredAfterAll() {
        int code = hung(2).run(
                        "doctor",
                        "--fix",
                        "--yes",
                        "--force",
                        "--timeout=1s",
                        "--container-runtime-endpoint=unix:///tmp/none.sock");

        assertThat(out.toString())
                .contains("Done:\n  nothing: a second examination did not find the same any more\n\n")
                .endsWith("Nothing hangs.\n");
        assertThat(code).isZero();
    }

    @Test
    void sandboxIsNotRemovedWithoutForce() {
        int code = hung(9).run(
                        "doctor",
                        "--fix",
                        "--yes",
                        "--timeout=1s",
                        "--container-runtime-endpoint=unix:///tmp/none.sock");

        assertThat(out.toString())
                .contains("Plan:\n  1. remove sandbox s-w1 (crictl rmp -f s-w1)   (only with --force)\n")
                .contains("  Nothing of it is applied.\n")
                .doesNotContain("Done:");
        assertThat(code).isEqualTo(4);
    }

    @Test
    void sandboxThatIsNamedTwiceIsRemovedWithForce() {
        hung(4).run(
                        "doctor",
                        "--fix",
                        "--yes",
                        "--force",
                        "--timeout=1s",
                        "--container-runtime-endpoint=unix:///tmp/none.sock");

        assertThat(out.toString())
                .contains("Done:\n  remove sandbox s-w1 (crictl rmp -f s-w1): worked: the container runtime has removed"
                        + " it; ContainerCallHung is gone\n\n");
    }

    @Test
    void yesAndForceNeedFix() {
        assertThat(runner.run("doctor", "--yes", "--force")).isEqualTo(2);
        assertThat(err.toString())
                .contains("  - --yes is given without --fix; expected both, or neither\n")
                .contains("  - --force is given without --fix; expected both, or --fix alone\n");
    }

    @Test
    void nodeThatWouldNotBeReadyForAnotherReasonIsAFailureWithTheNextCommand() {
        checkup = loop -> NodeCheckups.of(
                loop,
                NodeCheckups.found("disk of the kubelet", CheckResult.State.OK, "71.2 % of the bytes are left", ""),
                NodeCheckups.found(
                        "lease",
                        CheckResult.State.FAILED,
                        "the lease was renewed 3m0s ago; expected 40s at most",
                        "journalctl -u kubelet -n 100"),
                NodeCheckups.silent("clock"));

        int code = runner.run("doctor", "--container-runtime-endpoint=unix:///tmp/none.sock");

        assertThat(out.toString()).contains("""
                        The node:
                          ok           disk of the kubelet  71.2 % of the bytes are left
                          failed       lease                the lease was renewed 3m0s ago; expected 40s at most
                                                            next: journalctl -u kubelet -n 100
                          not checked  clock                clock did not answer within 100ms
                        """).endsWith("\nNothing hangs.\n");
        assertThat(code).isEqualTo(1);
    }

    @Test
    void warningIsNoFailure() {
        checkup = loop -> NodeCheckups.of(
                loop,
                NodeCheckups.found("memory", CheckResult.State.WARNING, "90 MiB of 1024 MiB are not in use", "ps"));

        int code = runner.run("doctor", "-o", "json", "--container-runtime-endpoint=unix:///tmp/none.sock");

        JsonObject node = Json.parseObject(out.toString())
                .array("node")
                .objects()
                .findFirst()
                .orElseThrow();
        assertThat(node)
                .isEqualTo(Json.parseObject(
                        "{\"check\":\"memory\",\"state\":\"warning\",\"text\":\"90 MiB of 1024 MiB are not in use\","
                                + "\"next\":\"ps\"}"));
        assertThat(code).isZero();
    }

    @Test
    void bundleIsWrittenAndAnExistingFileIsRefusedBeforeAnythingIsExamined() throws Exception {
        Path file = Files.createTempDirectory("nk").resolve("n1.tar.gz");
        String[] line = {
            "doctor", "--container-runtime-endpoint=unix:///tmp/none.sock", "--healthz-port=1", "--bundle=" + file
        };

        assertThat(runner.run(line)).isZero();
        assertThat(err.toString()).contains("collecting the evidence\n").containsPattern("wrote \\d+ files");
        assertThat(file).isNotEmptyFile();

        err.getBuffer().setLength(0);
        assertThat(runner.run(line)).isEqualTo(2);
        assertThat(err.toString()).contains("--bundle is " + file + ", which exists; expected a new file");
    }

    @Test
    void wrongFlagsAreToldTogether() {
        assertThat(runner.run("doctor", "--container-runtime-endpoint=/run/c.sock", "--timeout=10ms"))
                .isEqualTo(2);
        assertThat(err.toString())
                .contains("  - --container-runtime-endpoint is \"/run/c.sock\"; expected unix:///PATH\n")
                .contains("  - --timeout in seconds is 0.01; expected 1 to 60\n");
    }

    @Test
    void helpTeachesByExamples() {
        assertThat(runner.run("doctor", "--help")).isZero();
        assertThat(out.toString())
                .contains("nodekeeper doctor --fix --yes")
                .contains("nodekeeper doctor --fix --force")
                .contains("Changes nothing without");
    }

    /** Beside a runtime that does not answer the first {@code times} questions for a container's stats. */
    private CommandRunner hung(int times) {
        return runner(loop -> {
            FakeRuntime runtime = new FakeRuntime(loop);
            runtime.pod("w1", "app");
            return new ContainerRuntime() {
                @Override
                public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
                    boolean hangs =
                            call instanceof RuntimeCall.GetContainerStats && runtime.calls("ContainerStats") < times;
                    if (hangs) {
                        runtime.hang("ContainerStats");
                    } else {
                        runtime.heal("ContainerStats");
                    }
                    return runtime.call(call, deadline);
                }

                @Override
                public CompletableFuture<Void> events(Consumer<ContainerEvent> listener) {
                    return runtime.events(listener);
                }
            };
        });
    }

    private CommandRunner runner(Function<Loop, ContainerRuntime> connect) {
        return new CommandRunner(
                List.of(new DoctorCommand(command -> DoctorProcess.run(
                        command,
                        (socket, loop) -> connect.apply(loop),
                        QUICK,
                        question -> {
                            questions.add(question);
                            return answer;
                        },
                        loop -> checkup.apply(loop),
                        new PrintWriter(out),
                        new PrintWriter(err)))),
                new PrintWriter(out),
                new PrintWriter(err));
    }

    private static Culprit culprit(Culprit base, Confidence confidence, Remedy... remedies) {
        return new Culprit(
                base.layer(),
                base.reason(),
                base.summary(),
                base.since(),
                base.pod(),
                base.sandboxId(),
                base.containerId(),
                base.process(),
                base.method(),
                base.evidence(),
                List.of(remedies),
                confidence);
    }

    private static Findings healthy() {
        return findings(
                Optional.of(FakeRuntime.ready()),
                List.of(CallOutcome.of(new RuntimeCall.GetVersion(), 0, Duration.ofMillis(3))));
    }

    private static Findings findings(Optional<RuntimeStatus> status, List<CallOutcome> answers) {
        return new Findings(
                "/run/c.sock",
                Optional.of(new RuntimeVersion("containerd", "1.6.20", "v1")),
                status,
                ContainerIndex.NONE,
                answers,
                List.of(),
                "",
                List.of(),
                List.of());
    }

    private static Findings findings(Culprit... culprits) {
        return new Findings(
                "/run/c.sock",
                Optional.of(new RuntimeVersion("containerd", "1.6.20", "v1")),
                Optional.empty(),
                ContainerIndex.NONE,
                List.of(
                        CallOutcome.of(new RuntimeCall.GetVersion(), 0, Duration.ofMillis(3)),
                        new CallOutcome(
                                new RuntimeCall.GetContainerStats("c1"),
                                0,
                                Duration.ofSeconds(3),
                                CallOutcome.Kind.LATE,
                                ""),
                        CallOutcome.of(new RuntimeCall.GetContainerStats("c2"), 0, Duration.ofMillis(4))),
                List.of(new ProcessInfo(
                        SHIM,
                        1,
                        'T',
                        Duration.ofHours(1),
                        ProcessRole.SHIM,
                        true,
                        "",
                        List.of("s1"),
                        Optional.empty(),
                        List.of(),
                        Optional.empty())),
                "",
                Stream.of(culprits).filter(culprit -> !culprit.isLoad()).toList(),
                Stream.of(culprits).filter(Culprit::isLoad).toList());
    }
}
