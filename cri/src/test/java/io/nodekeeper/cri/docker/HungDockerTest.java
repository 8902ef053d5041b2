package io.nodekeeper.cri.docker;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeCallException.Code;
import io.nodekeeper.cri.Until;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URLEncoder;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A daemon that hangs, that is gone, and that answers what no Docker answers. */
class HungDockerTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final String INSPECT = "/v1.41/containers/c1/json";
    private static final RuntimeCall<?> STATUS = new RuntimeCall.GetContainer("c1");

    @TempDir
    Path dir;

    private Path socket;
    private ThreadLoop loop;
    private FakeDocker docker;
    private DockerRuntime runtime;

    @BeforeEach
    void start() throws IOException {
        socket = dir.resolve("docker.sock");
        loop = new ThreadLoop("loop");
        docker = new FakeDocker(socket);
        runtime = new DockerRuntime(socket, loop);
    }

    @AfterEach
    void stop() throws IOException {
        runtime.close();
        docker.close();
        loop.close();
    }

    private RuntimeCallException refused(RuntimeCall<?> call) throws Exception {
        return (RuntimeCallException) Until.failed(runtime.call(call, LONG));
    }

    @Test
    void oneInspectionThatHangsEndsAtItsDeadlineAndDelaysNoOther() throws Exception {
        docker.hang(INSPECT).json("/v1.41/images/json", "[]");
        List<CompletableFuture<?>> hung = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            hung.add(runtime.call(STATUS, Duration.ofSeconds(8)));
        }

        assertThat(Until.done(runtime.call(new RuntimeCall.ListImages(), LONG))).isEmpty();
        assertThat(hung).noneMatch(CompletableFuture::isDone);

        for (CompletableFuture<?> call : hung) {
            assertThat(Until.failed(call)).isInstanceOf(DeadlineExceededException.class);
        }
        Until.holds("no connection is left", () -> docker.connections() == 0 && runtime.underWay() == 0);
    }

    @Test
    void aDaemonThatDoesNotEvenSayItsVersionIsLate() throws Exception {
        docker.hang("/_ping");

        assertThat(Until.failed(runtime.call(STATUS, SHORT)))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageContaining("ContainerStatus");
    }

    @Test
    void anAnswerThatStopsInTheMiddleIsLate() throws Exception {
        docker.reply(INSPECT, connection -> {
            FakeDocker.write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
            connection.read(ByteBuffer.allocate(1));
        });

        assertThat(Until.failed(runtime.call(STATUS, SHORT))).isInstanceOf(DeadlineExceededException.class);
    }

    @Test
    void aCancelledCallClosesItsConnection() throws Exception {
        docker.hang(INSPECT);
        CompletableFuture<?> call = runtime.call(STATUS, LONG);
        Until.holds("the request arrived", () -> docker.requests().contains(INSPECT));

        call.cancel(true);

        Until.holds("no connection is left", () -> docker.connections() == 0 && runtime.underWay() == 0);
    }

    @Test
    void oneOfTwoListsThatIsCancelledLeavesTheOther() throws Exception {
        CompletableFuture<Integer> listed = new CompletableFuture<>();
        docker.json(
                "/v1.41/containers/json?all=1&filters="
                        + URLEncoder.encode("{\"label\":[\"io.kubernetes.docker.type\"]}", StandardCharsets.UTF_8),
                "[]");
        loop.execute(() -> {
            var first = runtime.call(new RuntimeCall.ListSandboxes(Optional.empty()), LONG);
            runtime.call(new RuntimeCall.ListContainers(Optional.empty()), LONG)
                    .thenAccept(list -> listed.complete(list.size()));
            first.cancel(true);
        });

        assertThat(Until.done(listed)).isZero();
    }

    @Test
    void tooManyCallsAreRefused() throws Exception {
        docker.hang(INSPECT);
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int i = 0; i < DockerRuntime.MAX_CALLS; i++) {
            calls.add(runtime.call(STATUS, LONG));
        }

        assertThat(refused(STATUS))
                .hasMessage("ContainerStatus: NOT_SENT: 1024 calls to the runtime at " + socket
                        + " are in progress already");
        calls.forEach(call -> call.cancel(true));
        Until.holds("all have ended", () -> runtime.underWay() == 0);
    }

    @Test
    void aDaemonThatIsGoneIsUnavailableUntilItIsBack() throws Exception {
        docker.close();
        assertThat(refused(STATUS).getMessage())
                .isEqualTo("ContainerStatus: UNAVAILABLE: runtime at " + socket + ": Connection refused");

        Files.delete(socket);
        assertThat(refused(STATUS).getMessage())
                .isEqualTo("ContainerStatus: UNAVAILABLE: runtime at " + socket + ": No such file or directory");

        docker = new FakeDocker(socket);
        docker.json("/v1.41/images/json", "[]");
        assertThat(Until.done(runtime.call(new RuntimeCall.ListImages(), LONG))).isEmpty();
    }

    @Test
    void aDaemonThatAcceptsNothingIsLateAlsoOnceItsQueueIsFull() throws Exception {
        Path frozen = dir.resolve("frozen.sock");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                DockerRuntime late = new DockerRuntime(frozen, loop)) {
            server.bind(UnixDomainSocketAddress.of(frozen), 2);
            List<CompletableFuture<?>> calls = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                calls.add(late.call(STATUS, Duration.ofMillis(500)));
            }

            for (CompletableFuture<?> call : calls) {
                assertThat(Until.failed(call)).isInstanceOf(DeadlineExceededException.class);
            }
            Until.holds("all have ended", () -> late.underWay() == 0);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SSH-2.0-OpenSSH_9.2\r\n",
                "\0\0\u0018\u0004\0\0\0\0\0\0\n",
                "HTTP/2 200 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"Id\":\"other\"}",
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{",
                "HTTP/1.1 204 No Content\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"Id\":\"c1\",\"Created\":\"yesterday\"}                 "
            })
    void garbageIsUnreadable(String answer) throws Exception {
        docker.raw(INSPECT, answer);

        assertThat(refused(STATUS).code()).isEqualTo(Code.UNREADABLE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "HTTP/1.1 200",
                "HTTP/1.1 200 OK\r\nContent-Le",
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}",
            })
    void aConnectionThatEndsTooEarlyIsUnavailable(String answer) throws Exception {
        docker.raw(INSPECT, answer);

        RuntimeCallException error = refused(STATUS);

        assertThat(error.code()).isEqualTo(Code.UNAVAILABLE);
        assertThat(error).hasMessageContaining("connection closed");
    }

    @Test
    void anEndlessHeadIsUnreadable() throws Exception {
        docker.reply(INSPECT, connection -> {
            FakeDocker.write(connection, "HTTP/1.1 200 OK\r\n");
            while (true) {
                FakeDocker.write(connection, "X: " + "y".repeat(1000) + "\r\n");
            }
        });

        assertThat(refused(STATUS)).hasMessageContaining("a head of at most 32768 bytes was expected");
    }

    @Test
    void anEndlessBodyIsUnreadable() throws Exception {
        docker.reply(INSPECT, connection -> {
            FakeDocker.write(connection, "HTTP/1.1 200 OK\r\n\r\n\"");
            while (true) {
                FakeDocker.write(connection, "y".repeat(64 << 10));
            }
        });

        assertThat(refused(STATUS)).hasMessageContaining("an answer of at most 16777216 bytes was expected");
        Until.holds("no connection is left", () -> docker.connections() == 0);
    }

    @Test
    void aRefusalOfTheDaemonHasItsWords() throws Exception {
        docker.error(INSPECT, 500, "write /var/lib/docker/x: no space left on device");

        assertThat(refused(STATUS))
                .hasMessage("ContainerStatus: OTHER: Docker answered with status 500: write /var/lib/docker/x: no space"
                        + " left on device");
    }

    @Test
    void randomBytesNeverBreakMoreThanTheirCall() throws Exception {
        Random random = new Random(7);
        for (int i = 0; i < 300; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            String start = List.of(
                            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n{\"Id\":")
                    .get(i % 4);
            docker.raw(INSPECT, start + new String(bytes, StandardCharsets.ISO_8859_1));

            assertThat(refused(STATUS).code()).isIn(Code.UNREADABLE, Code.UNAVAILABLE);
        }
        docker.json("/v1.41/images/json", "[]");
        assertThat(Until.done(runtime.call(new RuntimeCall.ListImages(), LONG))).isEmpty();
    }

    @Test
    void aClosedClientFailsItsCalls() throws Exception {
        docker.hang(INSPECT);
        CompletableFuture<?> call = runtime.call(STATUS, LONG);
        Until.holds("the request arrived", () -> docker.requests().contains(INSPECT));

        runtime.close();

        assertThat(Until.failed(call))
                .hasMessage("ContainerStatus: UNAVAILABLE: runtime at " + socket + ": the client is closed");
        assertThat(refused(STATUS))
                .hasMessage("ContainerStatus: UNAVAILABLE: runtime at " + socket + ": the client is closed");
    }
}
