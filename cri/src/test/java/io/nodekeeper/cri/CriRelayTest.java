package io.nodekeeper.cri;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.cri.v1.ContainerEventResponse;
import io.nodekeeper.cri.v1.ContainerStatusResponse;
import io.nodekeeper.cri.v1.RunPodSandboxResponse;
import io.nodekeeper.cri.v1.RuntimeServiceGrpc;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.ThreadLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The relay's effect on calls, and the client's reaction. */
class CriRelayTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(200);

    @TempDir
    Path dir;

    private ThreadLoop loop;
    private FakeCri cri;
    private CriRelay relay;
    private GrpcRuntime runtime;

    @BeforeEach
    void start() throws Exception {
        loop = new ThreadLoop("loop");
        cri = new FakeCri(dir.resolve("cri.sock"))
                .answer(
                        RuntimeServiceGrpc.getContainerStatusMethod(),
                        request -> ContainerStatusResponse.newBuilder()
                                .setStatus(io.nodekeeper.cri.v1.ContainerStatus.newBuilder()
                                        .setId(request.getContainerId())
                                        .setReason("as the runtime says"))
                                .build())
                .answer(
                        RuntimeServiceGrpc.getRunPodSandboxMethod(),
                        request -> RunPodSandboxResponse.newBuilder()
                                .setPodSandboxId("s1")
                                .build());
        relay = new CriRelay(dir.resolve("relay.sock"), dir.resolve("cri.sock"));
        runtime = new GrpcRuntime(dir.resolve("relay.sock"), loop);
    }

    @AfterEach
    void stop() throws Exception {
        runtime.close();
        relay.close();
        cri.close();
        loop.close();
    }

    private CompletableFuture<ContainerStatus> ask(String id, Duration deadline) {
        return runtime.call(new RuntimeCall.GetContainer(id), deadline);
    }

    /** Makes the connections, so that the next call reaches the relay at once. */
    private void connect() throws Exception {
        Until.failed(runtime.call(new RuntimeCall.GetStatus(), LONG));
    }

    @Test
    void passesCallsAndFailures() throws Exception {
        assertThat(Until.done(ask("c1", LONG)).reason()).isEqualTo("as the runtime says");
        assertThat(relay.seen("ContainerStatus")).isEqualTo(1);
        assertThat(((RuntimeCallException) Until.failed(runtime.call(new RuntimeCall.GetStatus(), LONG))).code())
                .isEqualTo(RuntimeCallException.Code.UNIMPLEMENTED);
    }

    @Test
    void passesStreams() throws Exception {
        cri.on(RuntimeServiceGrpc.getGetContainerEventsMethod(), (request, reply) -> {
            reply.onNext(
                    ContainerEventResponse.newBuilder().setContainerId("c1").build());
            reply.onNext(
                    ContainerEventResponse.newBuilder().setContainerId("c2").build());
        });
        List<ContainerEvent> events = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> stream = runtime.events(events::add);

        Until.holds("both events came", () -> events.size() == 2);
        stream.cancel(true);
        Until.holds("the runtime saw the end", () -> cri.cancelled() == 1);
    }

    @Test
    void hangsOneContainerAndNoOtherAndCountsWhoGaveUp() throws Exception {
        connect();
        relay.fault("ContainerStatus:c1", new CriRelay.Fault.Hang());

        CompletableFuture<ContainerStatus> hung = ask("c1", Duration.ofSeconds(8));

        assertThat(Until.done(ask("c2", LONG)).id()).isEqualTo("c2");
        assertThat(hung).isNotDone();
        assertThat(Until.failed(hung)).isInstanceOf(DeadlineExceededException.class);
        Until.holds("the relay saw the end", () -> relay.cancelled("ContainerStatus") == 1);
        assertThat(relay.seen("ContainerStatus")).isEqualTo(2);
        assertThat(cri.requests()).hasSize(1);

        relay.heal("ContainerStatus:c1");
        assertThat(Until.done(ask("c1", LONG)).id()).isEqualTo("c1");
    }

    @Test
    void hangsWhateverIsAboutAnId() throws Exception {
        relay.fault("*:u7", new CriRelay.Fault.Hang());

        assertThat(Until.failed(runtime.call(
                        new RuntimeCall.RunSandbox(new SandboxConfig("u7", "p", "ns", 0, "/logs")), SHORT)))
                .isInstanceOf(DeadlineExceededException.class);
        assertThat(Until.done(
                        runtime.call(new RuntimeCall.RunSandbox(new SandboxConfig("u8", "p", "ns", 0, "/logs")), LONG)))
                .isEqualTo("s1");
    }

    @Test
    void cancelReachesTheRuntimeThroughTheRelay() throws Exception {
        cri.hang(RuntimeServiceGrpc.getContainerStatusMethod());
        CompletableFuture<ContainerStatus> hung = ask("c1", LONG);
        Until.holds("it arrived", () -> cri.requests().size() == 1);

        hung.cancel(true);

        Until.holds("the runtime saw the end", () -> cri.cancelled() == 1);
    }

    @Test
    void delays() throws Exception {
        relay.fault("ContainerStatus", new CriRelay.Fault.Delay(Duration.ofMillis(300)));
        long start = System.nanoTime();

        Until.done(ask("c1", LONG));

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(300), LONG);
        assertThat(Until.failed(ask("c1", Duration.ofMillis(100)))).isInstanceOf(DeadlineExceededException.class);
    }

    @Test
    void fails() throws Exception {
        relay.fault("ContainerStatus", new CriRelay.Fault.Fail(Status.NOT_FOUND.withDescription("gone")));

        assertThat(Until.failed(ask("c1", LONG))).hasMessage("ContainerStatus: NOT_FOUND: gone");
    }

    @Test
    void garbageAndHalfAnswersAreErrorsOfThatCallOnly() throws Exception {
        relay.fault("ContainerStatus:c1", new CriRelay.Fault.Garbage(new byte[] {-1, -1, -1, -1}));
        relay.fault("ContainerStatus:c2", new CriRelay.Fault.Truncate());
        relay.fault("ContainerStatus:c3", new CriRelay.Fault.Garbage(new byte[0]));

        assertThat(((RuntimeCallException) Until.failed(ask("c1", LONG))).code())
                .isEqualTo(RuntimeCallException.Code.UNREADABLE);
        assertThat(((RuntimeCallException) Until.failed(ask("c2", LONG))).code())
                .isEqualTo(RuntimeCallException.Code.UNREADABLE);
        assertThat(Until.failed(ask("c3", LONG)))
                .hasMessage("ContainerStatus: UNREADABLE: an answer about \"c3\" was expected, got one about \"\"");
        assertThat(Until.done(ask("c4", LONG)).id()).isEqualTo("c4");
    }

    @Test
    void disconnectFailsTheCallAndTheNextOneWorks() throws Exception {
        relay.fault("ContainerStatus:c1", new CriRelay.Fault.Disconnect());

        assertThat(((RuntimeCallException) Until.failed(ask("c1", LONG))).code())
                .isEqualTo(RuntimeCallException.Code.UNAVAILABLE);
        assertThat(Until.done(ask("c2", LONG)).id()).isEqualTo("c2");
    }
}
