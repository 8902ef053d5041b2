package io.nodekeeper.it;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import javax.net.ssl.SSLContext;

/**
 * Sends requests at a fixed rate, whether or not earlier ones have been answered, and measures each from the time at which
 * it was due: a server that stands still makes all requests late that were due meanwhile. HTTP/1.1 over connections that are
 * kept, as the API server calls webhooks. A request that finds none free waits, and the wait counts.
 */
final class ReviewLoad implements AutoCloseable {
    /** More than are ever busy if answers take 20 ms at 2,000 a second. */
    private static final int CONNECTIONS = 64;
    /** Far longer than the second that an API server waits. */
    private static final int READ_MILLIS = 10_000;

    /**
     * What was measured.
     *
     * @param rate requests per second
     * @param took ns from the time at which each was due to its answer, in ascending order
     * @param failed requests without the answer 200; {@code took} has them, too
     * @param refused answers that refuse the write
     */
    record Result(int rate, long[] took, int failed, int refused) {
        /** The latency that {@code share} of the requests did not exceed, ms. */
        double millis(double share) {
            return took[Math.min(took.length - 1, (int) (took.length * share))] / 1e6;
        }
    }

    private final class Run {
        private final long[] took;
        private final CountDownLatch left;
        private final AtomicInteger failed = new AtomicInteger();
        private final AtomicInteger refused = new AtomicInteger();

        private Run(int count) {
            took = new long[count];
            left = new CountDownLatch(count);
        }
    }

    private record Request(Run run, int index, byte[] bytes, long due) {}

    private final SSLContext tls;
    private final int port;
    private final LinkedBlockingQueue<Request> queue = new LinkedBlockingQueue<>();
    private final List<Thread> threads = new ArrayList<>();

    /** Opens the connections to {@code port} of this machine. */
    ReviewLoad(SSLContext tls, int port) {
        this.tls = tls;
        this.port = port;
        for (int i = 0; i < CONNECTIONS; i++) {
            threads.add(Thread.ofVirtual().name("reviews-" + i).start(this::serve));
        }
    }

    /** A request with {@code body}. */
    static byte[] request(String body) {
        byte[] content = body.getBytes(StandardCharsets.UTF_8);
        byte[] head = """
                POST /validate?timeout=1s HTTP/1.1\r
                Host: guard\r
                Content-Type: application/json\r
                Content-Length: %d\r
                \r
                """.formatted(content.length).getBytes(StandardCharsets.US_ASCII);
        byte[] all = Arrays.copyOf(head, head.length + content.length);
        System.arraycopy(content, 0, all, head.length, content.length);
        return all;
    }

    /** Sends {@code rate} requests per second for {@code time}, and waits for all answers. */
    Result run(int rate, Duration time, IntFunction<byte[]> requests) throws InterruptedException {
        int count = Math.toIntExact(rate * time.toSeconds());
        Run run = new Run(count);
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long due = start + i * 1_000_000_000L / rate;
            while (System.nanoTime() < due) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
            queue.add(new Request(run, i, requests.apply(i), due));
        }
        run.left.await();
        Arrays.sort(run.took);
        return new Result(rate, run.took, run.failed.get(), run.refused.get());
    }

    private void serve() {
        while (!Thread.currentThread().isInterrupted()) {
            try (Socket socket = tls.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)) {
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(READ_MILLIS);
                InputStream in = new BufferedInputStream(socket.getInputStream());
                while (true) {
                    exchange(socket, in, queue.take());
                }
            } catch (IOException e) {
                // The next request gets another connection.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static void exchange(Socket socket, InputStream in, Request request) throws IOException {
        Run run = request.run;
        boolean answered = false;
        try {
            socket.getOutputStream().write(request.bytes);
            String head = new String(Relay.head(in), StandardCharsets.ISO_8859_1);
            String body = new String(in.readNBytes(Relay.contentLength(head)), StandardCharsets.UTF_8);
            answered = head.startsWith("HTTP/1.1 200 ");
            if (body.contains("\"allowed\":false")) {
                run.refused.incrementAndGet();
            }
        } finally {
            if (!answered) {
                run.failed.incrementAndGet();
            }
            run.took[request.index] = System.nanoTime() - request.due;
            run.left.countDown();
        }
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
    }
}
