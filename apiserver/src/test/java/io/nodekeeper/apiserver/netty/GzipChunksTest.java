package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.ResponseChunks;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compression of a large list chunk by chunk. */
class GzipChunksTest {

    /** Chunks of several parts; every third part is empty. */
    private static final class Source implements ResponseChunks {
        private final ByteArrayOutputStream all = new ByteArrayOutputStream();
        private final Random random;
        private final boolean compressible;
        private int left;

        private Source(long seed, boolean compressible, int chunks) {
            random = new Random(seed);
            this.compressible = compressible;
            left = chunks;
        }

        @Override
        public List<byte[]> next() {
            if (left == 0) {
                return List.of();
            }
            left--;
            if (left % 3 == 1) {
                return NOTHING_YET;
            }
            byte[] first = new byte[random.nextInt(SIZE)];
            byte[] second = new byte[1 + SIZE - first.length];
            if (!compressible) {
                random.nextBytes(first);
                random.nextBytes(second);
            }
            all.writeBytes(first);
            all.writeBytes(second);
            return List.of(first, second);
        }

        @Override
        public long held() {
            return 7;
        }
    }

    @ParameterizedTest
    @CsvSource({"1, true, 300", "2, false, 300", "3, true, 1", "4, false, 2", "5, true, 0"})
    void theBytesAreTheSameAndNoPieceIsLargerThanItsSource(long seed, boolean compressible, int count)
            throws IOException {
        Source source = new Source(seed, compressible, count);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GzipChunks chunks = new GzipChunks(source)) {
            // when a reader takes all chunks
            for (List<byte[]> chunk = chunks.next(); !chunk.isEmpty(); chunk = chunks.next()) {
                int bytes = chunk.stream().mapToInt(part -> part.length).sum();
                // then each is at most about as large as a plain chunk, and the held memory does not grow
                assertThat(bytes).isLessThan(2 * ResponseChunks.SIZE);
                assertThat(chunks.held()).isEqualTo(7 + (256 << 10));
                chunk.forEach(packed::writeBytes);
            }
        }
        // and together they decompress to the plain bytes
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(packed.toByteArray()))) {
            assertThat(in.readAllBytes()).isEqualTo(source.all.toByteArray());
        }
    }

    /** Counts its ends. Its use after an end throws. */
    private static final class Counted extends Deflater {
        private final AtomicInteger ends = new AtomicInteger();

        private Counted() {
            super(BEST_SPEED, true);
        }

        @Override
        public void end() {
            ends.incrementAndGet();
            super.end();
        }
    }

    @Test
    @Timeout(60)
    void closeDoesNotWaitForAChunkThatIsBeingMade() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Counted deflater = new Counted();
        GzipChunks chunks = new GzipChunks(
                new ResponseChunks() {
                    @Override
                    public List<byte[]> next() {
                        inside.countDown();
                        try {
                            released.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                        return List.of(new byte[SIZE]);
                    }

                    @Override
                    public long held() {
                        return 0;
                    }
                },
                deflater);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            // given a thread that makes a chunk, whose source hangs
            Future<List<byte[]>> made = threads.submit(chunks::next);
            inside.await();
            try {
                // when the reader gives up, then that is done at once
                threads.submit(chunks::close).get(10, TimeUnit.SECONDS);
                assertThat(deflater.ends).hasValue(0);
            } finally {
                released.countDown();
            }
            // and after the chunk nothing of the deflater is left
            made.get(10, TimeUnit.SECONDS);
            assertThat(deflater.ends).hasValue(1);
            assertThat(chunks.next()).isEmpty();
            chunks.close();
            assertThat(deflater.ends).hasValue(1);
        }
    }

    @Test
    @Timeout(60)
    void theDeflaterEndsOnceWheneverTheReaderGivesUp() throws Exception {
        Random random = new Random(6);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 1_000; i++) {
                Counted deflater = new Counted();
                GzipChunks chunks = new GzipChunks(new Source(i, true, 5), deflater);
                CountDownLatch started = new CountDownLatch(1);
                // when one thread takes all chunks, and another one closes them at any moment
                Future<?> reader = threads.submit(() -> {
                    started.countDown();
                    while (!chunks.next().isEmpty()) {
                        // The next one.
                    }
                });
                started.await();
                long until = System.nanoTime() + random.nextInt(1_000_000);
                while (System.nanoTime() < until) {
                    Thread.onSpinWait();
                }
                chunks.close();
                // then no thread uses the deflater after its end
                reader.get(10, TimeUnit.SECONDS);
                assertThat(chunks.next()).isEmpty();
                assertThat(deflater.ends).hasValue(1);
            }
        }
    }
}
