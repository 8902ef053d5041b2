package io.nodekeeper.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Confidence;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.time.Loop;
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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** {@code nodekeeper doctor}: what it prints, what it mends, how it ends. */
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
            new Remedy.ContinueProcess(SHIM),
                Confidence.CERTAIN);

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CommandRunner runner = runner(loop -> {
        FakeRuntime runtime = new FakeRuntime(loop);
        runtime.pod("w1", "app");
        return runtime;
    });

    @Test
    void whatAnswersIsToldBeforeWhatHangs() {
        assertThat(DoctorReport.text(findings(STOPPED), List.of(), NOW)).isEqualTo("""
                containerd 1.6.20 at /run/c.sock, as of 2026-11-21T18:00:30Z

                What answers:
                  Version           in 3ms
                  ContainerStats    1 of 2, the slowest in 4ms; c1 NOT within 3s
                  processes         no runtime, shims 1, in containers 0, OCI runtime commands 0, CNI plugins 0

                What hangs:

                  1. ShimStopped (shim)
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
    void healthyNodeIsToldSoWithWhatWasDone() {
        assertThat(DoctorReport.text(findings(), List.of("continued pid 4711 (shim)"), NOW))
                .contains("Done:\n  continued pid 4711 (shim)\n\nWhat answers:\n")
                .endsWith("\n\nNothing hangs.\n");
    }

    @Test
    void programsGetTheSameAsJson() {
        JsonObject json = DoctorReport.json(findings(STOPPED), List.of());

        assertThat(json.bool("healthy")).isFalse();
        JsonObject culprit = json.array("culprits").objects().findFirst().orElseThrow();
        assertThat(culprit.text("reason")).isEqualTo("ShimStopped");
        assertThat(culprit.text("pod")).isEqualTo("shop/web");
        assertThat(culprit.number("pid")).contains(4711L);
        assertThat(culprit.text("remedy")).isEqualTo("kill -CONT 4711");
        assertThat(culprit.bool("fixable")).isTrue();
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
    void stoppedShimIsFoundByItsSocketAndLetGoOn() throws Exception {
        Path directory = Files.createTempDirectory("nk");
        Path socket = directory.resolve("c.sock");
        Process named = new ProcessBuilder(
                        "bash",
                        "-c",
                        "exec -a containerd-shim-runc-v2 sh -c 'while :; do sleep 0.1; done' sh -id s-w1" + " -address "
                                + socket)
                .start();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            new ProcessBuilder("kill", "-STOP", "" + named.pid()).start().waitFor();

            int sick = runner.run("doctor", "--container-runtime-endpoint=unix://" + socket);
            assertThat(out.toString())
                    .contains("  1. ShimStopped (shim)\n")
                    .contains("of pod default/pod-w1 has been stopped (state T)")
                    .contains("remedy    kill -CONT " + named.pid() + "   (--fix does it)\n");
            int mended = runner.run("doctor", "--fix", "--container-runtime-endpoint=unix://" + socket);

            assertThat(sick).isEqualTo(1);
            assertThat(out.toString())
                    .contains("Done:\n  continued pid " + named.pid())
                    .endsWith("Nothing hangs.\n");
            assertThat(mended).isZero();
        } finally {
            named.destroyForcibly().waitFor(5, TimeUnit.SECONDS);
        }
    }

    @Test
    void sandboxIsNotRemovedIfItsCallsAreAnsweredAfterAll() {
        int code = hung(2).run("doctor", "--fix", "--timeout=1s", "--container-runtime-endpoint=unix:///tmp/none.sock");

        assertThat(out.toString())
                .contains("Done:\n  no longer needed: remove sandbox s-w1 (crictl rmp -f s-w1)\n\n")
                .endsWith("Nothing hangs.\n");
        assertThat(code).isZero();
    }

    @Test
    void sandboxThatIsNamedTwiceIsRemoved() {
        hung(4).run("doctor", "--fix", "--timeout=1s", "--container-runtime-endpoint=unix:///tmp/none.sock");

        assertThat(out.toString()).contains("Done:\n  removed sandbox s-w1\n\n");
    }

    @Test
    void moreThanOnePodIsNeverRemoved() {
        Remedy one = new Remedy.RemoveSandbox("s1");
        Remedy two = new Remedy.RemoveSandbox("s2");
        List<String> done = new ArrayList<>();

        assertThat(DoctorProcess.confirmed(Set.of(one, two), Set.of(one, two), done))
                .isEmpty();
        assertThat(DoctorProcess.confirmed(Set.of(one), Set.of(one, two), done)).isEmpty();
        assertThat(done)
                .hasSize(2)
                .containsOnly("removed no sandbox: it would cost 2 pods, and that is more than one hung container;"
                        + " restart the container runtime instead");
        assertThat(DoctorProcess.confirmed(Set.of(one, two), Set.of(two), done)).containsExactly(two);
        assertThat(DoctorProcess.confirmed(Set.of(one), Set.of(two), done)).isEmpty();
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
        assertThat(out.toString()).contains("nodekeeper doctor --fix").contains("Changes nothing");
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
                        command, (socket, loop) -> connect.apply(loop), new PrintWriter(out), new PrintWriter(err)))),
                new PrintWriter(out),
                new PrintWriter(err));
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
                List.of(culprits));
    }
}
