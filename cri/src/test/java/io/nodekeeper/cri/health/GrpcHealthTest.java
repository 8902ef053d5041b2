package io.nodekeeper.cri.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.nodekeeper.cri.health.v1.HealthCheckRequest;
import io.nodekeeper.cri.health.v1.HealthCheckResponse;
import io.nodekeeper.cri.health.v1.HealthGrpc;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Health checks of a real gRPC server on this machine. */
class GrpcHealthTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final ThreadLoop loop = new ThreadLoop("test");
    private final ThreadPool threads = new ThreadPool("server", 4);
    private final GrpcHealth health = new GrpcHealth(loop, "test");
    /** Checks that the server does not answer. */
    private final Semaphore asked = new Semaphore(0);
    /** Those of them that ended. */
    private final Semaphore gone = new Semaphore(0);

    private Server server;

    @BeforeEach
    void serve() throws IOException {
        server = OkHttpServerBuilder.forPort(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), InsecureServerCredentials.create())
                .executor(threads)
                .addService(new Answers())
                .build()
                .start();
    }

    @AfterEach
    void stop() {
        health.close();
        loop.close();
        server.shutdownNow();
        threads.close();
    }

    @Test
    void shouldBeHealthyIfTheServiceServes() throws Exception {
        assertThat(ask("good", TIMEOUT)).isEqualTo(new HealthAnswer(true, "service healthy"));
        assertThat(ask("bad", TIMEOUT))
                .isEqualTo(new HealthAnswer(false, "service unhealthy (responded with \"NOT_SERVING\")"));
    }

    @Test
    void shouldSayWhyThereIsNoAnswer() throws Exception {
        assertThat(ask("absent", TIMEOUT).message()).isEqualTo("error: health rpc probe failed: NOT_FOUND: no such");
        assertThat(ask("silent", Duration.ofMillis(50)).message())
                .isEqualTo("timeout: health rpc did not complete within 50ms");
        int port = server.getPort();
        server.shutdownNow().awaitTermination();
        assertThat(ask("127.0.0.1", port, "good", TIMEOUT).message())
                .startsWith("timeout: failed to connect service \"127.0.0.1:" + port + "\" within 20s: UNAVAILABLE");
    }

    @Test
    void shouldCheckWithATimeoutOfAMonth() throws Exception {
        assertThat(ask("good", Duration.ofDays(30))).isEqualTo(new HealthAnswer(true, "service healthy"));
    }

    @Test
    void shouldBeUnhealthyIfACheckCannotBegin() throws Exception {
        assertThat(ask("", server.getPort(), "good", TIMEOUT).message())
                .startsWith("error: failed to connect service at \":" + server.getPort() + "\": ");
    }

    /** A probe of a container that ended: with a timeout of a day its connection would stay for a day. */
    @Test
    void shouldCloseTheConnectionOfACheckThatIsCancelled() throws Exception {
        CompletableFuture<HealthAnswer> check = CompletableFuture.supplyAsync(
                        () -> health.check("127.0.0.1", server.getPort(), "silent", Duration.ofDays(1)), loop)
                .get(30, TimeUnit.SECONDS);
        assertThat(asked.tryAcquire(30, TimeUnit.SECONDS)).isTrue();

        loop.execute(() -> check.cancel(true));

        assertThat(gone.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldCheckOneServerWhileManyOthersDoNotAnswer() throws Exception {
        // given more checks without an answer than one pod may have at a time
        List<CompletableFuture<HealthAnswer>> silent = IntStream.range(0, 130)
                .mapToObj(i -> begin("127.0.0.1", server.getPort(), "silent", TIMEOUT))
                .toList();

        // when another pod is checked
        HealthAnswer answer = ask("good", TIMEOUT);

        // then it did not wait for any of them
        assertThat(answer.healthy()).isTrue();
        assertThat(silent).noneMatch(CompletableFuture::isDone);
    }

    private HealthAnswer ask(String service, Duration timeout) throws Exception {
        return ask("127.0.0.1", server.getPort(), service, timeout);
    }

    private HealthAnswer ask(String host, int port, String service, Duration timeout) throws Exception {
        return begin(host, port, service, timeout).get(30, TimeUnit.SECONDS);
    }

    private CompletableFuture<HealthAnswer> begin(String host, int port, String service, Duration timeout) {
        CompletableFuture<HealthAnswer> answer = new CompletableFuture<>();
        loop.execute(() -> health.check(host, port, service, timeout).thenAccept(answer::complete));
        return answer;
    }

    private final class Answers extends HealthGrpc.HealthImplBase {
        @Override
        public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> reply) {
            switch (request.getService()) {
                case "good" -> answer(reply, HealthCheckResponse.ServingStatus.SERVING);
                case "bad" -> answer(reply, HealthCheckResponse.ServingStatus.NOT_SERVING);
                case "absent" ->
                    reply.onError(Status.NOT_FOUND.withDescription("no such").asRuntimeException());
                default -> {
                    ((ServerCallStreamObserver<HealthCheckResponse>) reply).setOnCancelHandler(gone::release);
                    asked.release();
                }
            }
        }

        private void answer(StreamObserver<HealthCheckResponse> reply, HealthCheckResponse.ServingStatus status) {
            reply.onNext(HealthCheckResponse.newBuilder().setStatus(status).build());
            reply.onCompleted();
        }
    }
}
