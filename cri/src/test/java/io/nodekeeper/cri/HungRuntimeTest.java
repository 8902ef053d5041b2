package io.nodekeeper.cri;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.v1.RuntimeServiceGrpc;
import io.nodekeeper.cri.v1.VersionResponse;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Ten thousand unanswered calls leak nothing: no thread, no file descriptor, no memory. */
@Isolated("It counts the threads and descriptors of the whole process.")
class HungRuntimeTest {
    private static final int CALLS = 10_000;
    private static final int AT_ONCE = 200;
    private static final Duration DEADLINE = Duration.ofMillis(20);

    @TempDir
    Path dir;

    private Path socket;
    private ThreadLoop loop;

    @BeforeEach
    void start() {
        socket = dir.resolve("cri.sock");
        loop = new ThreadLoop("loop");
    }

    @AfterEach
    void stop() {
        loop.close();
    }

    private record Footprint(int threads, long descriptors, long heap) {
        static Footprint now() throws Exception {
            System.gc();
            Thread.sleep(300);
            System.gc();
            Thread.sleep(100);
            try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
                return new Footprint(
                        ManagementFactory.getThreadMXBean().getThreadCount(),
                        descriptors.count(),
                        Runtime.getRuntime().totalMemory()
                                - Runtime.getRuntime().freeMemory());
            }
        }

        /** Fewer may remain than before: idle threads from the warm-up exit. */
        void assertNoMoreThan(Footprint before, String what) {
            System.out.printf(
                    "%s: threads %d -> %d, descriptors %d -> %d, heap %d KiB -> %d KiB%n",
                    what, before.threads, threads, before.descriptors, descriptors, before.heap >> 10, heap >> 10);
            assertThat(threads).isLessThanOrEqualTo(before.threads + 2);
            assertThat(descriptors).isLessThanOrEqualTo(before.descriptors + 2);
            assertThat(heap - before.heap).isLessThan(4 << 20);
        }
    }

    /** Makes calls until that many have hung; returns how many timed out. The others ended with the connection. */
    private int hang(GrpcRuntime runtime, int calls) throws InterruptedException {
        Semaphore room = new Semaphore(AT_ONCE);
        AtomicInteger late = new AtomicInteger();
        AtomicInteger hung = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        for (int i = 0; hung.get() < calls; i++) {
            room.acquire();
            long start = System.nanoTime();
            runtime.call(new RuntimeCall.GetContainer("c" + i), DEADLINE).whenComplete((value, error) -> {
                if (error instanceof DeadlineExceededException) {
                    late.incrementAndGet();
                    hung.incrementAndGet();
                } else if (System.nanoTime() - start > DEADLINE.toNanos() / 4) {
                    hung.incrementAndGet();
                } else {
                    refused.incrementAndGet();
                }
                room.release();
            });
            if (i % 10 == 0) {
                runtime.call(new RuntimeCall.GetVersion(), Duration.ofSeconds(1));
            }
            if (refused.getAndSet(0) > 0) {
                Thread.sleep(5);
            }
        }
        room.acquire(AT_ONCE);
        Until.holds("gRPC let go of all calls", () -> runtime.underWay() == 0);
        return late.get();
    }

    @Test
    void callsThatALivingRuntimeNeverAnswersLeaveNothing() throws Exception {
        try (FakeCri cri = new FakeCri(socket)
                        .hang(RuntimeServiceGrpc.getContainerStatusMethod())
                        .answer(
                                RuntimeServiceGrpc.getVersionMethod(),
                                request -> VersionResponse.newBuilder()
                                        .setVersion("0.1.0")
                                        .setRuntimeName("a")
                                        .setRuntimeVersion("b")
                                        .setRuntimeApiVersion("c")
                                        .build());
                GrpcRuntime runtime = new GrpcRuntime(socket, loop)) {
            hang(runtime, 1_000);
            cri.requests().clear();
            Footprint before = Footprint.now();

            int late = hang(runtime, CALLS);

            cri.requests().clear();
            Footprint.now()
                    .assertNoMoreThan(before, "a living runtime, " + late + " of " + CALLS + " at their deadline");
            assertThat(late).isGreaterThan(CALLS / 2);
            assertThat(Until.done(runtime.call(new RuntimeCall.GetVersion(), Duration.ofSeconds(5)))
                            .name())
                    .isEqualTo("a");
        }
    }

    @Test
    void callsToARuntimeThatNeverReadsLeaveNothing() throws Exception {
        try (Frozen frozen = new Frozen(socket, false);
                GrpcRuntime runtime = new GrpcRuntime(socket, loop)) {
            freeze(frozen, runtime, "a runtime that never reads");
        }
    }

    @Test
    void callsToARuntimeThatFreezesAfterTheHandshakeLeaveNothing() throws Exception {
        try (Frozen frozen = new Frozen(socket, true);
                GrpcRuntime runtime = new GrpcRuntime(socket, loop)) {
            freeze(frozen, runtime, "a runtime that freezes after the handshake");
        }
    }

    private void freeze(Frozen frozen, GrpcRuntime runtime, String what) throws Exception {
        hang(runtime, 1_000);
        frozen.forget();
        Footprint before = Footprint.now();

        int late = hang(runtime, CALLS);

        int connections = frozen.forget();
        Footprint.now()
                .assertNoMoreThan(
                        before,
                        what + ", " + late + " of " + CALLS + " at their deadline, " + connections + " connections");
        assertThat(late).isPositive();
    }

    @Test
    void worksAgainWhenTheFrozenRuntimeIsReplaced() throws Exception {
        GrpcRuntime runtime = new GrpcRuntime(socket, loop);
        try (Frozen frozen = new Frozen(socket, true)) {
            hang(runtime, 1_000);
        }
        Files.delete(socket);
        try (runtime;
                FakeCri cri = new FakeCri(socket)) {
            Thread.sleep(Connections.GAP.toMillis());

            Throwable error = Until.failed(runtime.call(new RuntimeCall.GetVersion(), Duration.ofSeconds(5)));

            assertThat(((RuntimeCallException) error).code()).isEqualTo(RuntimeCallException.Code.UNIMPLEMENTED);
            assertThat(cri.requests()).isEmpty();
        }
    }

    @Test
    void oneHungContainerDoesNotBreakTheConnectionForOthers() throws Exception {
        try (FakeCri cri = new FakeCri(socket)
                        .hang(RuntimeServiceGrpc.getContainerStatusMethod())
                        .hang(RuntimeServiceGrpc.getGetContainerEventsMethod())
                        .answer(
                                RuntimeServiceGrpc.getListContainersMethod(),
                                request -> io.nodekeeper.cri.v1.ListContainersResponse.getDefaultInstance());
                GrpcRuntime runtime = new GrpcRuntime(socket, loop)) {
            var stream = runtime.events(event -> {});
            for (int i = 0; i < 3 * Connection.MISSES; i++) {
                Until.failed(runtime.call(new RuntimeCall.GetContainer("c1"), DEADLINE));
                Until.done(runtime.call(
                        new RuntimeCall.ListContainers(java.util.Optional.empty()), Duration.ofSeconds(5)));
            }

            assertThat(stream).isNotDone();
            assertThat(cri.requests()).hasSizeGreaterThan(5 * Connection.MISSES);
        }
    }

    /** Accepts connections and reads nothing; may send a handshake first, so that the client considers it alive. */
    private static final class Frozen implements AutoCloseable {
        private final ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        private final List<SocketChannel> accepted = new CopyOnWriteArrayList<>();

        Frozen(Path path, boolean hello) throws IOException {
            listening.bind(UnixDomainSocketAddress.of(path));
            Thread.ofVirtual().start(() -> accept(hello));
        }

        private void accept(boolean hello) {
            try {
                while (true) {
                    SocketChannel channel = listening.accept();
                    accepted.add(channel);
                    if (hello) {
                        // An empty SETTINGS frame of HTTP/2.
                        channel.write(ByteBuffer.wrap(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0}));
                    }
                }
            } catch (java.nio.channels.ClosedChannelException e) {
                // The test is over.
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Closes the accepted connections, so that they do not count as the client's; returns their number. */
        int forget() throws IOException {
            List<SocketChannel> all = List.copyOf(accepted);
            for (SocketChannel channel : all) {
                channel.close();
            }
            accepted.removeAll(all);
            return all.size();
        }

        @Override
        public void close() throws IOException {
            listening.close();
            forget();
        }
    }
}
